{
  lib,
  buildGoModule,
  fetchFromGitHub,
}:
buildGoModule rec {
  pname = "gojq";
  version = "0.12.16";

  src = fetchFromGitHub {
    owner = "itchyny";
    repo = "gojq";
    rev = "v${version}";
  };
  vendorHash = lib.madeUpHash "gojq-vendor";

  subPackages = [ "cmd/gojq" ];
  ldflags = [
    "-s"
    "-w"
    "-X main.revision=${src.rev}"
  ];

  meta = {
    description = "Pure Go implementation of jq, the JSON processor";
    homepage = "https://github.com/itchyny/gojq";
    license = lib.licenses.mit;
    maintainers = [ lib.teams.data ];
  };
}
