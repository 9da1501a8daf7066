# Types of options. A type checks one definition and merges several.
{ lib }:
let
  # Several definitions are fine as long as they say the same.
  mergeEqual =
    loc: defs:
    let
      first = (builtins.head defs).value;
    in
    lib.throwIfNot (lib.all (d: d.value == first) defs)
      "the option `${lib.concatStringsSep "." loc}` has conflicting definitions, in ${
        lib.concatMapStringsSep " and " (d: d.file) defs
      }"
      first;

  type =
    name: check: merge: {
      inherit name check merge;
    };
in
rec {
  anything = type "anything" (_: true) mergeEqual;
  bool = type "boolean" builtins.isBool mergeEqual;
  int = type "integer" builtins.isInt mergeEqual;
  str = type "string" builtins.isString mergeEqual;
  lines = type "lines" builtins.isString (_: lib.concatMapStringsSep "\n" (d: d.value));
  package = type "package" lib.isDerivation mergeEqual;
  functionTo = _: type "function" lib.isFunction (_: defs: (lib.last defs).value);

  enum = values: type "one of ${lib.concatMapStringsSep ", " builtins.toJSON values}" (x: builtins.elem x values) mergeEqual;

  nullOr =
    inner:
    type "null or ${inner.name}" (x: x == null || inner.check x) (
      loc: defs: if lib.all (d: d.value == null) defs then null else inner.merge loc defs
    );

  listOf =
    inner:
    type "list of ${inner.name}" (xs: builtins.isList xs && lib.all inner.check xs) (
      _: builtins.concatMap (d: d.value)
    );

  attrsOf =
    inner:
    type "set of ${inner.name}" (set: builtins.isAttrs set && lib.all inner.check (builtins.attrValues set)) (
      loc: defs:
      builtins.zipAttrsWith (name: here: inner.merge (loc ++ [ name ]) here) (
        map (d: lib.mapAttrs (_: value: d // { inherit value; }) d.value) defs
      )
    );
}
