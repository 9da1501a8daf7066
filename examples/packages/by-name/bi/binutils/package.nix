{
  lib,
  stdenv,
  fetchurl,
  platform,
}:
stdenv.mkDerivation rec {
  pname = "binutils";
  version = "2.43.1";

  src = fetchurl { url = "mirror://gnu/binutils/binutils-${version}.tar.xz"; };

  configureFlags = [
    "--target=${platform.config}"
    "--disable-nls"
    "--enable-deterministic-archives"
  ];

  meta = {
    description = "Tools for manipulating binaries: linker, assembler and others";
    homepage = "https://www.gnu.org/software/binutils/";
    license = lib.licenses.gpl3Plus;
    maintainers = [ lib.teams.core ];
  };
}
