# Perl modules. The table is a Nix file, so a module may say what it needs by name.
{
  lib,
  stdenv,
  fetchurl,
  makeScope,
  perl,
}:
let
  buildPerlPackage =
    {
      pname,
      version,
      buildInputs ? [ ],
      meta ? { },
      ...
    }@args:
    stdenv.mkDerivation (
      args
      // {
        name = args.name or "perl${perl.version}-${pname}-${version}";
        nativeBuildInputs = [ perl ];
        propagatedBuildInputs = args.propagatedBuildInputs or [ ] ++ buildInputs;
        buildInputs = [ ];
        configurePhase = args.configurePhase or ''perl Makefile.PL PREFIX="$out"'';
        meta = {
          license = with lib.licenses; [
            artistic1
            gpl1Plus
          ];
          homepage = "https://metacpan.org/dist/${pname}";
          maintainers = [ lib.teams.perl ];
        }
        // meta;
      }
    );

  module =
    pname:
    {
      version,
      by,
      description,
      needs ? [ ],
      ...
    }@row:
    let
      author = "${lib.substring 0 1 by}/${lib.substring 0 2 by}/${by}";
    in
    buildPerlPackage {
      pname = lib.replaceStrings [ "::" ] [ "-" ] pname;
      inherit version;
      src = fetchurl { url = "mirror://cpan/${author}/${pname}-${version}.tar.gz"; };
      propagatedBuildInputs = needs;
      meta = { inherit description; } // lib.optionalAttrs (row ? license) { inherit (row) license; };
    };
in
lib.fix (
  self:
  {
    inherit buildPerlPackage;
  }
  // lib.mapAttrs' (
    pname: row: lib.nameValuePair (lib.replaceStrings [ "-" ] [ "" ] pname) (module pname row)
  ) (import ./modules.nix { inherit self lib; })
)
