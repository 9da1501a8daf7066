{
  lib,
  buildGoModule,
  fetchFromGitHub,
}:
buildGoModule rec {
  pname = "miller";
  version = "6.12.0";

  src = fetchFromGitHub {
    owner = "johnkerl";
    repo = "miller";
    rev = "v${version}";
  };
  vendorHash = lib.madeUpHash "miller-vendor";
  subPackages = [ "cmd/mlr" ];

  outputs = [
    "out"
    "man"
  ];
  postInstall = "make -C man install PREFIX=$man";

  meta = {
    description = "Like awk, sed, cut, join and sort for CSV, TSV and tabular JSON";
    homepage = "https://miller.readthedocs.io";
    license = lib.licenses.bsd2;
    mainProgram = "mlr";
    maintainers = [ lib.teams.data ];
  };
}
