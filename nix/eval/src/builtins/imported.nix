# What importing a `.drv` file gives: the derivation that it describes, as a set.
{ drvPath, name, outputs, paths }:
let
  common = builtins.listToAttrs all // {
    inherit drvPath name;
    all = map (output: output.value) all;
    type = "derivation";
  };
  named = outputName: {
    name = outputName;
    value = common // {
      inherit outputName;
      outPath = builtins.getAttr outputName paths;
    };
  };
  all = map named outputs;
in
(builtins.head all).value
