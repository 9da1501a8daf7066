# The library: plain functions, no packages. Each file is a function of the whole library, tied
# together by a fix-point, so that the files may use each other in any order.
let
  fix = f: let x = f x; in x;
in
fix (
  lib:
  let
    load = file: import file { inherit lib; };
  in
  load ./trivial.nix
  // load ./lists.nix
  // load ./attrsets.nix
  // load ./strings.nix
  // load ./versions.nix
  // load ./fixed-points.nix
  // load ./customisation.nix
  // load ./meta.nix
  // load ./modules.nix
  // {
    licenses = load ./licenses.nix;
    platforms = load ./platforms.nix;
    systems = load ./systems.nix;
    teams = load ./teams.nix;
    types = load ./types.nix;
    sources = load ./sources.nix;
  }
)
