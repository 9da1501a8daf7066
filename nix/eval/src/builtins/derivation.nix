# The function `derivation`: a lazy view of `derivationStrict`, which computes the store paths
# once any of them is needed.
attrs@{ outputs ? [ "out" ], ... }:
let
  strict = derivationStrict attrs;
  common = attrs // builtins.listToAttrs (map named outputs) // {
    all = map (output: (named output).value) outputs;
    drvAttrs = attrs;
  };
  named = output: {
    name = output;
    value = common // {
      outPath = builtins.getAttr output strict;
      drvPath = strict.drvPath;
      type = "derivation";
      outputName = output;
    };
  };
in
(named (builtins.head outputs)).value
