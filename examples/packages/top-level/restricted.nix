# Packages that refuse to be evaluated, each for a reason of its own.
{
  lib,
  stdenv,
  fetchurl,
  platform,
  config,
}:
let
  package =
    pname: version: description: meta:
    stdenv.mkDerivation {
      inherit pname version;
      src = fetchurl { url = "mirror://upstream/${pname}/${pname}-${version}.tar.gz"; };
      meta = {
        inherit description;
        license = lib.licenses.free;
        maintainers = [ lib.teams.core ];
      }
      // meta;
    };

  unfree = pname: version: description: package pname version description { license = lib.licenses.unfree; };

  foreign = lib.subtractLists [ platform.system ] lib.platforms.all;
in
{
  # Name and meta can be read, paths cannot: the license is not free.
  steam = unfree "steam" "1.0.0.81" "Store and launcher for games";
  unrar = package "unrar" "7.0.9" "Unpacks RAR archives" { license = lib.licenses.unfreeRedistributable; };
  json-studio = unfree "json-studio" "3.1" "Commercial editor for JSON documents (an invented example)";

  # They do not build.
  parallel-json = package "parallel-json" "0.3" "Parser for JSON that gave up (an invented example)" { broken = true; };
  quux = package "quux" "2.0" "Example of a package that is broken under one system" {
    broken = stdenv.isLinux;
  };

  # They build, and should not be used.
  openssl_1_1 = package "openssl" "1.1.1w" "Cryptographic library, in a version without support" {
    knownVulnerabilities = [ "it has reached the end of its life" ];
  };
  python2 = package "python" "2.7.18" "Python programming language, in a version without support" {
    knownVulnerabilities = [
      "it has reached the end of its life"
      "nobody mends what is found in it"
    ];
  };

  # It exists, for other systems than this one.
  elsewhere = package "elsewhere" "1.0" "Example of a package for every system but this one" {
    platforms = foreign;
  };

  # Its assumptions do not hold.
  assumption =
    assert stdenv.isLinux && stdenv.isDarwin;
    package "assumption" "1.0" "Example of a package that needs two kernels at once" { };

  # What it needs is not there.
  unfinished = lib.callPackageWith { inherit lib stdenv; } (
    {
      lib,
      stdenv,
      flux-capacitor,
    }:
    stdenv.mkDerivation {
      name = "unfinished-0.1";
      buildInputs = [ flux-capacitor ];
      meta.description = "Example of a package that asks for what nobody has";
    }
  ) { };

  # Gone, with a word on what to use.
  removed = lib.recurseIntoAttrs (
    lib.mapAttrs (name: advice: throw "`${name}` was removed: ${advice}") {
      exa = "use `eza`, which goes on with it";
      neofetch = "use `fastfetch`";
      youtube-dl = "use `yt-dlp`";
    }
  );
}
