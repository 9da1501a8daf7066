{
  lib,
  stdenv,
  fetchurl,
  perlPackages,
  zlib,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "perl";
  version = "5.40.0";

  src = fetchurl { url = "mirror://cpan/perl/perl-${finalAttrs.version}.tar.gz"; };

  buildInputs = [ zlib ];
  configurePhase = ''
    ./Configure -de -Dprefix="$out" -Duseshrplib
  '';

  passthru = {
    pkgs = perlPackages;
    libPrefix = "lib/perl5/site_perl/${finalAttrs.version}";
  };

  meta = {
    description = "Practical language for text and systems";
    homepage = "https://www.perl.org";
    license = with lib.licenses; [
      artistic1
      gpl1Plus
    ];
    mainProgram = "perl";
    maintainers = [ lib.teams.perl ];
  };
})
