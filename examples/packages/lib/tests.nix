# Checks of the library. Evaluates to the list of failed cases, which should be empty:
#
#     nix-instantiate --eval --strict lib/tests.nix
let
  lib = import ./.;
  system = lib.systems.elaborate;

  sample = lib.evalModules {
    modules = [
      (
        { config, ... }:
        {
          options = {
            enable = lib.mkEnableOption "the sample";
            port = lib.mkOption { type = lib.types.int; default = 80; };
            paths = lib.mkOption { type = lib.types.listOf lib.types.str; default = [ ]; };
            env.vars = lib.mkOption { type = lib.types.attrsOf lib.types.str; default = { }; };
          };
          config = lib.mkMerge [
            { paths = [ "a" ]; }
            (lib.mkIf config.enable { env.vars.PORT = toString config.port; })
          ];
        }
      )
      { enable = lib.mkDefault true; paths = [ "b" ]; }
      { port = lib.mkForce 443; }
      { port = 8080; }
    ];
  };

  fails = x: !(builtins.tryEval (builtins.deepSeq x x)).success;

  cases = {
    fix = { is = (lib.fix (self: { a = 1; b = self.a + 1; })).b; want = 2; };
    extends = {
      is = lib.fix (lib.extends (final: prev: { a = prev.a + 10; }) (self: { a = 1; b = self.a; }));
      want = { a = 11; b = 11; };
    };
    composeMany = {
      is = lib.composeManyExtensions [ (_: p: { n = p.n + 1; }) (_: p: { n = p.n * 10; }) ] { } { n = 1; };
      want = { n = 20; };
    };
    extensible = {
      is = ((lib.makeExtensible (self: { x = "old"; y = self.x; })).extend (_: _: { x = "new"; })).y;
      want = "new";
    };
    override = {
      is = ((lib.makeOverridable ({ a, b ? 2 }: { sum = a + b; }) { a = 1; }).override { b = 5; }).sum;
      want = 6;
    };
    overrideOld = {
      is = ((lib.makeOverridable ({ a }: { inherit a; }) { a = 1; }).override (old: { a = old.a + 1; })).a;
      want = 2;
    };
    callPackage = {
      is = removeAttrs (lib.callPackageWith { a = 1; c = 3; } ({ a, b ? 2 }: { inherit a b; }) { }) [ "override" ];
      want = { a = 1; b = 2; };
    };
    callPackageMissing = { is = fails (lib.callPackageWith { } ({ nothere }: nothere) { }); want = true; };
    foldr = { is = lib.foldr (x: acc: [ x ] ++ acc) [ ] [ 1 2 3 ]; want = [ 1 2 3 ]; };
    takeDrop = { is = [ (lib.take 2 [ 1 2 3 ]) (lib.drop 2 [ 1 2 3 ]) (lib.take 9 [ 1 ]) ]; want = [ [ 1 2 ] [ 3 ] [ 1 ] ]; };
    reverse = { is = lib.reverseList (lib.range 1 4); want = [ 4 3 2 1 ]; };
    unique = { is = lib.unique [ 1 2 1 3 2 ]; want = [ 1 2 3 ]; };
    mapAttrs' = { is = lib.mapAttrs' (n: v: lib.nameValuePair "x-${n}" (v + 1)) { a = 1; }; want = { x-a = 2; }; };
    recursiveUpdate = { is = lib.recursiveUpdate { a.b = 1; a.c = 2; } { a.c = 3; }; want = { a = { b = 1; c = 3; }; }; };
    split = { is = lib.splitString "." "a.b..c"; want = [ "a" "b" "" "c" ]; };
    trim = { is = map lib.trim [ "  a b " "" " " ]; want = [ "a b" "" "" ]; };
    suffix = { is = [ (lib.removeSuffix ".nix" "a.nix") (lib.hasSuffix "abc" "bc") (lib.hasInfix "." "ab") ]; want = [ "a" false false ]; };
    upper = { is = lib.toUpper "json"; want = "JSON"; };
    shellArg = { is = lib.escapeShellArg "it's"; want = "'it'\\''s'"; };
    pad = { is = lib.versions.pad 3 "1.2"; want = "1.2.0"; };
    latest = { is = lib.latest [ "1.9" "1.10" "1.2" ]; want = "1.10"; };
    compact = { is = lib.versions.compact "3.12.4"; want = "312"; };
    system = { is = (system "aarch64-darwin").config; want = "aarch64-apple-darwin"; };
    unknownSystem = { is = fails (system "pdp11-unix"); want = true; };
    modules = { is = sample.config; want = { enable = true; port = 443; paths = [ "a" "b" ]; env.vars.PORT = "443"; }; };
    unknownOption = { is = fails (lib.evalModules { modules = [ { a = 1; } ]; }).config; want = true; };
    wrongType = {
      is = fails (lib.evalModules { modules = [ { options.a = lib.mkOption { type = lib.types.int; }; config.a = "x"; } ]; }).config;
      want = true;
    };
  };
in
lib.attrNames (lib.filterAttrs (_: case: case.is != case.want) cases)
