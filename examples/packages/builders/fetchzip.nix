# An unpacked archive. `curl` and what it needs must use `fetchurl`, or they would need themselves.
{
  lib,
  stdenvNoCC,
  curl,
}:
{
  url,
  name ? "source",
  hash ? lib.madeUpHash url,
  stripRoot ? true,
}:
stdenvNoCC.mkDerivation {
  inherit name url stripRoot;
  nativeBuildInputs = [ curl ];
  phases = "fetch";
  fetchPhase = ''
    mkdir -p "$out"
    curl --fail --location "$url" | tar -xz -C "$out" ${lib.optionalString stripRoot "--strip-components=1"}
  '';
  outputHash = hash;
  outputHashAlgo = "sha256";
  outputHashMode = "recursive";
}
