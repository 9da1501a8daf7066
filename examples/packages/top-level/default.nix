# Walks through the stages of the bootstrap; the set of the last one is the result.
#
# Every stage is a whole package set, lazily evaluated, whose `stdenv` is made of packages of the
# stage before it.
{
  lib,
  config,
  system,
  overlays,
}:
let
  platform = lib.systems.elaborate system;
  makeStage = import ./stage.nix { inherit lib config platform overlays; };
  stages = import ../stdenv/stages.nix { inherit lib config platform; };
in
lib.foldl' (prev: stage: makeStage (stage prev)) null stages
