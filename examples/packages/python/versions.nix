# The Python versions of this set; `python3` is named in `top-level/all-packages.nix`.
[
  { version = "3.11.10"; }
  { version = "3.12.6"; }
  {
    version = "3.13.0";
    freeThreading = true;
  }
]
