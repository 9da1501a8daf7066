{
  lib,
  stdenv,
  fetchFromGitHub,
  cmake,
}:
stdenv.mkDerivation rec {
  pname = "jansson";
  version = "2.14";

  src = fetchFromGitHub {
    owner = "akheron";
    repo = "jansson";
    rev = "v${version}";
  };

  nativeBuildInputs = [ cmake ];
  cmakeFlags = [
    "-DJANSSON_BUILD_DOCS=OFF"
    "-DJANSSON_BUILD_SHARED_LIBS=ON"
  ];

  meta = {
    description = "C library to encode, decode and manipulate JSON data";
    homepage = "https://github.com/akheron/jansson";
    license = lib.licenses.mit;
    maintainers = [ lib.teams.core ];
  };
}
