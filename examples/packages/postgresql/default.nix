# PostgreSQL of one version, with its extensions as `pkgs`.
{
  lib,
  stdenv,
  fetchurl,
  fetchFromGitHub,
  makeScope,
  openssl,
  readline,
  zlib,
  icu,
  lz4,
  zstd,
  systemd ? null,
  version,
}:
let
  major = lib.versions.major version;
  withZstd = lib.versionAtLeast version "15";
in
stdenv.mkDerivation (finalAttrs: {
  pname = "postgresql";
  inherit version;

  src = fetchurl {
    url = "https://ftp.postgresql.org/pub/source/v${version}/postgresql-${version}.tar.bz2";
  };

  outputs = [
    "out"
    "lib"
    "man"
  ];
  buildInputs = [
    openssl
    readline
    zlib
    icu
    lz4
  ]
  ++ lib.optional withZstd zstd
  ++ lib.optional (systemd != null) systemd;
  configureFlags = [
    "--with-openssl"
    "--with-icu"
    "--with-lz4"
    (lib.withFeature withZstd "zstd")
    (lib.withFeature (systemd != null) "systemd")
  ];

  passthru = {
    psqlSchema = major;
    pkgs =
      let
        extension =
          pname:
          {
            version,
            owner,
            description,
            since ? "14",
          }:
          stdenv.mkDerivation {
            inherit pname version;
            name = "postgresql${major}-${pname}-${version}";
            src = fetchFromGitHub {
              inherit owner;
              repo = pname;
              rev = "v${version}";
            };
            buildInputs = [ finalAttrs.finalPackage ];
            meta = {
              inherit description;
              license = lib.licenses.postgresql;
              maintainers = [ lib.teams.data ];
              broken = lib.versionOlder major since;
            };
          };
      in
      lib.mapAttrs extension (lib.importTOML ./extensions.toml);
  };

  meta = {
    description = "Relational database, with JSON as a column type";
    homepage = "https://www.postgresql.org";
    license = lib.licenses.postgresql;
    mainProgram = "psql";
    maintainers = [ lib.teams.data ];
  };
})
