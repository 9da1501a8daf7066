# A Go program with its modules, which are fetched by a derivation of their own.
{
  lib,
  stdenv,
  go,
  git,
}:
{
  pname,
  version,
  src,
  vendorHash,
  subPackages ? [ "." ],
  ldflags ? [
    "-s"
    "-w"
  ],
  nativeBuildInputs ? [ ],
  meta ? { },
  ...
}@args:
let
  goModules = stdenv.mkDerivation {
    name = "${pname}-${version}-go-modules";
    inherit src;
    nativeBuildInputs = [
      go
      git
    ];
    dontConfigure = true;
    buildPhase = "go mod vendor";
    installPhase = ''cp -r vendor "$out"'';
    outputHash = vendorHash;
    outputHashAlgo = "sha256";
    outputHashMode = "recursive";
  };
in
stdenv.mkDerivation (
  removeAttrs args [ "vendorHash" ]
  // {
    nativeBuildInputs = [ go ] ++ nativeBuildInputs;
    inherit goModules subPackages ldflags;
    CGO_ENABLED = args.CGO_ENABLED or false;
    configurePhase = args.configurePhase or ''
      cp -r "$goModules" vendor
      export GOFLAGS="-mod=vendor -trimpath"
    '';
    buildPhase = args.buildPhase or ''
      for package in $subPackages; do go build -ldflags "$ldflags" -o bin/ "./$package"; done
    '';
    installPhase = args.installPhase or ''install -D -t "$out/bin" bin/*'';
    passthru = { inherit go goModules; } // args.passthru or { };
    meta = {
      mainProgram = pname;
      platforms = lib.platforms.unix;
    }
    // meta;
  }
)
