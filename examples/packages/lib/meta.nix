# What packages say about themselves.
{ lib }:
{
  addMeta = extra: pkg: pkg // { meta = pkg.meta or { } // extra; };
  setPrio = priority: lib.addMeta { inherit priority; };
  lowPrio = lib.setPrio 10;
  hiPrio = lib.setPrio (-10);

  licensesOf = pkg: lib.toList (pkg.meta.license or [ ]);
  isFree = pkg: lib.all (license: license.free or true) (lib.licensesOf pkg);

  availableOn = platform: pkg: builtins.elem platform.system (pkg.meta.platforms or lib.platforms.all);
}
