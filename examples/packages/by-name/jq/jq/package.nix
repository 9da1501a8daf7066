{
  lib,
  stdenv,
  fetchurl,
  autoconf,
  automake,
  libtool,
  oniguruma,
  onigurumaSupport ? true,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "jq";
  version = "1.7.1";

  src = fetchurl {
    url = "https://github.com/jqlang/jq/releases/download/jq-${finalAttrs.version}/jq-${finalAttrs.version}.tar.gz";
  };

  outputs = [
    "bin"
    "out"
    "dev"
    "man"
  ];

  nativeBuildInputs = [
    autoconf
    automake
    libtool
  ];
  buildInputs = lib.optional onigurumaSupport oniguruma;

  configureFlags = [
    "--bindir=\${bin}/bin"
    "--mandir=\${man}/share/man"
    (lib.withFeature onigurumaSupport "oniguruma")
  ];

  doCheck = stdenv.isLinux;

  meta = {
    description = "Command-line processor for JSON";
    longDescription = ''
      jq is like sed for JSON data: it slices, filters, maps and transforms
      structured data with a small language of its own.
    '';
    homepage = "https://jqlang.github.io/jq/";
    changelog = "https://github.com/jqlang/jq/releases/tag/jq-${finalAttrs.version}";
    license = lib.licenses.mit;
    maintainers = [ lib.teams.data ];
    platforms = lib.platforms.unix;
    mainProgram = "jq";
  };
})
