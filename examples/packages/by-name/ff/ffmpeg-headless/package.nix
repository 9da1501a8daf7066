{ ffmpeg }:
(ffmpeg.override { withAlsa = false; }).overrideAttrs (
  final: prev: {
    pname = "ffmpeg-headless";
    configureFlags = prev.configureFlags ++ [ "--disable-ffplay" ];
    meta = prev.meta // {
      description = "${prev.meta.description}, without any display or sound card";
    };
  }
)
