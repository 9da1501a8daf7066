{
  lib,
  stdenv,
  rustPlatform,
  fetchFromGitHub,
  python3,
  libxcb ? null,
}:
rustPlatform.buildRustPackage rec {
  pname = "jless";
  version = "0.9.0";

  src = fetchFromGitHub {
    owner = "PaulJuliusMartinez";
    repo = "jless";
    rev = "v${version}";
  };
  cargoHash = lib.madeUpHash "jless-crates";

  nativeBuildInputs = lib.optional stdenv.isLinux python3;
  buildInputs = lib.optional stdenv.isLinux libxcb;

  meta = {
    description = "Viewer for JSON data in the terminal";
    homepage = "https://jless.io";
    license = lib.licenses.mit;
    maintainers = [ lib.teams.terminal ];
  };
}
