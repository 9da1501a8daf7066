# What the bootstrap starts from, per system: a static shell and a tarball of tools. As for every
# source in this set, the hashes are valid in form and made up.
{
  aarch64-darwin = {
    shell = "sha256-Q7HWszZOHTtcFJrjZXNDlDFZcO1UUYwNyubmLsLLsDk=";
    tools = "sha256-LoFs2fOds+3CjEfN+gJwH/9+VkqC52hDwr6IIovfTwA=";
  };
  aarch64-linux = {
    shell = "sha256-UzO5NKaadMpevMbjNQYmUiKqldFYIAYsS2gZvmH1S5o=";
    tools = "sha256-pC2kno8wkpMFRjYeJDri7JpO7Rmm/0SDJ9xzk2VLlDM=";
  };
  x86_64-linux = {
    shell = "sha256-pSE3pSOGyjYLOtSyZwEvhHCHqbjeFUAEfTV9l0XFGeE=";
    tools = "sha256-Ls+ZdbF2rBzQZxEE/JKyGik5+mlfhwImR12CCWCjJas=";
  };
}
