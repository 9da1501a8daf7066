# One package set: the layers, from the plainest to what the user adds.
{
  lib,
  config,
  platform,
  overlays,
}:
{
  # The stage's name, its standard environment, and what it takes over from the stage before.
  name,
  stdenv,
  takeOver ? _: { },
}:
let
  base = pkgs: {
    inherit lib config pkgs stdenv platform;
    stage = name;
    callPackage = lib.callPackageWith pkgs;
    callPackages = lib.callPackagesWith pkgs;
    makeScope = lib.makeScope lib.callPackageWith pkgs;
  };

  layers = [
    (import ../builders)
    (import ./by-name.nix ../by-name)
    (import ./tables.nix)
    (import ./all-packages.nix)
    (if platform.isLinux then import ./linux-only.nix else _: _: { })
    (if config.allowAliases then import ./aliases.nix else _: _: { })
    (final: _: takeOver final)
  ]
  ++ overlays;
in
lib.fix (lib.foldl' (below: layer: lib.extends layer below) base layers)
