{
  lib,
  stdenv,
  rustc,
  curl,
  libgit2,
  openssl,
  pkg-config,
  zlib,
}:
stdenv.mkDerivation {
  pname = "cargo";
  inherit (rustc) version src;

  nativeBuildInputs = [
    pkg-config
    rustc
    rustc.bootstrap
  ];
  buildInputs = [
    curl
    libgit2
    openssl
    zlib
  ];
  buildPhase = "cargo build --release --frozen --manifest-path src/tools/cargo/Cargo.toml";
  installPhase = ''install -D -t "$out/bin" target/release/cargo'';

  meta = {
    description = "Package manager of the Rust programming language";
    inherit (rustc.meta) homepage license maintainers;
    mainProgram = "cargo";
  };
}
