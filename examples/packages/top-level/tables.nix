# Packages that need no file of their own: one line each in a table.
#
# A line has seven columns, separated by `|`: name, version, how it is built, license, homepage,
# what it is linked with, description. See `tables/` for the tables themselves.
final: prev:
let
  inherit (prev) lib platform;

  # How each kind is built, and with what.
  kinds = {
    make = _: final.stdenv.mkDerivation;
    cmake = _: args: final.stdenv.mkDerivation (args // { nativeBuildInputs = [ final.cmake ]; });
    meson =
      _: args:
      final.stdenv.mkDerivation (
        args
        // {
          nativeBuildInputs = [
            final.meson
            final.ninja
            final.pkg-config
          ];
        }
      );
    go = row: args: final.buildGoModule (args // { vendorHash = lib.madeUpHash "${row.name}-vendor"; });
    rust = row: args: final.rustPlatform.buildRustPackage (args // { cargoHash = lib.madeUpHash "${row.name}-crates"; });
    python = _: args: final.python3Packages.buildPythonApplication (args // { propagatedBuildInputs = args.buildInputs; buildInputs = [ ]; });
    perl = _: args: final.perlPackages.buildPerlPackage args;
    data = _: args: final.stdenvNoCC.mkDerivation (args // { dontBuild = true; });
  };

  source =
    { name, version, homepage, ... }:
    let
      github = builtins.match "https://github\\.com/([^/]+)/([^/]+)" homepage;
    in
    if github != null then
      final.fetchFromGitHub {
        owner = lib.elemAt github 0;
        repo = lib.elemAt github 1;
        rev = "v${version}";
      }
    else
      final.fetchurl { url = "mirror://upstream/${name}/${name}-${version}.tar.gz"; };

  findPackage = name: lib.attrByPath (lib.splitString "." name) (throw "no package `${name}` for a table") final;

  package =
    row:
    kinds.${row.kind} row {
      pname = row.name;
      inherit (row) version;
      src = source row;
      buildInputs = map findPackage row.inputs;
      meta = {
        inherit (row) description homepage position;
        license = map (l: lib.licenses.${l}) (lib.words row.licenses);
        maintainers = [ row.team ];
        platforms = if row.linuxOnly then lib.platforms.linux else lib.platforms.unix;
      };
    };

  readTable =
    {
      file,
      team,
      linuxOnly ? false,
    }:
    let
      parse =
        number: line:
        let
          column = map lib.trim (lib.splitString "|" line);
        in
        lib.optional (line != "" && !lib.hasPrefix "#" line) (
          lib.throwIfNot (lib.length column == 7) "${toString file}:${toString number}: there must be seven columns"
            {
              inherit team linuxOnly;
              name = lib.elemAt column 0;
              version = lib.elemAt column 1;
              kind = lib.elemAt column 2;
              licenses = lib.elemAt column 3;
              homepage = lib.elemAt column 4;
              inputs = lib.words (lib.elemAt column 5);
              description = lib.elemAt column 6;
              position = "${toString file}:${toString number}";
            }
        );
    in
    lib.concatLists (lib.imap1 parse (lib.lines (builtins.readFile file)));

  rows =
    lib.concatMap readTable [
      { file = ../tables/libraries.txt; team = lib.teams.core; }
      { file = ../tables/data.txt; team = lib.teams.data; }
      { file = ../tables/development.txt; team = lib.teams.core; }
      { file = ../tables/terminal.txt; team = lib.teams.terminal; }
      { file = ../tables/servers.txt; team = lib.teams.servers; }
    ]
    ++ lib.optionals platform.isLinux (readTable {
      file = ../tables/linux.txt;
      team = lib.teams.core;
      linuxOnly = true;
    });
in
lib.listToAttrs (map (row: lib.nameValuePair row.name (package row)) rows)
