# Packages that exist on Linux only. The layer is absent elsewhere, so that no name in the set leads
# to a package that cannot be had.
final: prev:
let
  inherit (prev) lib;

  kernels = {
    linux_6_1 = { version = "6.1.112"; };
    linux_6_6 = { version = "6.6.54"; };
    linux_6_11 = { version = "6.11.2"; };
  };
in
import ./by-name.nix ../by-name-linux final prev
// lib.mapAttrs (_: args: final.callPackage ../kernel args) kernels
// lib.mapAttrs' (
  name: _: lib.nameValuePair (lib.replaceStrings [ "linux" ] [ "linuxPackages" ] name) (
    lib.recurseIntoAttrs (final.callPackage ../kernel/modules.nix { kernel = final.${name}; })
  )
) kernels
// {
  linuxPackages = final.linuxPackages_6_6;
}
