# Calls a flake that has no inputs. `dir` is its folder, `flake` the set in its flake.nix.
dir: flake:
let
  sourceInfo = {
    outPath = builtins.path {
      path = dir;
      name = "source";
      filter = path: type: baseNameOf path != ".git";
    };
  };
  outputs = flake.outputs { inherit self; };
  self = outputs // sourceInfo // {
    inherit outputs sourceInfo;
    inputs = { };
    _type = "flake";
  };
in
if builtins.isAttrs outputs then self else throw "the outputs of a flake must be a set"
