{
  lib,
  stdenv,
  fetchurl,
  platform,
  gmp,
  mpfr,
  libmpc,
  glibc ? null,
  langC ? true,
  langCC ? true,
  langFortran ? false,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "gcc";
  version = "13.3.0";

  src = fetchurl {
    url = "mirror://gnu/gcc/gcc-${finalAttrs.version}/gcc-${finalAttrs.version}.tar.xz";
  };

  outputs = [
    "out"
    "lib"
    "man"
  ];
  buildInputs = [
    gmp
    mpfr
    libmpc
  ];

  languages = lib.optional langC "c" ++ lib.optional langCC "c++" ++ lib.optional langFortran "fortran";
  configureFlags = [
    "--disable-multilib"
    "--build=${platform.config}"
    "--enable-languages=${lib.concatStringsSep "," finalAttrs.languages}"
  ]
  ++ lib.optional (glibc != null) "--with-native-system-header-dir=${lib.getDev glibc}/include";

  passthru = { inherit langC langCC langFortran; };

  meta = {
    description = "GNU Compiler Collection, without the libc it needs";
    homepage = "https://gcc.gnu.org";
    license = lib.licenses.gpl3Plus;
    maintainers = [ lib.teams.core ];
  };
})
