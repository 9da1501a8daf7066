# `mkDerivation`: from what a package says to a derivation.
#
# The argument is a set, or a function from the final set to a set, so that one attribute can be
# computed from another and still follow when `overrideAttrs` changes it.
{
  lib,
  config,
  stdenv,
}:
let
  inherit (lib) isFunction optionalAttrs;
  checkMeta = import ./check-meta.nix { inherit lib config stdenv; };

  # Inputs come in these kinds; of each input the build sees the output with the headers.
  inputKinds = [
    "buildInputs"
    "nativeBuildInputs"
    "propagatedBuildInputs"
    "propagatedNativeBuildInputs"
    "checkInputs"
    "nativeCheckInputs"
  ];

  # `overrideAttrs` takes a set, `prev: { … }` or `final: prev: { … }`.
  toChange =
    change: final: prev:
    let
      one = if isFunction change then change prev else change;
    in
    if isFunction one then change final prev else one;

  mkDerivation =
    given:
    let
      recipe = if isFunction given then given else _: given;
      attrs = recipe (attrs // { finalPackage = package; });

      name = attrs.name or "${attrs.pname}-${attrs.version}";
      outputs = attrs.outputs or [ "out" ];
      position = builtins.unsafeGetAttrPos "description" (attrs.meta or { });

      meta = {
        inherit name;
        platforms = lib.platforms.all;
        outputsToInstall = lib.filter (o: lib.elem o [ "bin" "out" "man" ]) outputs;
      }
      // optionalAttrs (position != null) {
        position = "${position.file}:${toString position.line}";
      }
      // attrs.meta or { };

      check = checkMeta { inherit attrs meta name; };

      inputs = lib.genAttrs (lib.filter (kind: attrs ? ${kind}) inputKinds) (
        kind: map lib.getDev (lib.filter (x: x != null) (lib.flatten attrs.${kind}))
      );

      package = lib.extendDerivation check.valid (
        {
          inherit meta;
          overrideAttrs = change: mkDerivation (lib.extends (toChange change) recipe);
        }
        // attrs.passthru or { }
      ) (derivation drvAttrs);

      # What the derivation itself gets: everything but what is only for people or for Nix code.
      drvAttrs =
        removeAttrs attrs [
          "meta"
          "passthru"
          "finalPackage"
        ]
        // inputs
        // {
          inherit name outputs stdenv;
          inherit (stdenv.platform) system;
          builder = attrs.realBuilder or stdenv.shell;
          args =
            attrs.args or [
              "-e"
              (attrs.builder or ./builder.sh)
            ];
          strictDeps = attrs.strictDeps or true;
          configureFlags = attrs.configureFlags or [ ];
          doCheck = attrs.doCheck or false;
        };
    in
    package
    // {
      meta = meta // {
        inherit (check) available broken unfree insecure unsupported;
      };
    };
in
mkDerivation
