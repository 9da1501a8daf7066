# Who looks after packages: teams, no persons.
{ lib }:
lib.genAttrs [
  "core"
  "data"
  "haskell"
  "javascript"
  "perl"
  "python"
  "rust"
  "servers"
  "terminal"
] (name: { name = "${name} team"; })
