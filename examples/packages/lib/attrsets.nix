# Attribute sets.
{ lib }:
let
  inherit (builtins) attrNames listToAttrs;
in
{
  inherit (builtins)
    attrNames
    attrValues
    catAttrs
    getAttr
    hasAttr
    intersectAttrs
    isAttrs
    listToAttrs
    mapAttrs
    removeAttrs
    zipAttrsWith
    ;

  nameValuePair = name: value: { inherit name value; };

  optionalAttrs = wanted: set: if wanted then set else { };

  genAttrs = names: f: listToAttrs (map (name: lib.nameValuePair name (f name)) names);

  mapAttrs' = f: set: listToAttrs (map (name: f name set.${name}) (attrNames set));
  mapAttrsToList = f: set: map (name: f name set.${name}) (attrNames set);
  concatMapAttrs = f: set: lib.mergeAttrsList (lib.mapAttrsToList f set);
  mergeAttrsList = builtins.foldl' (a: b: a // b) { };

  filterAttrs = pred: set: removeAttrs set (builtins.filter (name: !pred name set.${name}) (attrNames set));

  attrByPath =
    path: default: set:
    if path == [ ] then
      set
    else if set ? ${builtins.head path} then
      lib.attrByPath (builtins.tail path) default set.${builtins.head path}
    else
      default;

  setAttrByPath = path: value: lib.foldr (name: inner: { ${name} = inner; }) value path;

  # Merges two sets; where both have a set (and it is no derivation) goes on inside.
  recursiveUpdate =
    a: b:
    a
    // builtins.mapAttrs (
      name: new:
      let
        old = a.${name};
        inner = s: builtins.isAttrs s && !lib.isDerivation s;
      in
      if a ? ${name} && inner old && inner new then lib.recursiveUpdate old new else new
    ) b;

  isDerivation = x: x.type or null == "derivation";

  # Marks a set of packages as one that walkers of the tree should enter, or not.
  recurseIntoAttrs = set: set // { recurseForDerivations = true; };
  dontRecurseIntoAttrs = set: set // { recurseForDerivations = false; };

  # The wanted output of a package; a package that already is one output stays as it is.
  getOutput = output: pkg: if pkg.outputSpecified or false then pkg else pkg.${output} or pkg.out or pkg;
  getDev = lib.getOutput "dev";
  getLib = lib.getOutput "lib";
  getBin = lib.getOutput "bin";
  getExe = pkg: "${lib.getBin pkg}/bin/${pkg.meta.mainProgram or (lib.getName pkg)}";
}
