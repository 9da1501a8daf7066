{
  lib,
  stdenv,
  fetchFromGitHub,
  cmake,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "nlohmann_json";
  version = "3.11.3";

  src = fetchFromGitHub {
    owner = "nlohmann";
    repo = "json";
    rev = "v${finalAttrs.version}";
  };

  nativeBuildInputs = [ cmake ];
  cmakeFlags = [
    (lib.cmakeBool "JSON_BuildTests" finalAttrs.doCheck)
    (lib.cmakeBool "JSON_MultipleHeaders" true)
  ];
  doCheck = false;

  # Only headers: nothing refers to anything.
  postInstall = "rm -rf $out/lib64";

  meta = {
    description = "JSON for modern C++, as headers";
    homepage = "https://json.nlohmann.me";
    license = lib.licenses.mit;
    maintainers = [ lib.teams.core ];
    platforms = lib.platforms.all;
  };
})
