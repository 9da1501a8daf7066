# Builders for small things that need no source.
{ lib, stdenvNoCC, bash }:
rec {
  runCommand =
    name: env: script:
    stdenvNoCC.mkDerivation (
      {
        inherit name;
        phases = "install";
        installPhase = script;
      }
      // env
    );

  writeText =
    name: text:
    runCommand name {
      inherit text;
      passAsFile = [ "text" ];
    } ''cp "$textPath" "$out"'';

  writeShellScriptBin =
    name: text:
    runCommand name
      {
        text = ''
          #!${bash}/bin/bash
          ${text}
        '';
        passAsFile = [ "text" ];
        meta.mainProgram = name;
      }
      ''
        install -D -m 755 "$textPath" "$out/bin/${name}"
      '';

  # One folder with links to everything in `paths`.
  symlinkJoin =
    {
      name,
      paths,
      postBuild ? "",
      ...
    }@args:
    runCommand name
      (
        removeAttrs args [
          "name"
          "postBuild"
        ]
      )
      ''
        mkdir -p "$out"
        for path in $paths; do cp -rsf "$path/." "$out/"; done
        ${postBuild}
      '';
}
