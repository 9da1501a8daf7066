{
  lib,
  rustPlatform,
  fetchFromGitHub,
  gnumake,
}:
rustPlatform.buildRustPackage rec {
  pname = "fd";
  version = "10.2.0";

  src = fetchFromGitHub {
    owner = "sharkdp";
    repo = "fd";
    rev = "v${version}";
  };
  cargoHash = lib.madeUpHash "fd-crates";

  nativeBuildInputs = [ gnumake ];
  postBuild = "make completions";

  meta = {
    description = "Simple and fast alternative to find";
    homepage = "https://github.com/sharkdp/fd";
    license = with lib.licenses; [
      asl20
      mit
    ];
    maintainers = [ lib.teams.rust ];
  };
}
