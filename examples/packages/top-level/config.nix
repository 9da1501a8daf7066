# The options of the package set.
{ config, lib, ... }:
let
  inherit (lib) mkOption types;
in
{
  options = {
    allowUnfree = lib.mkEnableOption "packages under a license that is not free";

    allowUnfreePackages = mkOption {
      type = types.listOf types.str;
      default = [ ];
      description = "Names of packages that may be unfree all the same.";
    };

    allowBroken = lib.mkEnableOption "packages that are marked as broken";

    allowUnsupportedSystem = lib.mkEnableOption "packages for other systems than this one";

    permittedInsecurePackages = mkOption {
      type = types.listOf types.str;
      default = [ ];
      example = [ "openssl-1.1.1w" ];
      description = "Names, with version, of packages that may have known vulnerabilities.";
    };

    allowAliases = mkOption {
      type = types.bool;
      default = true;
      description = "Whether the old names of renamed packages exist.";
    };

    checkMeta = mkOption {
      type = types.bool;
      default = config.strict;
      description = "Whether to check the fields of every `meta`.";
    };

    strict = lib.mkEnableOption "every check there is";

    mirrors = mkOption {
      type = types.attrsOf types.str;
      description = "What `mirror://NAME/` stands for in the address of a source.";
    };
  };

  config = lib.mkMerge [
    {
      mirrors = {
        cpan = "https://cpan.metacpan.org/authors/id/";
        gnu = "https://ftpmirror.gnu.org/";
        hackage = "https://hackage.haskell.org/package/";
        npm = "https://registry.npmjs.org/";
        pypi = "https://files.pythonhosted.org/packages/source/";
        # A stand-in for the many places where tarballs lie.
        upstream = "https://sources.example.org/";
      };
    }
    (lib.mkIf config.strict { allowAliases = lib.mkDefault false; })
  ];
}
