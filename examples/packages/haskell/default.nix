# Haskell packages: a table as a tool would generate it, and a file of corrections by hand.
{
  lib,
  stdenv,
  fetchurl,
  makeScope,
  pkgs,
}:
let
  ghc = stdenv.mkDerivation rec {
    pname = "ghc";
    version = "9.8.2";
    src = fetchurl { url = "https://downloads.haskell.org/ghc/${version}/ghc-${version}-src.tar.xz"; };
    nativeBuildInputs = [
      pkgs.perl
      pkgs.python3
    ];
    buildInputs = [
      pkgs.gmp
      pkgs.ncurses
      pkgs.libffi
    ];
    passthru.isHaskellCompiler = true;
    meta = {
      description = "Glasgow Haskell Compiler";
      homepage = "https://www.haskell.org/ghc/";
      license = lib.licenses.bsd3;
      mainProgram = "ghc";
      maintainers = [ lib.teams.haskell ];
    };
  };

  # What comes with the compiler is no package of its own.
  core = lib.genAttrs [
    "base"
    "bytestring"
    "containers"
    "deepseq"
    "directory"
    "filepath"
    "mtl"
    "process"
    "stm"
    "template-haskell"
    "text"
    "time"
    "transformers"
  ] (_: null);

  builder =
    {
      pname,
      version,
      description,
      license,
      libraryHaskellDepends ? [ ],
      librarySystemDepends ? [ ],
      isExecutable ? false,
      doCheck ? true,
      configureFlags ? [ ],
    }:
    stdenv.mkDerivation {
      inherit pname version doCheck configureFlags;
      src = fetchurl { url = "mirror://hackage/${pname}-${version}/${pname}-${version}.tar.gz"; };
      nativeBuildInputs = [ ghc ];
      buildInputs = librarySystemDepends;
      propagatedBuildInputs = libraryHaskellDepends;
      configurePhase = ''
        ghc --make Setup
        ./Setup configure --prefix="$out" $configureFlags
      '';
      buildPhase = "./Setup build";
      installPhase = "./Setup install";
      passthru = { inherit isExecutable; };
      meta = {
        inherit description;
        license = lib.licenses.${license};
        homepage = "https://hackage.haskell.org/package/${pname}";
        maintainers = [ lib.teams.haskell ];
      };
    };

  # Each row becomes a function that `override` can call again, as if written by hand.
  fromTable =
    self: pname: row:
    lib.makeOverridable builder {
      inherit pname;
      inherit (row) version description license;
      isExecutable = row.executable or false;
      libraryHaskellDepends = map (name: self.${name}) (row.needs or [ ]);
    };

  generated = self: core // { inherit ghc; } // lib.mapAttrs (fromTable self) (lib.importJSON ./packages.json);
in
removeAttrs (lib.fix (lib.extends (import ./corrections.nix { inherit lib pkgs; }) generated)) (
  lib.attrNames core
)
