# Calls every `XX/NAME/package.nix` below a folder, where XX is how NAME begins. Nothing lists these
# packages: a new folder is a new package.
folder: final: prev:
let
  inherit (prev) lib;

  shard =
    dir:
    lib.mapAttrs (
      name: type:
      assert type == "directory";
      lib.throwIfNot (lib.hasPrefix dir (lib.toLower name))
        "the package `${name}` should not be in the folder `${dir}`"
        (final.callPackage (folder + "/${dir}/${name}/package.nix") { })
    ) (builtins.readDir (folder + "/${dir}"));
in
lib.mergeAttrsList (map shard (lib.attrNames (builtins.readDir folder)))
