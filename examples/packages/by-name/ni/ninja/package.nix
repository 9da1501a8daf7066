{
  lib,
  stdenv,
  fetchurl,
  python3,
}:
stdenv.mkDerivation rec {
  pname = "ninja";
  version = "1.12.1";

  src = fetchurl { url = "mirror://upstream/ninja/ninja-${version}.tar.gz"; };

  nativeBuildInputs = [ python3 ];
  buildPhase = "python3 configure.py --bootstrap";
  installPhase = ''install -D -t "$out/bin" ninja'';

  meta = {
    description = "Small build system with a focus on speed";
    homepage = "https://ninja-build.org";
    license = lib.licenses.asl20;
    mainProgram = "ninja";
    maintainers = [ lib.teams.core ];
  };
}
