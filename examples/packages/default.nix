# The entry: gives the whole package set for one system.
#
# The packages lie directly in the set (`jq`), or in sub-sets (`python3Packages.requests`).
{
  # The system to build for and on. In pure evaluation there is no current system.
  system ? builtins.currentSystem or "x86_64-linux",
  # A module with values for the options of `top-level/config.nix`.
  config ? { },
  # Changes to the set, applied in order: functions `final: prev: { … }`.
  overlays ? [ ],
  ...
}:
let
  lib = import ./lib;

  settings = lib.evalModules {
    modules = [
      ./top-level/config.nix
      config
    ];
  };
in
import ./top-level {
  inherit lib system overlays;
  inherit (settings) config;
}
