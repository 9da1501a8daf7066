{
  lib,
  stdenv,
  fetchurl,
  platform,
  linux-headers,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "glibc";
  version = "2.40";

  src = fetchurl { url = "mirror://gnu/glibc/glibc-${finalAttrs.version}.tar.xz"; };

  outputs = [
    "out"
    "bin"
    "dev"
    "static"
  ];
  configureFlags = [
    "--with-headers=${linux-headers}/include"
    "--host=${platform.config}"
    "--enable-kernel=4.19"
  ];

  passthru.headers = linux-headers;

  meta = {
    description = "GNU C library";
    homepage = "https://www.gnu.org/software/libc/";
    license = lib.licenses.lgpl21Plus;
    maintainers = [ lib.teams.core ];
    platforms = lib.platforms.linux;
  };
})
