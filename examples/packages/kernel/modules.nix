# Packages that are built for one kernel.
{
  lib,
  stdenv,
  fetchFromGitHub,
  makeScope,
  kernel,
}:
let
  module =
    {
      pname,
      version,
      owner,
      description,
      license ? lib.licenses.gpl2Only,
    }:
    stdenv.mkDerivation {
      name = "${pname}-${version}-${kernel.version}";
      inherit pname version;
      src = fetchFromGitHub {
        inherit owner;
        repo = pname;
        rev = "v${version}";
      };
      makeFlags = [ "KERNEL_DIR=${kernel.dev}/lib/modules/${kernel.modDirVersion}/build" ];
      meta = {
        inherit description license;
        maintainers = [ lib.teams.core ];
        platforms = lib.platforms.linux;
      };
    };
in
removeAttrs (makeScope (self: {
  inherit kernel;
  v4l2loopback = module {
    pname = "v4l2loopback";
    version = "0.13.2";
    owner = "umlaeute";
    description = "Kernel module to create video loopback devices";
  };
  acpi_call = module {
    pname = "acpi_call";
    version = "1.2.2";
    owner = "nix-community";
    description = "Kernel module to call methods of ACPI";
    license = lib.licenses.gpl3Plus;
  };
  zenpower = module {
    pname = "zenpower";
    version = "0.2.0";
    owner = "ocerman";
    description = "Kernel module to read sensors of Zen processors";
  };
})) [
  "packages"
  "overrideScope"
]
