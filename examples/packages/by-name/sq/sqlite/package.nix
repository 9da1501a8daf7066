{
  lib,
  stdenv,
  fetchurl,
  zlib,
  readline,
  ncurses,
  interactive ? false,
}:
let
  # 3.46.1 is published as 3460100.
  archiveVersion =
    version:
    let
      pad = part: if lib.stringLength part == 1 then "0${part}" else part;
      parts = lib.splitVersion (lib.versions.pad 4 version);
    in
    lib.head parts + lib.concatMapStrings pad (lib.tail parts);
in
stdenv.mkDerivation (finalAttrs: {
  pname = "sqlite";
  version = "3.46.1";

  src = fetchurl {
    url = "https://sqlite.org/2024/sqlite-autoconf-${archiveVersion finalAttrs.version}.tar.gz";
  };

  outputs = [
    "bin"
    "dev"
    "out"
  ];
  buildInputs = [
    zlib
  ]
  ++ lib.optionals interactive [
    readline
    ncurses
  ];
  NIX_CFLAGS_COMPILE = toString [
    "-DSQLITE_ENABLE_FTS5"
    "-DSQLITE_ENABLE_MATH_FUNCTIONS"
    "-DSQLITE_ENABLE_COLUMN_METADATA"
  ];

  meta = {
    description = "Self-contained SQL database engine, with JSON functions";
    homepage = "https://sqlite.org";
    license = lib.licenses.publicDomain;
    mainProgram = "sqlite3";
    maintainers = [ lib.teams.data ];
  };
})
