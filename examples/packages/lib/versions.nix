# Versions and names with versions in them.
{ lib }:
let
  inherit (builtins) compareVersions parseDrvName splitVersion;
in
{
  inherit (builtins) compareVersions splitVersion;

  versionOlder = a: b: compareVersions a b < 0;
  versionAtLeast = a: b: compareVersions a b >= 0;

  getName = pkg: if builtins.isString pkg then (parseDrvName pkg).name else pkg.pname or (parseDrvName pkg.name).name;
  getVersion = pkg: if builtins.isString pkg then (parseDrvName pkg).version else pkg.version or (parseDrvName pkg.name).version;

  versions = rec {
    major = v: builtins.elemAt (splitVersion v) 0;
    minor = v: builtins.elemAt (splitVersion v) 1;
    majorMinor = v: "${major v}.${minor v}";
    # "3.12.4" becomes "312", as in `python312`.
    compact = v: "${major v}${minor v}";
    pad =
      n: v:
      let
        parts = splitVersion v;
        missing = lib.max 0 (n - builtins.length parts);
      in
      lib.concatStringsSep "." (lib.take n (parts ++ builtins.genList (_: "0") missing));
  };

  latest =
    vs:
    assert vs != [ ];
    lib.foldl' (best: v: if lib.versionOlder best v then v else best) (builtins.head vs) vs;
}
