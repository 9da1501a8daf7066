{
  lib,
  python3Packages,
  fetchurl,
  ninja,
}:
python3Packages.buildPythonApplication rec {
  pname = "meson";
  version = "1.5.2";

  src = fetchurl { url = "mirror://pypi/m/meson/meson-${version}.tar.gz"; };
  propagatedBuildInputs = [ ninja ];

  meta = {
    description = "Fast build system with a readable language";
    homepage = "https://mesonbuild.com";
    license = lib.licenses.asl20;
    mainProgram = "meson";
    maintainers = [ lib.teams.core ];
  };
}
