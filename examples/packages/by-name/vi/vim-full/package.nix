# The same editor with everything on: an override of the plain package.
{ vim, lib }:
let
  full = vim.override {
    pythonSupport = true;
    luaSupport = true;
  };
in
full.overrideAttrs (prev: {
  pname = "vim-full";
  meta = prev.meta // {
    description = "Text editor, vi improved, with Python and Lua";
  };
})
