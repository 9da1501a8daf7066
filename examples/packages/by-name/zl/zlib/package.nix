{
  lib,
  stdenv,
  fetchurl,
  shared ? true,
}:
stdenv.mkDerivation rec {
  pname = "zlib";
  version = "1.3.1";

  src = fetchurl { url = "mirror://upstream/zlib/zlib-${version}.tar.gz"; };

  outputs = [
    "out"
    "dev"
  ];
  configureFlags = lib.optional (!shared) "--static";

  meta = {
    description = "Lossless data compression library";
    homepage = "https://zlib.net";
    license = lib.licenses.zlib;
    maintainers = [ lib.teams.core ];
  };
}
