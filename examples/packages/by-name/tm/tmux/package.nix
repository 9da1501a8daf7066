{
  lib,
  stdenv,
  fetchFromGitHub,
  autoconf,
  automake,
  bison,
  pkg-config,
  libevent,
  ncurses,
  systemd ? null,
  withSystemd ? stdenv.isLinux && systemd != null,
}:
stdenv.mkDerivation rec {
  pname = "tmux";
  version = "3.5";

  src = fetchFromGitHub {
    owner = "tmux";
    repo = "tmux";
    rev = version;
  };

  outputs = [
    "out"
    "man"
  ];
  nativeBuildInputs = [
    autoconf
    automake
    bison
    pkg-config
  ];
  buildInputs = [
    libevent
    ncurses
  ]
  ++ lib.optional withSystemd systemd;
  configureFlags = [ (lib.enableFeature withSystemd "systemd") ];

  meta = {
    description = "Terminal multiplexer";
    homepage = "https://tmux.github.io";
    license = lib.licenses.isc;
    mainProgram = "tmux";
    maintainers = [ lib.teams.terminal ];
  };
}
