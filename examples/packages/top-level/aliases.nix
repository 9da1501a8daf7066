# Old names of packages. Packages that are gone are in `restricted.removed`.
final: prev:
let
  inherit (prev) lib;

  renamed = {
    ag = "silver-searcher";
    fd-find = "fd";
    json-c = "json_c";
    nodejs = "nodejs_22";
    pkgconfig = "pkg-config";
    pythonPackages = "python3Packages";
    rg = "ripgrep";
    yq = "yq-go";
  };

  # A set under its old name is not entered: a walk would list its packages twice.
  target = new: if final.${new} ? recurseForDerivations then lib.dontRecurseIntoAttrs final.${new} else final.${new};

  # A name may be taken again later; then the alias goes, and this says so.
  check = old: lib.throwIf (prev ? ${old}) "the alias `${old}` hides a package of that name" old;
in
lib.mapAttrs' (old: new: lib.nameValuePair (check old) (target new)) renamed
