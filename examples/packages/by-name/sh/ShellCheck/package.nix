{ haskellPackages, lib }:
lib.addMeta { mainProgram = "shellcheck"; } haskellPackages.ShellCheck
