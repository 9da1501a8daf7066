# A Linux kernel of some version.
{
  lib,
  stdenv,
  fetchurl,
  platform,
  bison,
  flex,
  bc,
  perl,
  openssl,
  version,
  # Options of the kernel's own configuration, on top of the usual ones.
  structuredConfig ? { },
}:
let
  options = {
    MODULES = true;
    MODULE_COMPRESS_XZ = true;
    NET = true;
    BLK_DEV_INITRD = true;
    DEBUG_INFO = false;
    NR_CPUS = if platform.isx86_64 then 384 else 256;
  }
  // structuredConfig;

  show = value: if builtins.isBool value then (if value then "y" else "n") else toString value;
in
stdenv.mkDerivation {
  pname = "linux";
  inherit version;

  src = fetchurl {
    url = "https://cdn.kernel.org/pub/linux/kernel/v${lib.versions.major version}.x/linux-${version}.tar.xz";
  };

  outputs = [
    "out"
    "dev"
  ];
  nativeBuildInputs = [
    bison
    flex
    bc
    perl
    openssl
  ];

  kernelConfig = lib.concatStringsSep "\n" (
    lib.mapAttrsToList (name: value: "CONFIG_${name}=${show value}") options
  );
  configurePhase = ''
    echo "$kernelConfig" > .config
    make olddefconfig
  '';

  passthru = {
    inherit options;
    modDirVersion = lib.versions.pad 3 version;
  };

  meta = {
    description = "Linux kernel ${lib.versions.majorMinor version}";
    homepage = "https://www.kernel.org";
    license = lib.licenses.gpl2Only;
    maintainers = [ lib.teams.core ];
    platforms = lib.platforms.linux;
  };
}
