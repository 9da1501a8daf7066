# The systems this set knows.
{ lib }:
rec {
  linux = [
    "aarch64-linux"
    "x86_64-linux"
  ];
  darwin = [ "aarch64-darwin" ];
  unix = linux ++ darwin;
  all = unix;
  none = [ ];
  x86_64 = lib.filter (lib.hasPrefix "x86_64-") all;
  aarch64 = lib.filter (lib.hasPrefix "aarch64-") all;
}
