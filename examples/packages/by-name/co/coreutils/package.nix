{
  lib,
  stdenv,
  fetchurl,
  attr ? null,
  acl ? null,
  gmp ? null,
  aclSupport ? false,
  gmpSupport ? false,
  singleBinary ? false,
}:
assert aclSupport -> acl != null && attr != null;
stdenv.mkDerivation rec {
  pname = "coreutils";
  version = "9.5";

  src = fetchurl { url = "mirror://gnu/coreutils/coreutils-${version}.tar.xz"; };

  outputs = [
    "out"
    "info"
  ];
  buildInputs =
    lib.optionals aclSupport [
      attr
      acl
    ]
    ++ lib.optional gmpSupport gmp;
  configureFlags = lib.optional singleBinary "--enable-single-binary=symlinks";
  FORCE_UNSAFE_CONFIGURE = true;

  meta = {
    description = "GNU core utilities: ls, cp, cat and the like";
    homepage = "https://www.gnu.org/software/coreutils/";
    license = lib.licenses.gpl3Plus;
    maintainers = [ lib.teams.core ];
  };
}
