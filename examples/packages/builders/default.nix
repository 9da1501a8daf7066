# What makes derivations but is no package: fetchers, small builders, and one builder per language.
final: prev:
let
  call = file: final.callPackage file { };
in
{
  fetchurl = call ./fetchurl.nix;
  fetchzip = call ./fetchzip.nix;
  fetchgit = call ./fetchgit.nix;
  fetchFromGitHub = call ./fetch-from-github.nix;
  fetchpatch = args: final.fetchurl (args // { name = args.name or "fix.patch"; });

  wrapCC = call ./wrap-cc.nix;
  stdenvNoCC = prev.stdenv.override {
    name = "stdenv-no-cc";
    cc = null;
  };

  buildGoModule = call ./go-module.nix;
  rustPlatform = call ./rust-platform.nix;

  inherit (call ./trivial.nix)
    runCommand
    writeText
    writeShellScriptBin
    symlinkJoin
    ;
}
