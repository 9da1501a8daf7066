# Small things about functions, numbers and files.
{ lib }:
{
  inherit (builtins)
    add
    bitAnd
    bitOr
    bitXor
    div
    isBool
    isInt
    isList
    isPath
    isString
    lessThan
    mul
    pathExists
    readFile
    seq
    sub
    toJSON
    typeOf
    ;

  id = x: x;
  const = x: _: x;
  flip = f: a: b: f b a;
  compose = f: g: x: f (g x);
  pipe = builtins.foldl' (x: f: f x);

  min = a: b: if a < b then a else b;
  max = a: b: if a > b then a else b;
  mod = a: b: a - b * (a / b);
  boolToString = b: if b then "true" else "false";

  importJSON = file: builtins.fromJSON (builtins.readFile file);
  importTOML = file: builtins.fromTOML (builtins.readFile file);

  # A set with `__functor` counts as a function, as it does for the language itself.
  isFunction = f: builtins.isFunction f || (f ? __functor && lib.isFunction (f.__functor f));

  functionArgs =
    f:
    if f ? __functor then
      f.__functionArgs or (lib.functionArgs (f.__functor f))
    else
      builtins.functionArgs f;

  # A function that behaves like `f` and reports `args` as its arguments.
  setFunctionArgs = f: args: {
    __functor = _: f;
    __functionArgs = args;
  };

  toFunction = x: if lib.isFunction x then x else _: x;

  throwIf = wrong: message: x: if wrong then throw message else x;
  throwIfNot = right: lib.throwIf (!right);
}
