# A small module system: modules declare options and define values for them; the result is one
# configuration in which every value has been checked and merged.
{ lib }:
let
  inherit (lib) concatMap mapAttrs;

  isOption = x: x._type or null == "option";
  showPath = lib.concatStringsSep ".";
  defaultPriority = 100;

  # One definition, freed of `mkIf` and `mkMerge`: a list, because a condition may drop it.
  discharge =
    def:
    let
      kind = def.value._type or null;
    in
    if kind == "if" then
      lib.optionals def.value.condition (discharge (def // { value = def.value.content; }))
    else if kind == "merge" then
      concatMap (value: discharge (def // { inherit value; })) def.value.contents
    else if kind == "override" then
      map (d: { inherit (def.value) priority; } // d) (discharge (def // { value = def.value.content; }))
    else
      [ def ];

  # The same for a whole sub-tree, without looking at the condition: it is handed down to the members,
  # since it may well depend on other options of this tree.
  spread =
    def:
    let
      kind = def.value._type or null;
      handDown = wrap: map (d: d // { value = mapAttrs (_: wrap) d.value; }) (spread (def // { value = def.value.content; }));
    in
    if kind == "if" then
      handDown (lib.mkIf def.value.condition)
    else if kind == "merge" then
      concatMap (value: spread (def // { inherit value; })) def.value.contents
    else if kind == "override" then
      handDown (lib.mkOverride def.value.priority)
    else
      [ def ];

  evalOption =
    loc: option: rawDefs:
    let
      defs = concatMap discharge rawDefs;
      priority = d: d.priority or defaultPriority;
      strongest = lib.foldl' lib.min 1000000 (map priority defs);
      used = lib.filter (d: priority d == strongest) defs;
      checked = map (
        d:
        lib.throwIfNot (option.type.check d.value)
          "the option `${showPath loc}` is not of type ${option.type.name} in ${d.file}"
          d
      ) used;
      merged =
        if used != [ ] then
          option.type.merge loc checked
        else
          option.default or (throw "the option `${showPath loc}` is used but has no value");
    in
    (option.apply or lib.id) merged;

  evalTree =
    loc: options: rawDefs:
    let
      defs = concatMap spread rawDefs;
      unknown = concatMap (
        d: map (name: "`${showPath (loc ++ [ name ])}` in ${d.file}") (lib.attrNames (removeAttrs d.value (lib.attrNames options)))
      ) defs;
      at = name: concatMap (d: lib.optional (d.value ? ${name}) (d // { value = d.value.${name}; })) defs;
    in
    lib.throwIf (unknown != [ ]) "there is no option ${lib.concatStringsSep ", " unknown}" (
      mapAttrs (
        name: option:
        (if isOption option then evalOption else evalTree) (loc ++ [ name ]) option (at name)
      ) options
    );
in
{
  mkOption = option: { type = lib.types.anything; } // option // { _type = "option"; };
  mkEnableOption =
    what:
    lib.mkOption {
      type = lib.types.bool;
      default = false;
      description = "Whether to enable ${what}.";
    };

  mkIf = condition: content: { _type = "if"; inherit condition content; };
  mkMerge = contents: { _type = "merge"; inherit contents; };
  mkOverride = priority: content: { _type = "override"; inherit priority content; };
  mkDefault = lib.mkOverride 1000;
  mkForce = lib.mkOverride 50;

  # A module is a file, a function of `{ config, options, lib, … }`, or a set. The set has `imports`,
  # `options` and `config`; without the last two it is all configuration.
  evalModules =
    {
      modules,
      specialArgs ? { },
    }:
    let
      args = specialArgs // {
        inherit lib;
        inherit (result) config options;
      };

      load =
        module:
        let
          file = if builtins.isPath module then toString module else "an inline module";
          value = lib.toFunction (if builtins.isPath module then import module else module) args;
          bare = !(value ? options || value ? config);
        in
        [
          {
            inherit file;
            options = value.options or { };
            value = if bare then removeAttrs value [ "imports" ] else value.config or { };
          }
        ]
        ++ concatMap load (value.imports or [ ]);

      loaded = concatMap load modules;

      result = {
        options = lib.foldl' lib.recursiveUpdate { } (map (m: m.options) loaded);
        config = evalTree [ ] result.options (map (m: removeAttrs m [ "options" ]) loaded);
      };
    in
    result;
}
