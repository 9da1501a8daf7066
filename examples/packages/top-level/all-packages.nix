# Packages that need more than a file or a line: several versions of one thing, sets of packages for
# one language, and what has to be kept apart.
final: prev:
let
  inherit (prev) lib platform;
  inherit (final) callPackage;

  # One package per version, named after what of the version people need to know.
  versionsOf =
    file: prefix: nameOf: rows:
    lib.listToAttrs (
      map (args: lib.nameValuePair "${prefix}${nameOf args.version}" (callPackage file args)) rows
    );

  underscored = version: lib.replaceStrings [ "." ] [ "_" ] (lib.versions.majorMinor version);
  pythons = import ../python/versions.nix;
in
versionsOf ../python "python" lib.versions.compact pythons
// lib.listToAttrs (
  map (
    args:
    let
      name = "python${lib.versions.compact args.version}";
    in
    lib.nameValuePair "${name}Packages" (lib.dontRecurseIntoAttrs final.${name}.pkgs)
  ) pythons
)
// versionsOf ../lua "lua" underscored [
  { version = "5.1.5"; }
  { version = "5.2.4"; }
  { version = "5.3.6"; }
  { version = "5.4.7"; }
]
// versionsOf ../node/nodejs.nix "nodejs_" lib.versions.major [
  { version = "18.20.4"; }
  { version = "20.18.0"; }
  { version = "22.9.0"; }
]
// versionsOf ../postgresql "postgresql_" lib.versions.major [
  { version = "14.13"; }
  { version = "15.8"; }
  { version = "16.4"; }
  { version = "17.0"; }
]
// lib.mapAttrs' (
  major: version:
  lib.nameValuePair "llvmPackages_${major}" (
    lib.recurseIntoAttrs (callPackage ../llvm { inherit version; })
  )
) (lib.importJSON ../llvm/versions.json)
// {
  python3 = final.python312;
  python3Packages = lib.recurseIntoAttrs final.python3.pkgs;

  lua = final.lua5_4;
  postgresql = final.postgresql_16;
  postgresqlPackages = lib.recurseIntoAttrs final.postgresql.pkgs;

  llvmPackages = final.llvmPackages_18 // { recurseForDerivations = false; };
  inherit (final.llvmPackages) llvm clang;
  gcc = final.wrapCC {
    cc = final.gcc-unwrapped;
    libc = final.glibc or null;
    bintools = final.binutils;
  };
  gfortran = final.wrapCC {
    cc = final.gcc-unwrapped.override {
      langFortran = true;
      langCC = false;
    };
    libc = final.glibc or null;
    bintools = final.binutils;
  };

  perlPackages = lib.recurseIntoAttrs (callPackage ../perl { });
  haskellPackages = lib.recurseIntoAttrs (callPackage ../haskell { });
  inherit (final.haskellPackages) ghc;
  nodePackages = lib.recurseIntoAttrs (callPackage ../node { nodejs = final.nodejs_22; });
  fonts = lib.recurseIntoAttrs (callPackage ../fonts { });

  # The same package with other choices.
  curlMinimal = final.curl.override {
    http2Support = false;
    sslSupport = false;
  };
  curlFull = final.curl.override {
    zstdSupport = true;
    brotliSupport = true;
  };
  sqlite-interactive = lib.lowPrio (final.sqlite.override { interactive = true; });
  gitFull = final.git.override { withDocs = true; };
  gitMinimal = final.git.override { perlSupport = false; };
  jqMinimal = final.jq.override { onigurumaSupport = false; };

  # Helpers for the shell, written here.
  json-pretty = (
    final.writeShellScriptBin "json-pretty" ''
      exec ${lib.getExe final.jq} --sort-keys . "$@"
    ''
  ).overrideAttrs (prev: {
    version = "1.0";
    name = "json-pretty-1.0";
    meta = prev.meta // {
      description = "Prints JSON with sorted keys and indentation";
      license = lib.licenses.mit;
      maintainers = [ lib.teams.data ];
    };
  });

  # What must not be used without a decision. No walk enters this set by itself, because most of it
  # cannot be evaluated; `flake.nix` shows it under `legacyPackages`, where that is allowed.
  restricted = lib.dontRecurseIntoAttrs (callPackage ./restricted.nix { });
}
