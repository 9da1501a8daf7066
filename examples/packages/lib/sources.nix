# Source trees that lie on this disk.
{ lib }:
{
  # A copy of `src` with only the files whose names end in one of `suffixes`.
  filesBySuffix =
    src: suffixes:
    builtins.path {
      name = "source";
      path = src;
      filter = path: type: type == "directory" || lib.any (suffix: lib.hasSuffix suffix path) suffixes;
    };
}
