# The packages for one Python: most come from `packages.json`, some need a word more.
{
  lib,
  stdenv,
  fetchurl,
  makeScope,
  pkgs,
  python,
  packageOverrides,
}:
let
  build =
    prefix:
    {
      pname,
      version,
      propagatedBuildInputs ? [ ],
      nativeBuildInputs ? [ ],
      pyproject ? true,
      meta ? { },
      ...
    }@args:
    stdenv.mkDerivation (
      removeAttrs args [ "pyproject" ]
      // {
        name = "${prefix}${pname}-${version}";
        nativeBuildInputs = [ python ] ++ nativeBuildInputs;
        propagatedBuildInputs = propagatedBuildInputs ++ [ python ];
        buildPhase = args.buildPhase or (
          if pyproject then "python3 -m build --wheel --no-isolation" else "python3 setup.py build"
        );
        installPhase = args.installPhase or ''
          python3 -m installer --prefix "$out" dist/*.whl
        '';
        passthru = {
          requiredPythonModules = lib.filter (pkg: pkg ? pythonModule) propagatedBuildInputs;
          pythonModule = python;
        }
        // args.passthru or { };
        meta = {
          platforms = lib.platforms.all;
          maintainers = [ lib.teams.python ];
        }
        // meta;
      }
    );

  buildPythonPackage = build "${python.executable}-";
  buildPythonApplication = build "";

  fromTable =
    self: pname: row:
    buildPythonPackage {
      inherit pname;
      inherit (row) version;
      src = fetchurl {
        url = "mirror://pypi/${lib.substring 0 1 pname}/${pname}/${pname}-${row.version}.tar.gz";
      };
      propagatedBuildInputs = map (name: self.${name}) (row.needs or [ ]);
      meta = {
        inherit (row) description;
        license = lib.licenses.${row.license or "mit"};
        homepage = "https://pypi.org/project/${pname}/";
      };
    };

  overrides = self: prev: {
    # Written in Rust.
    orjson = prev.orjson.overrideAttrs (old: {
      nativeBuildInputs = old.nativeBuildInputs ++ [
        pkgs.cargo
        pkgs.rustc
      ];
    });
    # They use libraries from outside.
    lxml = prev.lxml.overrideAttrs (old: {
      buildInputs = [
        pkgs.libxml2
        pkgs.zlib
      ];
    });
    psycopg = prev.psycopg.overrideAttrs (_: { buildInputs = [ pkgs.postgresql ]; });
    pyyaml = prev.pyyaml.overrideAttrs (_: { buildInputs = [ pkgs.libyaml ]; });
    # Tests, through an argument of our own.
    requests = prev.requests.overrideAttrs (old: {
      doCheck = true;
      nativeCheckInputs = [ self.pytest ];
    });
  };

  recipe =
    self:
    {
      inherit python buildPythonPackage buildPythonApplication;
    }
    // lib.mapAttrs (fromTable self) (lib.importJSON ./packages.json);
in
makeScope (lib.extends (lib.composeExtensions overrides packageOverrides) recipe)
