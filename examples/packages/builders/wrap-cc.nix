# A compiler together with the libc and the linker that it should use.
{ lib, stdenvNoCC }:
{
  cc,
  libc,
  bintools,
}:
stdenvNoCC.mkDerivation {
  pname = "${lib.getName cc}-wrapper";
  version = lib.getVersion cc;
  inherit cc;
  libc = lib.optionalString (libc != null) (lib.getLib libc);
  libcDev = lib.optionalString (libc != null) (lib.getDev libc);
  bintools = lib.optionalString (bintools != null) bintools;
  phases = "install";
  installPhase = ''
    mkdir -p "$out/bin"
    for program in cc c++ gcc g++ cpp; do
      [ -e "$cc/bin/$program" ] || continue
      printf '#!%s\nexec %s ${
        lib.optionalString (libc != null) "-B$libc/lib -idirafter $libcDev/include"
      } "$@"\n' "$SHELL" "$cc/bin/$program" > "$out/bin/$program"
      chmod +x "$out/bin/$program"
    done
  '';
  passthru = {
    inherit libc bintools;
    unwrapped = cc;
    isGNU = lib.getName cc == "gcc";
  };
  meta = {
    description = "C and C++ compiler with its libc and linker";
    license = cc.meta.license or lib.licenses.free;
    maintainers = [ lib.teams.core ];
    platforms = lib.platforms.all;
  };
}
