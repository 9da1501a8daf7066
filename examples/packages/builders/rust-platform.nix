# Rust programs: the crates are fetched by a derivation of their own, the rest is cargo.
{
  lib,
  stdenv,
  stdenvNoCC,
  cargo,
  rustc,
}:
let
  fetchCargoVendor =
    {
      name,
      src,
      hash,
    }:
    stdenvNoCC.mkDerivation {
      name = "${name}-crates";
      inherit src;
      nativeBuildInputs = [ cargo ];
      dontConfigure = true;
      buildPhase = ''cargo vendor --locked "$out" > /dev/null'';
      installPhase = ":";
      outputHash = hash;
      outputHashAlgo = "sha256";
      outputHashMode = "recursive";
    };
in
{
  inherit fetchCargoVendor;
  rust = { inherit cargo rustc; };

  buildRustPackage = lib.makeOverridable (
    {
      pname,
      version,
      src,
      cargoHash,
      buildFeatures ? [ ],
      buildNoDefaultFeatures ? false,
      nativeBuildInputs ? [ ],
      meta ? { },
      ...
    }@args:
    stdenv.mkDerivation (
      removeAttrs args [ "cargoHash" ]
      // {
        cargoDeps = fetchCargoVendor {
          name = "${pname}-${version}";
          inherit src;
          hash = cargoHash;
        };
        nativeBuildInputs = nativeBuildInputs ++ [
          cargo
          rustc
        ];
        cargoFlags =
          lib.optional buildNoDefaultFeatures "--no-default-features"
          ++ lib.optional (buildFeatures != [ ]) "--features=${lib.concatStringsSep "," buildFeatures}";
        configurePhase = ''
          mkdir -p .cargo
          printf '[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\ndirectory = "%s"\n' "$cargoDeps" > .cargo/config.toml
        '';
        buildPhase = "cargo build --release --frozen $cargoFlags";
        installPhase = args.installPhase or ''
          find target/release -maxdepth 1 -type f -executable -exec install -D -t "$out/bin" {} +
        '';
        meta = {
          mainProgram = pname;
          platforms = lib.platforms.unix;
        }
        // meta;
      }
    )
  );
}
