# Turns a system name such as "x86_64-linux" into everything a package may want to know about it.
{ lib }:
{
  elaborate =
    system:
    let
      parts = builtins.match "([a-z0-9_]+)-(linux|darwin)" system;
      cpu = builtins.elemAt parts 0;
      kernel = builtins.elemAt parts 1;
      isLinux = kernel == "linux";
    in
    lib.throwIf (parts == null) "the system `${system}` is not known here" {
      inherit system cpu kernel isLinux;
      isDarwin = kernel == "darwin";
      isx86_64 = cpu == "x86_64";
      isAarch64 = cpu == "aarch64";
      is64bit = true;
      libc = if isLinux then "glibc" else "libSystem";
      config = if isLinux then "${cpu}-unknown-linux-gnu" else "${cpu}-apple-darwin";
      sharedLibrary = if isLinux then ".so" else ".dylib";
    };
}
