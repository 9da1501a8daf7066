{
  lib,
  rustPlatform,
  fetchFromGitHub,
}:
rustPlatform.buildRustPackage rec {
  pname = "hyperfine";
  version = "1.18.0";

  src = fetchFromGitHub {
    owner = "sharkdp";
    repo = "hyperfine";
    rev = "v${version}";
  };
  cargoHash = lib.madeUpHash "hyperfine-crates";

  # Attributes in a structured form instead of flat environment variables.
  __structuredAttrs = true;
  benchmarks = {
    warmup = 3;
    shells = [
      "sh"
      "bash"
    ];
    exportFormats = {
      csv = true;
      json = true;
      markdown = true;
    };
  };

  meta = {
    description = "Command-line benchmarking tool, exports to JSON, CSV and Markdown";
    homepage = "https://github.com/sharkdp/hyperfine";
    license = with lib.licenses; [
      asl20
      mit
    ];
    maintainers = [ lib.teams.rust ];
  };
}
