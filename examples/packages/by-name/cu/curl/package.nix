{
  lib,
  stdenv,
  fetchurl,
  pkg-config,
  openssl,
  zlib,
  nghttp2,
  zstd,
  brotli,
  sslSupport ? true,
  http2Support ? true,
  zstdSupport ? false,
  brotliSupport ? false,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "curl";
  version = "8.10.1";

  # Not fetchzip: that would need this very package.
  src = fetchurl { url = "mirror://upstream/curl/curl-${finalAttrs.version}.tar.xz"; };

  outputs = [
    "bin"
    "dev"
    "out"
    "man"
  ];
  nativeBuildInputs = [ pkg-config ];
  propagatedBuildInputs = [
    zlib
  ]
  ++ lib.optional sslSupport openssl
  ++ lib.optional http2Support nghttp2
  ++ lib.optional zstdSupport zstd
  ++ lib.optional brotliSupport brotli;

  configureFlags = [
    (lib.withFeatureAs sslSupport "openssl" openssl)
    (lib.withFeature http2Support "nghttp2")
    (lib.withFeature zstdSupport "zstd")
    (lib.withFeature brotliSupport "brotli")
  ];

  meta = {
    description = "Command-line tool and library for transferring files with URLs";
    homepage = "https://curl.se";
    license = lib.licenses.curl;
    mainProgram = "curl";
    maintainers = [ lib.teams.core ];
  };
})
