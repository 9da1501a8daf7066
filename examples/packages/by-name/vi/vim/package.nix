{
  lib,
  stdenv,
  fetchFromGitHub,
  ncurses,
  python3,
  lua5_4,
  features ? "huge",
  pythonSupport ? false,
  luaSupport ? false,
}:
assert lib.elem features [
  "tiny"
  "normal"
  "huge"
];
stdenv.mkDerivation rec {
  pname = "vim";
  version = "9.1.0765";

  src = fetchFromGitHub {
    owner = "vim";
    repo = "vim";
    rev = "v${version}";
  };

  buildInputs = [ ncurses ] ++ lib.optional pythonSupport python3 ++ lib.optional luaSupport lua5_4;
  configureFlags = [
    "--with-features=${features}"
    (lib.enableFeature pythonSupport "python3interp")
    (lib.enableFeature luaSupport "luainterp")
  ];

  meta = {
    description = "Text editor, vi improved";
    homepage = "https://www.vim.org";
    license = lib.licenses.vim;
    mainProgram = "vim";
    maintainers = [ lib.teams.terminal ];
  };
}
