# Makes a standard environment: a shell, basic tools, a compiler, and `mkDerivation` on top.
{
  lib,
  config,
  platform,
}:
{
  name ? "stdenv",
  shell,
  # The compiler, or null for an environment that only moves files around.
  cc,
  # Tools on the PATH of every build.
  initialPath,
}:
let
  environment = derivation {
    inherit name initialPath;
    inherit (platform) system;
    builder = shell;
    args = [
      "-e"
      ./make.sh
    ];
    setup = ./setup.sh;
    cc = if cc == null then "" else cc;
    outputs = [ "out" ];
  };

  stdenv =
    environment
    // {
      inherit
        shell
        cc
        initialPath
        platform
        ;
      inherit (platform) isLinux isDarwin isx86_64 isAarch64;
      mkDerivation = import ./make-derivation.nix { inherit lib config stdenv; };
      override = changes: import ./. { inherit lib config platform; } ({ inherit name shell cc initialPath; } // changes);
      meta = {
        description = "Environment in which packages are built: a shell, basic tools and a compiler";
        license = lib.licenses.mit;
        maintainers = [ lib.teams.core ];
        platforms = lib.platforms.all;
      };
    };
in
stdenv
