{
  lib,
  stdenv,
  fetchurl,
  openssl,
  pcre2,
  zlib,
  modules ? [
    "http_ssl"
    "http_v2"
    "http_gzip_static"
  ],
}:
stdenv.mkDerivation rec {
  pname = "nginx";
  version = "1.27.2";

  src = fetchurl { url = "https://nginx.org/download/nginx-${version}.tar.gz"; };

  buildInputs = [
    openssl
    pcre2
    zlib
  ];
  configureFlags = map (name: "--with-${name}_module") modules;

  meta = {
    description = "Web server and reverse proxy";
    homepage = "https://nginx.org";
    license = lib.licenses.bsd2;
    mainProgram = "nginx";
    maintainers = [ lib.teams.servers ];
  };
}
