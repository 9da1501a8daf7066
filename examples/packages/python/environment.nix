# An interpreter together with packages and all that these need.
{
  lib,
  symlinkJoin,
  python,
  packages,
}:
let
  key = pkg: {
    key = builtins.unsafeDiscardStringContext pkg.drvPath;
    inherit pkg;
  };
  closure = builtins.genericClosure {
    startSet = map key packages;
    operator = item: map key (item.pkg.requiredPythonModules or [ ]);
  };
in
symlinkJoin {
  name = "${python.name}-env";
  paths = [ python ] ++ map (item: item.pkg) closure;
  meta = python.meta // {
    description = "${python.meta.description}, with ${toString (lib.length packages)} chosen packages";
  };
}
