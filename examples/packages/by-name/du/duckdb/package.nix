{
  lib,
  stdenv,
  fetchFromGitHub,
  cmake,
  ninja,
  openssl,
  withHttp ? true,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "duckdb";
  version = "1.1.1";

  src = fetchFromGitHub {
    owner = "duckdb";
    repo = "duckdb";
    rev = "v${finalAttrs.version}";
  };

  nativeBuildInputs = [
    cmake
    ninja
  ];
  buildInputs = lib.optional withHttp openssl;
  extensions = [
    "json"
    "parquet"
  ]
  ++ lib.optional withHttp "httpfs";
  cmakeFlags = [
    "-DBUILD_EXTENSIONS=${lib.concatStringsSep ";" finalAttrs.extensions}"
  ];

  meta = {
    description = "Analytical SQL database in a library, reads CSV, JSON and Parquet";
    homepage = "https://duckdb.org";
    license = lib.licenses.mit;
    mainProgram = "duckdb";
    maintainers = [ lib.teams.data ];
  };
})
