{
  lib,
  stdenv,
  fetchurl,
  platform,
  python3,
  llvmPackages,
  openssl,
  pkg-config,
}:
let
  version = "1.81.0";
  # Each release is built by the one before it.
  before = {
    version = "1.80.1";
    url = "https://static.rust-lang.org/dist/rust-1.80.1-${platform.config}.tar.gz";
  };
  bootstrap = stdenv.mkDerivation {
    pname = "rust-bootstrap";
    inherit (before) version;
    src = fetchurl { inherit (before) url; };
    dontBuild = true;
    installPhase = ''bash ./install.sh --prefix="$out"'';
  };
in
stdenv.mkDerivation {
  pname = "rustc";
  inherit version;

  src = fetchurl { url = "https://static.rust-lang.org/dist/rustc-${version}-src.tar.gz"; };

  nativeBuildInputs = [
    python3
    pkg-config
    bootstrap
  ];
  buildInputs = [
    llvmPackages.llvm
    openssl
  ];
  configureFlags = [
    "--enable-local-rust"
    "--local-rust-root=${bootstrap}"
    "--llvm-root=${llvmPackages.llvm}"
    "--set=build.vendor=true"
  ];
  buildPhase = "python3 x.py build --stage 2 compiler library";
  installPhase = ''DESTDIR="$out" python3 x.py install compiler library'';

  passthru = {
    inherit bootstrap;
    llvm = llvmPackages.llvm;
  };

  meta = {
    description = "Compiler of the Rust programming language";
    homepage = "https://www.rust-lang.org";
    license = with lib.licenses; [
      mit
      asl20
    ];
    mainProgram = "rustc";
    maintainers = [ lib.teams.rust ];
  };
}
