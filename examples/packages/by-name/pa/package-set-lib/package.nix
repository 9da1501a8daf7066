# The library of this very set, as files: a source that lies on the disk instead of the network.
{ lib, stdenvNoCC }:
stdenvNoCC.mkDerivation {
  pname = "package-set-lib";
  version = "0.1";

  src = lib.sources.filesBySuffix ../../../lib [ ".nix" ];

  dontConfigure = true;
  dontBuild = true;
  installPhase = ''
    mkdir -p "$out"
    cp -r . "$out/lib"
  '';

  meta = {
    description = "Library of functions that this package set is written with";
    license = lib.licenses.mit;
    maintainers = [ lib.teams.core ];
  };
}
