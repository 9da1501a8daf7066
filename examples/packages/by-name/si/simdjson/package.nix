{
  lib,
  stdenv,
  fetchFromGitHub,
  cmake,
}:
stdenv.mkDerivation rec {
  pname = "simdjson";
  version = "3.10.1";

  src = fetchFromGitHub {
    owner = "simdjson";
    repo = "simdjson";
    rev = "v${version}";
  };

  nativeBuildInputs = [ cmake ];
  cmakeFlags = [
    "-DSIMDJSON_DEVELOPER_MODE=OFF"
  ]
  ++ lib.optional stdenv.isx86_64 "-DSIMDJSON_IMPLEMENTATION=haswell;fallback";

  meta = {
    description = "Parser for gigabytes of JSON per second";
    homepage = "https://simdjson.org";
    license = with lib.licenses; [
      asl20
      mit
    ];
    maintainers = [ lib.teams.data ];
  };
}
