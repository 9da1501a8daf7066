# One file by its address. Needs no package, so that the first stages can use it.
{ lib, config }:
let
  # `mirror://gnu/hello.tar.gz` becomes an address below the mirror `gnu`.
  resolve =
    url:
    let
      parts = builtins.match "mirror://([a-z]+)/(.*)" url;
      mirror = lib.elemAt parts 0;
    in
    if parts == null then
      url
    else
      (config.mirrors.${mirror} or (throw "fetchurl: there is no mirror `${mirror}`")) + lib.elemAt parts 1;
in
{
  url,
  name ? baseNameOf url,
  hash ? lib.madeUpHash name,
  executable ? false,
  unpack ? false,
}:
derivation {
  inherit name executable unpack;
  url = resolve url;
  builder = "builtin:fetchurl";
  system = "builtin";
  outputHash = hash;
  outputHashAlgo = "sha256";
  outputHashMode = if executable || unpack then "recursive" else "flat";
  preferLocalBuild = true;
  # Addresses reach the build through the proxy of whoever builds.
  impureEnvVars = [
    "http_proxy"
    "https_proxy"
  ];
}
// {
  inherit url;
}
