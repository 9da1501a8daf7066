{
  lib,
  stdenv,
  fetchurl,
  openssl,
  systemd ? null,
  tlsSupport ? true,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "redis";
  version = "7.2.5";

  src = fetchurl { url = "https://download.redis.io/releases/redis-${finalAttrs.version}.tar.gz"; };

  buildInputs = lib.optional tlsSupport openssl ++ lib.optional (systemd != null) systemd;
  makeFlags = [
    "PREFIX=\${out}"
    "BUILD_TLS=${if tlsSupport then "yes" else "no"}"
    "USE_SYSTEMD=${if systemd != null then "yes" else "no"}"
  ];

  meta = {
    description = "Data structures in memory, over the network";
    homepage = "https://redis.io";
    license = lib.licenses.bsd3;
    mainProgram = "redis-cli";
    maintainers = [ lib.teams.servers ];
  };
})
