# A project on GitHub: an archive, or a checkout where an archive would lack the submodules.
{ fetchzip, fetchgit }:
{
  owner,
  repo,
  rev,
  fetchSubmodules ? false,
  ...
}@args:
let
  rest = removeAttrs args [
    "owner"
    "repo"
    "rev"
    "fetchSubmodules"
  ];
  homepage = "https://github.com/${owner}/${repo}";
in
(
  if fetchSubmodules then
    fetchgit ({ inherit rev fetchSubmodules; url = "${homepage}.git"; } // rest)
  else
    fetchzip ({ url = "${homepage}/archive/${rev}.tar.gz"; } // rest)
)
// {
  inherit owner repo rev homepage;
}
