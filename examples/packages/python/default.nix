# A Python interpreter, with the set of packages for it as `pkgs`.
{
  lib,
  stdenv,
  fetchurl,
  callPackage,
  bzip2,
  expat,
  libffi,
  ncurses,
  openssl,
  readline,
  xz,
  zlib,
  version,
  freeThreading ? false,
  # An overlay on the packages of this interpreter.
  packageOverrides ? _: _: { },
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "python3";
  inherit version;

  src = fetchurl { url = "https://www.python.org/ftp/python/${version}/Python-${version}.tar.xz"; };

  buildInputs = [
    bzip2
    expat
    libffi
    ncurses
    openssl
    readline
    xz
    zlib
  ];
  configureFlags = [
    "--enable-shared"
    "--with-system-expat"
  ]
  ++ lib.optional freeThreading "--disable-gil";

  passthru = {
    sitePackages = "lib/python${lib.versions.majorMinor version}/site-packages";
    executable = "python${lib.versions.majorMinor version}";
    pkgs = callPackage ./packages.nix {
      python = finalAttrs.finalPackage;
      inherit packageOverrides;
    };
    # An interpreter that sees some packages: `python3.withPackages (ps: [ ps.requests ])`.
    withPackages =
      choose:
      callPackage ./environment.nix {
        python = finalAttrs.finalPackage;
        packages = choose finalAttrs.finalPackage.pkgs;
      };
  };

  meta = {
    description = "Interpreter of the Python programming language";
    homepage = "https://www.python.org";
    license = lib.licenses.psfl;
    mainProgram = "python3";
    maintainers = [ lib.teams.python ];
  };
})
