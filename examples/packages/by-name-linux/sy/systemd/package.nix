{
  lib,
  stdenv,
  fetchFromGitHub,
  meson,
  ninja,
  pkg-config,
  gperf,
  libcap,
  util-linux,
  kmod,
  pam,
  python3Packages,
  cryptsetup ? null,
  withCryptsetup ? false,
}:
stdenv.mkDerivation (finalAttrs: {
  pname = "systemd";
  version = "256.6";

  src = fetchFromGitHub {
    owner = "systemd";
    repo = "systemd";
    rev = "v${finalAttrs.version}";
  };

  outputs = [
    "out"
    "man"
    "dev"
  ];
  nativeBuildInputs = [
    meson
    ninja
    pkg-config
    gperf
    python3Packages.jinja2
  ];
  buildInputs = [
    libcap
    util-linux
    kmod
    pam
  ]
  ++ lib.optional withCryptsetup cryptsetup;
  mesonFlags = [
    (lib.mesonEnable "libcryptsetup" withCryptsetup)
    "-Dversion-tag=${finalAttrs.version}"
  ];

  meta = {
    description = "System and service manager";
    homepage = "https://systemd.io";
    license = lib.licenses.lgpl21Plus;
    maintainers = [ lib.teams.core ];
    platforms = lib.platforms.linux;
  };
})
