# Lists.
{ lib }:
let
  inherit (builtins)
    elemAt
    genList
    length
    ;
in
{
  inherit (builtins)
    all
    any
    concatLists
    concatMap
    elem
    elemAt
    filter
    foldl'
    genList
    groupBy
    head
    length
    partition
    sort
    tail
    ;

  singleton = x: [ x ];
  optional = wanted: x: if wanted then [ x ] else [ ];
  optionals = wanted: xs: if wanted then xs else [ ];
  toList = x: if builtins.isList x then x else [ x ];

  foldr =
    f: end: xs:
    let
      count = length xs;
      from = i: if i == count then end else f (elemAt xs i) (from (i + 1));
    in
    from 0;

  range = first: last: if first > last then [ ] else genList (i: first + i) (last - first + 1);
  imap0 = f: xs: genList (i: f i (elemAt xs i)) (length xs);
  imap1 = f: lib.imap0 (i: f (i + 1));
  last = xs: assert xs != [ ]; elemAt xs (length xs - 1);
  init = xs: lib.take (length xs - 1) xs;
  take = n: xs: genList (elemAt xs) (lib.max 0 (lib.min n (length xs)));
  drop = n: xs: genList (i: elemAt xs (i + n)) (lib.max 0 (length xs - n));
  reverseList = xs: genList (i: elemAt xs (length xs - 1 - i)) (length xs);

  zipListsWith =
    f: xs: ys:
    genList (i: f (elemAt xs i) (elemAt ys i)) (lib.min (length xs) (length ys));

  remove = x: builtins.filter (y: y != x);
  subtractLists = gone: builtins.filter (x: !builtins.elem x gone);
  intersectLists = xs: builtins.filter (x: builtins.elem x xs);
  count = pred: xs: length (builtins.filter pred xs);
  findFirst =
    pred: default: xs:
    let
      found = builtins.filter pred xs;
    in
    if found == [ ] then default else builtins.head found;

  # Keeps the first of several equal elements.
  unique = builtins.foldl' (seen: x: if builtins.elem x seen then seen else seen ++ [ x ]) [ ];

  flatten = x: if builtins.isList x then builtins.concatMap lib.flatten x else [ x ];
}
