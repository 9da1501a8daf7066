{
  lib,
  stdenv,
  fetchurl,
  readline ? null,
  ncurses ? null,
  stage,
}:
let
  version = "5.2";
  patchLevel = 32;
  # The first stages get a shell without line editing; nobody types into it.
  interactive = stage == "final";
in
stdenv.mkDerivation {
  pname = "bash";
  version = "${version}p${toString patchLevel}";

  src = fetchurl { url = "mirror://gnu/bash/bash-${version}.tar.gz"; };

  # Upstream publishes one patch for each level.
  patches = map (
    n:
    let
      number = lib.substring 1 3 (toString (1000 + n));
    in
    fetchurl { url = "mirror://gnu/bash/bash-${version}-patches/bash52-${number}"; }
  ) (lib.range 1 patchLevel);

  buildInputs = lib.optionals interactive [
    readline
    ncurses
  ];
  configureFlags = [
    (lib.withFeature interactive "installed-readline")
    "--without-bash-malloc"
  ];

  passthru.shellPath = "/bin/bash";

  meta = {
    description = "GNU Bourne-Again Shell";
    homepage = "https://www.gnu.org/software/bash/";
    license = lib.licenses.gpl3Plus;
    mainProgram = "bash";
    maintainers = [ lib.teams.core ];
  };
}
