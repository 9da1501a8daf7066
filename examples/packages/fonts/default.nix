# Fonts: only files to put in place.
{
  lib,
  stdenvNoCC,
  fetchurl,
}:
let
  font =
    pname: version: description:
    stdenvNoCC.mkDerivation {
      inherit pname version;
      src = fetchurl { url = "mirror://upstream/fonts/${pname}-${version}.tar.gz"; };
      dontConfigure = true;
      dontBuild = true;
      installPhase = ''
        install -D -m 644 -t "$out/share/fonts/truetype" *.ttf
      '';
      meta = {
        inherit description;
        license = lib.licenses.ofl;
        maintainers = [ lib.teams.core ];
        platforms = lib.platforms.all;
      };
    };
in
lib.mapAttrs (pname: row: font pname (lib.head row) (lib.last row)) {
  fira-code = [ "6.2" "Monospaced font with ligatures for programs" ];
  ibm-plex = [ "6.4.0" "Family of sans, serif and monospaced fonts" ];
  inter = [ "4.0" "Sans-serif font made for screens" ];
  jetbrains-mono = [ "2.304" "Monospaced font for developers" ];
  libertinus = [ "7.040" "Serif fonts with support for mathematics" ];
}
