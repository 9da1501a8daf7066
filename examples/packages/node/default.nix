# Programs in JavaScript, from the table in `packages.toml`.
{
  lib,
  stdenvNoCC,
  fetchurl,
  nodejs,
}:
let
  table = lib.importTOML ./packages.toml;

  package =
    name: row:
    stdenvNoCC.mkDerivation {
      pname = name;
      inherit (row) version;
      src = fetchurl {
        url = "mirror://npm/${name}/-/${name}-${row.version}.tgz";
        hash = lib.madeUpHash "${name}@${row.version}";
      };
      buildInputs = [ nodejs ];
      dontBuild = true;
      installPhase = ''
        mkdir -p "$out/lib/node_modules" "$out/bin"
        cp -r . "$out/lib/node_modules/${name}"
      ''
      + lib.concatMapStrings (bin: ''
        ln -s "$out/lib/node_modules/${name}/${row.bin.${bin}}" "$out/bin/${bin}"
      '') (lib.attrNames (row.bin or { }));
      meta = {
        inherit (row) description;
        license = lib.licenses.${row.license or table.defaults.license};
        homepage = row.homepage or "https://www.npmjs.com/package/${name}";
        maintainers = [ lib.teams.javascript ];
      };
    };
in
lib.mapAttrs package table.package
