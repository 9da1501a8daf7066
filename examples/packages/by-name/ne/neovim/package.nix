{
  lib,
  stdenv,
  fetchFromGitHub,
  cmake,
  gettext,
  lua5_1,
  libuv,
  tree-sitter,
  symlinkJoin,
  viAlias ? false,
  vimAlias ? false,
}:
let
  unwrapped = stdenv.mkDerivation (finalAttrs: {
    pname = "neovim-unwrapped";
    version = "0.10.2";
    src = fetchFromGitHub {
      owner = "neovim";
      repo = "neovim";
      rev = "v${finalAttrs.version}";
    };
    nativeBuildInputs = [
      cmake
      gettext
    ];
    buildInputs = [
      lua5_1
      libuv
      tree-sitter
    ];
    passthru.lua = lua5_1;
  });
in
symlinkJoin {
  name = "neovim-${unwrapped.version}";
  pname = "neovim";
  inherit (unwrapped) version;
  paths = [ unwrapped ];
  postBuild = lib.concatStrings [
    (lib.optionalString viAlias ''ln -s nvim "$out/bin/vi";'')
    (lib.optionalString vimAlias ''ln -s nvim "$out/bin/vim";'')
  ];
  passthru = { inherit unwrapped; };
  meta = {
    description = "Vim, rebuilt to be extended";
    homepage = "https://neovim.io";
    license = with lib.licenses; [
      asl20
      vim
    ];
    mainProgram = "nvim";
    maintainers = [ lib.teams.terminal ];
  };
}
