{
  haskellPackages,
  symlinkJoin,
  lib,
}:
symlinkJoin {
  name = "pandoc-${haskellPackages.pandoc.version}";
  paths = [ haskellPackages.pandoc ];
  passthru = { inherit (haskellPackages.pandoc) src; };
  meta = haskellPackages.pandoc.meta // {
    description = "Converter between markup formats";
    mainProgram = "pandoc";
  };
}
