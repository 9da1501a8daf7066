{
  lib,
  rustPlatform,
  fetchFromGitHub,
}:
rustPlatform.buildRustPackage rec {
  pname = "jaq";
  version = "1.6.0";

  src = fetchFromGitHub {
    owner = "01mf02";
    repo = "jaq";
    rev = "v${version}";
  };
  cargoHash = lib.madeUpHash "jaq-crates";

  meta = {
    description = "Clone of jq, a processor for JSON data, with a focus on correctness and speed";
    homepage = "https://github.com/01mf02/jaq";
    license = lib.licenses.mit;
    maintainers = [ lib.teams.data ];
  };
}
