# A checkout of one revision, with the submodules when asked.
{
  lib,
  stdenvNoCC,
  git,
}:
lib.makeOverridable (
  {
    url,
    rev,
    name ? "${lib.removeSuffix ".git" (baseNameOf url)}-${lib.substring 0 7 rev}",
    hash ? lib.madeUpHash "${url}#${rev}",
    fetchSubmodules ? false,
  }:
  stdenvNoCC.mkDerivation {
    inherit name url rev fetchSubmodules;
    nativeBuildInputs = [ git ];
    phases = "fetch";
    fetchPhase = ''
      git clone ''${fetchSubmodules:+--recurse-submodules} "$url" "$out"
      git -C "$out" checkout --quiet "$rev"
      rm -rf "$out/.git"
    '';
    outputHash = hash;
    outputHashAlgo = "sha256";
    outputHashMode = "recursive";
  }
)
