# Strings.
{ lib }:
let
  inherit (builtins)
    concatStringsSep
    replaceStrings
    stringLength
    substring
    ;
  lowers = lib.stringToCharacters "abcdefghijklmnopqrstuvwxyz";
  uppers = lib.stringToCharacters "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
in
{
  inherit (builtins)
    baseNameOf
    concatStringsSep
    dirOf
    match
    replaceStrings
    split
    stringLength
    substring
    ;

  concatStrings = concatStringsSep "";
  concatMapStrings = f: xs: concatStringsSep "" (map f xs);
  concatMapStringsSep = sep: f: xs: concatStringsSep sep (map f xs);
  optionalString = wanted: s: if wanted then s else "";

  stringToCharacters = s: builtins.genList (i: substring i 1 s) (stringLength s);
  toLower = replaceStrings uppers lowers;
  toUpper = replaceStrings lowers uppers;

  hasPrefix = prefix: s: substring 0 (stringLength prefix) s == prefix;
  hasSuffix =
    suffix: s:
    let
      start = stringLength s - stringLength suffix;
    in
    start >= 0 && substring start (-1) s == suffix;
  hasInfix = infix: s: builtins.length (builtins.split (lib.escapeRegex infix) s) > 1;
  removePrefix = prefix: s: if lib.hasPrefix prefix s then substring (stringLength prefix) (-1) s else s;
  removeSuffix =
    suffix: s:
    if lib.hasSuffix suffix s then substring 0 (stringLength s - stringLength suffix) s else s;

  escape = chars: replaceStrings chars (map (c: "\\${c}") chars);
  escapeRegex = lib.escape (lib.stringToCharacters "\\[{()^$?*+|.");
  escapeShellArg = s: "'${replaceStrings [ "'" ] [ "'\\''" ] (toString s)}'";

  splitString = sep: s: builtins.filter builtins.isString (builtins.split (lib.escapeRegex sep) s);
  lines = s: builtins.filter builtins.isString (builtins.split "\n" s);
  words = s: builtins.filter (w: builtins.isString w && w != "") (builtins.split "[[:space:]]+" s);
  trim =
    s:
    let
      found = builtins.match "[[:space:]]*(.*[^[:space:]])[[:space:]]*" s;
    in
    if found == null then "" else builtins.head found;

  makeSearchPath = dir: pkgs: lib.concatMapStringsSep ":" (pkg: "${pkg}/${dir}") pkgs;
  makeBinPath = pkgs: lib.makeSearchPath "bin" (map lib.getBin pkgs);

  # Configure flags in the usual spellings.
  enableFeature = on: name: "--${if on then "enable" else "disable"}-${name}";
  withFeature = on: name: "--${if on then "with" else "without"}-${name}";
  withFeatureAs = on: name: value: lib.withFeature on name + lib.optionalString on "=${value}";
  cmakeBool = name: on: "-D${name}:BOOL=${if on then "ON" else "OFF"}";
  mesonEnable = name: on: "-D${name}=${if on then "enabled" else "disabled"}";

  # Nothing in this set is ever downloaded. A source without a hash gets one that is made up from
  # its name: a valid hash, always the same, of nothing.
  madeUpHash = name: builtins.hashString "sha256" "made up for ${name}";
}
