{
  lib,
  stdenv,
  rustPlatform,
  fetchFromGitHub,
  pkg-config,
  pcre2,
  withPCRE2 ? true,
}:
rustPlatform.buildRustPackage rec {
  pname = "ripgrep";
  version = "14.1.1";

  src = fetchFromGitHub {
    owner = "BurntSushi";
    repo = "ripgrep";
    rev = version;
  };
  cargoHash = lib.madeUpHash "ripgrep-crates";

  nativeBuildInputs = lib.optional withPCRE2 pkg-config;
  buildInputs = lib.optional withPCRE2 pcre2;
  buildFeatures = lib.optional withPCRE2 "pcre2";

  postInstall = ''
    "$out/bin/rg" --generate man > rg.1
    install -D -m 644 rg.1 "$out/share/man/man1/rg.1"
  '';

  meta = {
    description = "Line-oriented search tool that is fast and respects ignore files";
    homepage = "https://github.com/BurntSushi/ripgrep";
    license = with lib.licenses; [
      unlicense
      mit
    ];
    mainProgram = "rg";
    maintainers = [ lib.teams.rust ];
  };
}
