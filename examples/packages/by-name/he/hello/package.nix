{
  lib,
  stdenv,
  fetchurl,
  runCommand,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "hello";
  version = "2.12.1";

  src = fetchurl { url = "mirror://gnu/hello/hello-${finalAttrs.version}.tar.gz"; };
  doCheck = true;

  passthru.tests.run = runCommand "hello-test-run" { nativeBuildInputs = [ finalAttrs.finalPackage ]; } ''
    hello > "$out"
  '';

  meta = {
    description = "Program that prints a friendly greeting";
    longDescription = ''
      GNU Hello says hello. It shows what a package looks like that does little
      and does it by the rules.
    '';
    homepage = "https://www.gnu.org/software/hello/";
    license = lib.licenses.gpl3Plus;
    mainProgram = "hello";
    maintainers = [ lib.teams.core ];
  };
})
