# A Lua interpreter.
{
  lib,
  stdenv,
  fetchurl,
  readline,
  version,
}:
stdenv.mkDerivation {
  pname = "lua";
  inherit version;

  src = fetchurl { url = "https://www.lua.org/ftp/lua-${version}.tar.gz"; };
  buildInputs = [ readline ];
  dontConfigure = true;
  makeFlags = [
    "INSTALL_TOP=\${out}"
    (if stdenv.isDarwin then "macosx" else "linux")
  ];

  passthru.luaVersion = lib.versions.majorMinor version;

  meta = {
    description = "Small scripting language that is easy to embed";
    homepage = "https://www.lua.org";
    license = lib.licenses.mit;
    mainProgram = "lua";
    maintainers = [ lib.teams.core ];
  };
}
