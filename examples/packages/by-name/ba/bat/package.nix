{
  lib,
  rustPlatform,
  fetchFromGitHub,
  pkg-config,
  oniguruma,
  less,
  zlib,
}:
rustPlatform.buildRustPackage rec {
  pname = "bat";
  version = "0.24.0";

  src = fetchFromGitHub {
    owner = "sharkdp";
    repo = "bat";
    rev = "v${version}";
  };
  cargoHash = lib.madeUpHash "bat-crates";

  nativeBuildInputs = [ pkg-config ];
  buildInputs = [
    oniguruma
    zlib
  ];
  RUSTONIG_SYSTEM_LIBONIG = true;
  postFixup = ''
    sed -i "s|\"less\"|\"${lib.getExe less}\"|" "$out/bin/bat"
  '';

  meta = {
    description = "Like cat, with syntax highlighting and line numbers";
    homepage = "https://github.com/sharkdp/bat";
    license = with lib.licenses; [
      asl20
      mit
    ];
    maintainers = [ lib.teams.rust ];
  };
}
