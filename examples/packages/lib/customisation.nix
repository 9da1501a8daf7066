# How packages are called, and how a caller changes one afterwards.
{ lib }:
let
  inherit (lib)
    attrNames
    functionArgs
    isAttrs
    isFunction
    optionalAttrs
    setFunctionArgs
    toFunction
    ;
in
{
  # Gives the result of `f` a function `override` that calls `f` again with some arguments changed.
  makeOverridable =
    f:
    let
      like = g: setFunctionArgs g (functionArgs f);
    in
    like (
      args:
      let
        result = f args;
        override = change: lib.makeOverridable f (args // toFunction change args);
      in
      if isAttrs result && !(result ? __functor) then
        result
        // {
          inherit override;
        }
        // optionalAttrs (result ? overrideAttrs) {
          overrideAttrs = change: lib.makeOverridable (like (a: (f a).overrideAttrs change)) args;
        }
      else if isFunction result then
        setFunctionArgs result (functionArgs result) // { inherit override; }
      else
        result
    );

  # Calls a package function: what it asks for comes from `auto`, what `args` says wins.
  callPackageWith =
    auto: fileOrFunction: args:
    let
      f = if isFunction fileOrFunction then fileOrFunction else import fileOrFunction;
      wanted = functionArgs f;
      given = builtins.intersectAttrs wanted auto // args;
      missing = builtins.filter (name: !wanted.${name} && !(given ? ${name})) (attrNames wanted);
      place = if isFunction fileOrFunction then "a package function" else toString fileOrFunction;
    in
    lib.throwIf (missing != [ ])
      "callPackage: ${place} needs ${lib.concatStringsSep ", " missing}, which this set does not have"
      (lib.makeOverridable f given);

  # Like `callPackageWith` for a file that gives a set of packages: each member can be overridden.
  callPackagesWith =
    auto: fileOrFunction: args:
    let
      f = if isFunction fileOrFunction then fileOrFunction else import fileOrFunction;
      all = lib.callPackageWith auto f args;
    in
    lib.mapAttrs (name: _: lib.makeOverridable (a: (f a).${name}) (builtins.intersectAttrs (functionArgs f) auto // args)) (
      removeAttrs all [ "override" ]
    );

  # A sub-set with its own `callPackage`: its members see each other before the packages of the set
  # around it, and `overrideScope` changes it like an overlay.
  makeScope =
    outerCallPackageWith: outer: recipe:
    let
      self = recipe self // {
        callPackage = outerCallPackageWith (outer // self);
        overrideScope = overlay: lib.makeScope outerCallPackageWith outer (lib.extends overlay recipe);
        packages = recipe;
      };
    in
    self;

  # Adds `extra` to a derivation and to each of its outputs. Paths can only be had when `valid`
  # evaluates to true; name and meta can be read in any case.
  extendDerivation =
    valid: extra: drv:
    let
      guard = x: assert valid; x;
      common = drv // extra // outputs // { all = map (o: outputs.${o}) drv.outputs; };
      outputs = lib.genAttrs drv.outputs (
        output:
        common
        // {
          inherit (drv.${output}) outputName;
          outputSpecified = true;
          drvPath = guard drv.${output}.drvPath;
          outPath = guard drv.${output}.outPath;
        }
      );
    in
    common
    // {
      drvPath = guard drv.drvPath;
      outPath = guard drv.outPath;
    };
}
