{
  lib,
  stdenv,
  fetchurl,
  ncurses,
  openssl,
  zlib,
  expat,
  libuv,
  jsoncpp ? null,
  # What cmake itself is built from cannot be built with cmake.
  useSharedLibraries ? false,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "cmake";
  version = "3.30.4";

  src = fetchurl {
    url = "https://cmake.org/files/v${lib.versions.majorMinor finalAttrs.version}/cmake-${finalAttrs.version}.tar.gz";
  };

  buildInputs = [
    openssl
    ncurses
    zlib
    expat
    libuv
  ]
  ++ lib.optional useSharedLibraries jsoncpp;
  configurePhase = "./bootstrap --prefix=\"$out\" --parallel=$NIX_BUILD_CORES";

  meta = {
    description = "Generator of build files for many build tools";
    homepage = "https://cmake.org";
    license = lib.licenses.bsd3;
    mainProgram = "cmake";
    maintainers = [ lib.teams.core ];
  };
})
