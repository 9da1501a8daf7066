# What the table cannot know.
{ lib, pkgs }:
self: super:
let
  dontCheck = pkg: pkg.override { doCheck = false; };
  withFlags = flags: pkg: pkg.override (old: { configureFlags = old.configureFlags or [ ] ++ flags; });
  withSystemLibraries = libs: pkg: pkg.override { librarySystemDepends = libs; };
in
# Their tests want the network.
lib.genAttrs [
  "http-client"
  "http-client-tls"
  "wreq"
] (name: dontCheck super.${name})
// {
  zlib = withSystemLibraries [ pkgs.zlib ] super.zlib;
  sqlite-simple = withSystemLibraries [ pkgs.sqlite ] super.sqlite-simple;

  aeson = withFlags [ "-fordered-keymap" ] super.aeson;
  pandoc = lib.pipe super.pandoc [
    dontCheck
    (withFlags [ "-fembed_data_files" ])
  ];
}
