{
  lib,
  stdenv,
  fetchurl,
  perl,
  platform,
  static ? false,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "openssl";
  version = "3.3.2";

  src = fetchurl { url = "mirror://upstream/openssl/openssl-${finalAttrs.version}.tar.gz"; };

  outputs = [
    "bin"
    "dev"
    "out"
    "man"
  ];
  nativeBuildInputs = [ perl ];

  configureScript =
    {
      aarch64-darwin = "./Configure darwin64-arm64-cc";
      aarch64-linux = "./Configure linux-aarch64";
      x86_64-linux = "./Configure linux-x86_64";
    }
    .${platform.system} or (throw "openssl: how to configure for ${platform.system} is not known");
  configureFlags = [
    (if static then "no-shared" else "shared")
    "no-ssl3"
  ];

  meta = {
    description = "Cryptographic library that implements TLS";
    homepage = "https://www.openssl.org";
    license = lib.licenses.asl20;
    mainProgram = "openssl";
    maintainers = [ lib.teams.core ];
  };
})
