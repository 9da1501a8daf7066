# Sets that refer to their own final form, and ways to change them before it is final.
#
# An overlay is a function `final: prev: { … }`: `prev` is what the layers below made, `final` is
# what everybody will see in the end.
{ lib }:
{
  fix = f: let x = f x; in x;

  # Applies `f` until the value no longer changes.
  converge =
    f: x:
    let
      next = f x;
    in
    if next == x then x else lib.converge f next;

  # Puts one overlay on top of the recipe `below`.
  extends =
    overlay: below: final:
    let
      prev = below final;
    in
    prev // overlay final prev;

  composeExtensions =
    first: second: final: prev:
    let
      one = first final prev;
    in
    one // second final (prev // one);

  composeManyExtensions = lib.foldr lib.composeExtensions (_: _: { });

  makeExtensible =
    recipe:
    lib.fix recipe
    // {
      extend = overlay: lib.makeExtensible (lib.extends overlay recipe);
    };
}
