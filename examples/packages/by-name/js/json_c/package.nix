{
  lib,
  stdenv,
  fetchurl,
  cmake,
}:
stdenv.mkDerivation rec {
  pname = "json-c";
  version = "0.17";

  src = fetchurl { url = "mirror://upstream/json-c/json-c-${version}.tar.gz"; };

  outputs = [
    "out"
    "dev"
  ];
  nativeBuildInputs = [ cmake ];

  meta = {
    description = "JSON implementation in C, with reference counts";
    homepage = "https://github.com/json-c/json-c/wiki";
    license = lib.licenses.mit;
    maintainers = [ lib.teams.core ];
  };
}
