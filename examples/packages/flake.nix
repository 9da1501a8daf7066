{
  description = "A small package set to try tools on: nothing in it is meant to be built";

  # No inputs: everything is in this folder.

  outputs =
    { self }:
    let
      lib = import ./lib;

      forAllSystems = lib.genAttrs [
        "aarch64-darwin"
        "aarch64-linux"
        "x86_64-linux"
      ];

      pkgsFor = system: import ./. { inherit system; };
    in
    {
      inherit lib;

      # The whole set. Here a walk may meet packages that cannot be evaluated.
      legacyPackages = forAllSystems (
        system:
        let
          pkgs = pkgsFor system;
        in
        pkgs // { restricted = lib.recurseIntoAttrs pkgs.restricted; }
      );

      # A selection, every member of which can be evaluated.
      packages = forAllSystems (
        system:
        let
          pkgs = pkgsFor system;
        in
        {
          inherit (pkgs)
            duckdb
            hello
            jless
            jq
            json-tools
            miller
            ripgrep
            sqlite
            ;
          default = pkgs.json-tools;
          python-with-json = pkgs.python3.withPackages (ps: [
            ps.orjson
            ps.jsonschema
          ]);
        }
      );

      devShells = forAllSystems (
        system:
        let
          pkgs = pkgsFor system;
        in
        {
          default = pkgs.stdenv.mkDerivation {
            name = "json-shell";
            nativeBuildInputs = [
              pkgs.jq
              pkgs.json-tools
            ];
          };
        }
      );

      checks = forAllSystems (system: {
        inherit ((pkgsFor system).hello.tests) run;
      });

      apps = forAllSystems (system: rec {
        default = jq;
        jq = {
          type = "app";
          program = lib.getExe (pkgsFor system).jq;
        };
      });

      overlays.default = final: prev: {
        hello = prev.hello.overrideAttrs (old: {
          version = "2.12.1-loud";
          patches = old.patches or [ ] ++ [ ./overlays/loud.patch ];
        });
      };
    };
}
