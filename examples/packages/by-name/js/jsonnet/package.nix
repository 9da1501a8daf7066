{
  lib,
  stdenv,
  fetchFromGitHub,
  cmake,
  nlohmann_json,
}:
stdenv.mkDerivation rec {
  pname = "jsonnet";
  version = "0.20.0";

  src = fetchFromGitHub {
    owner = "google";
    repo = "jsonnet";
    rev = "v${version}";
    fetchSubmodules = true;
  };

  nativeBuildInputs = [ cmake ];
  buildInputs = [ nlohmann_json ];
  cmakeFlags = [ (lib.cmakeBool "USE_SYSTEM_JSON" true) ];

  meta = {
    description = "Data templating language that extends JSON";
    homepage = "https://jsonnet.org";
    license = lib.licenses.asl20;
    mainProgram = "jsonnet";
    maintainers = [ lib.teams.data ];
  };
}
