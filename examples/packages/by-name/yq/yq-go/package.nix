{
  lib,
  buildGoModule,
  fetchFromGitHub,
  runCommand,
  yq-go,
}:
buildGoModule rec {
  pname = "yq-go";
  version = "4.44.3";

  src = fetchFromGitHub {
    owner = "mikefarah";
    repo = "yq";
    rev = "v${version}";
  };
  vendorHash = lib.madeUpHash "yq-go-vendor";

  passthru.tests.simple = runCommand "yq-go-test" { } ''
    echo '{"answer": 42}' | ${lib.getExe yq-go} .answer > "$out"
  '';

  meta = {
    description = "Command-line processor for YAML, JSON, XML and properties files";
    homepage = "https://mikefarah.gitbook.io/yq/";
    license = lib.licenses.mit;
    mainProgram = "yq";
    maintainers = [ lib.teams.data ];
  };
}
