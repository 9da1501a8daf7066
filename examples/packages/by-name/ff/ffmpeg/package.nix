{
  lib,
  stdenv,
  fetchurl,
  pkg-config,
  nasm,
  zlib,
  x264,
  x265,
  libopus,
  libvpx,
  dav1d,
  alsa-lib ? null,
  # Parts, each with a library or none.
  withX264 ? true,
  withX265 ? true,
  withOpus ? true,
  withVpx ? true,
  withDav1d ? true,
  withAlsa ? stdenv.isLinux,
}:
let
  parts = [
    { on = withX264; flag = "libx264"; input = x264; gpl = true; }
    { on = withX265; flag = "libx265"; input = x265; gpl = true; }
    { on = withOpus; flag = "libopus"; input = libopus; }
    { on = withVpx; flag = "libvpx"; input = libvpx; }
    { on = withDav1d; flag = "libdav1d"; input = dav1d; }
    { on = withAlsa; flag = "alsa"; input = alsa-lib; }
  ];
  used = lib.filter (part: part.on) parts;
  gpl = lib.any (part: part.gpl or false) used;
in
stdenv.mkDerivation rec {
  pname = "ffmpeg";
  version = "7.0.2";

  src = fetchurl { url = "https://ffmpeg.org/releases/ffmpeg-${version}.tar.xz"; };

  nativeBuildInputs = [
    pkg-config
    nasm
  ];
  buildInputs = [ zlib ] ++ lib.catAttrs "input" used;
  configureFlags = [ (lib.enableFeature gpl "gpl") ] ++ map (part: lib.enableFeature part.on part.flag) parts;

  meta = {
    description = "Records, converts and streams audio and video";
    homepage = "https://ffmpeg.org";
    license = if gpl then lib.licenses.gpl2Plus else lib.licenses.lgpl21Plus;
    mainProgram = "ffmpeg";
    maintainers = [ lib.teams.core ];
  };
}
