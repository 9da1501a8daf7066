# Node.js of one version.
{
  lib,
  stdenv,
  fetchurl,
  python3,
  pkg-config,
  openssl,
  zlib,
  libuv,
  icu,
  version,
  enableNpm ? true,
}:
let
  major = lib.versions.major version;
  # Even numbers get support for years.
  isLongTerm = lib.mod (lib.foldl' (n: digit: n * 10 + builtins.fromJSON digit) 0 (lib.stringToCharacters major)) 2 == 0;
in
stdenv.mkDerivation {
  pname = "nodejs";
  inherit version;

  src = fetchurl { url = "https://nodejs.org/dist/v${version}/node-v${version}.tar.xz"; };

  nativeBuildInputs = [
    python3
    pkg-config
  ];
  buildInputs = [
    openssl
    zlib
    libuv
    icu
  ];
  configureFlags = [
    "--shared-openssl"
    "--shared-zlib"
    "--shared-libuv"
    "--with-intl=system-icu"
  ]
  ++ lib.optional (!enableNpm) "--without-npm";

  passthru = { inherit isLongTerm; };

  meta = {
    description = "Runtime for JavaScript outside the browser";
    homepage = "https://nodejs.org";
    license = lib.licenses.mit;
    mainProgram = "node";
    maintainers = [ lib.teams.javascript ];
  };
}
