{
  lib,
  stdenvNoCC,
  fetchurl,
  platform,
}:
stdenvNoCC.mkDerivation rec {
  pname = "linux-headers";
  version = "6.11";

  src = fetchurl { url = "mirror://upstream/linux/linux-${version}.tar.xz"; };

  ARCH = if platform.isAarch64 then "arm64" else platform.cpu;
  buildPhase = "make headers";
  installPhase = ''
    mkdir -p "$out"
    cp -r usr/include "$out/"
  '';

  meta = {
    description = "Header files of the Linux kernel, for programs";
    homepage = "https://www.kernel.org";
    license = lib.licenses.gpl2Only;
    maintainers = [ lib.teams.core ];
    platforms = lib.platforms.linux;
  };
}
