{
  lib,
  stdenv,
  fetchurl,
  platform,
  runCommand,
}:
let
  goarch = {
    aarch64 = "arm64";
    x86_64 = "amd64";
  };

  # The compiler is written in Go, so an older binary begins.
  bootstrap = stdenv.mkDerivation rec {
    pname = "go-bootstrap";
    version = "1.22.6";
    src = fetchurl {
      url = "https://go.dev/dl/go${version}.${platform.kernel}-${goarch.${platform.cpu}}.tar.gz";
    };
    dontBuild = true;
    dontConfigure = true;
    installPhase = ''cp -r . "$out"'';
  };
in
stdenv.mkDerivation (finalAttrs: {
  pname = "go";
  version = "1.23.2";

  src = fetchurl { url = "https://go.dev/dl/go${finalAttrs.version}.src.tar.gz"; };

  GOOS = platform.kernel;
  GOARCH = goarch.${platform.cpu};
  GOROOT_BOOTSTRAP = bootstrap;
  buildPhase = ''
    cd src
    bash make.bash
  '';
  installPhase = ''
    mkdir -p "$out/share"
    cp -r .. "$out/share/go"
    ln -s "$out/share/go/bin" "$out/bin"
  '';

  passthru = { inherit bootstrap; };

  meta = {
    description = "Go programming language";
    homepage = "https://go.dev";
    license = lib.licenses.bsd3;
    mainProgram = "go";
    maintainers = [ lib.teams.core ];
  };
})
