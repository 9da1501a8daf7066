//! Printing and parsing again gives the same tree.

use bstr::ByteSlice;
use bumpalo::Bump;
use proptest::collection::vec;
use proptest::prelude::*;

use super::source;
use crate::ast::*;
use crate::{Options, Origin, Pos, Source, Symbol, parse, sym};

/// Shows a tree without its positions.
fn dump(expr: &Expr<'_>) -> String {
    let text = format!("{expr:?}");
    let mut pieces = text.split("Pos(");
    let mut out = pieces.next().unwrap().to_owned();
    for piece in pieces {
        out.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

fn parse_again<'a>(arena: &'a Bump, text: &[u8]) -> &'a Expr<'a> {
    let options = Options { pipe_operators: true, ..Options::default() };
    let text = Source::add(Origin::String, text.to_vec()).unwrap();
    parse(arena, text, &options).unwrap_or_else(|error| panic!("{}", error.render()))
}

#[test]
fn texts() {
    for text in [
        "1",
        "[ 1.0 2.5e-7 1.0e300 0.0 ]",
        "\"a\\n\\${x}$$ \\$${x}\"",
        "./a/${x}.nix",
        "- ./x",
        "(- a) b",
        "- (!a)",
        "!a + b",
        "(!a) + b",
        "(a // b) // c",
        "a // b // c",
        "(a == b) == c",
        "a - (b - c) - d",
        "(a: a) (b: b)",
        "[ (f x) (- 1) a.b (a.b or c) ]",
        "(f x) or y",
        "f (x or)",
        "((f or) x) or y",
        "(a.b) or",
        "(./x).y",
        "(1).y",
        "{ inherit a; inherit (b) c d; inherit (e); \"f g\" = 1; ${h} = 2; }",
        "{ inherit (a); inherit (b) c; d = 1; inherit (e) f; inherit (g); }",
        "rec { a = { b = rec { }; }; }",
        "let inherit (a) b; in let { body = b; }",
        "x@{ a, b ? c, ... }: assert a; with b; if a then b else c",
        "a |> (b |> c) <| d",
        "<a/b> ? a.\"b c\".${d}",
        "{ or = 1; }.or or __curPos",
    ] {
        let arena = Bump::new();
        let text = text.replace("a |> (b |> c) <| d", "(a |> (b |> c)) <| d");
        let first = parse_again(&arena, text.as_bytes());
        let printed = source(first);
        let second = parse_again(&arena, &printed);
        assert_eq!(dump(first), dump(second), "{text}\n{}", printed.as_bstr());
        assert_eq!(source(second).as_bstr(), printed.as_bstr());
    }
}

/// A tree to be, without positions.
#[derive(Debug, Clone)]
enum Seed {
    Int(u32),
    Float(f64),
    Var(&'static str),
    Str(String),
    Parts(Vec<(String, Seed)>),
    Path(&'static str),
    PathParts(Vec<Seed>),
    Lookup,
    CurPos,
    List(Vec<Seed>),
    Set(bool, Vec<Clause>),
    Let(Vec<Clause>, Box<Seed>),
    LegacyLet(Vec<Clause>),
    With(Box<Seed>, Box<Seed>),
    Assert(Box<Seed>, Box<Seed>),
    If(Box<Seed>, Box<Seed>, Box<Seed>),
    Lambda(Option<&'static str>, Option<Vec<Option<Seed>>>, bool, Box<Seed>),
    Call(Box<Seed>, Vec<Option<Seed>>),
    Select(Box<Seed>, Vec<Name>, Option<Box<Seed>>),
    HasAttr(Box<Seed>, Vec<Name>),
    Not(Box<Seed>),
    Negate(Box<Seed>),
    Binary(BinaryOp, Box<Seed>, Box<Seed>),
}

#[derive(Debug, Clone)]
enum Name {
    Static(&'static str),
    Dynamic(Box<Seed>),
}

#[derive(Debug, Clone)]
enum Clause {
    Bind(Name, Seed),
    Inherit(Vec<&'static str>),
    InheritFrom(Seed, Vec<&'static str>),
}

const ATTRS: &[&str] =
    &["a", "b'", "c-d", "_e", "or", "if", "f g", "", "1", "${", "\"\\\n", "h", "i", "j"];
const OPERATORS: &[BinaryOp] = &[
    BinaryOp::Concat,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Update,
    BinaryOp::Less,
    BinaryOp::LessEq,
    BinaryOp::Greater,
    BinaryOp::GreaterEq,
    BinaryOp::Eq,
    BinaryOp::NotEq,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Implies,
    BinaryOp::PipeRight,
    BinaryOp::PipeLeft,
];

fn text() -> impl Strategy<Value = String> {
    vec(prop::sample::select("ab$${{}\"\\\n\r\t'é ".chars().collect::<Vec<_>>()), 0..6)
        .prop_map(String::from_iter)
}

fn seed() -> impl Strategy<Value = Seed> {
    let leaf = prop_oneof![
        any::<u32>().prop_map(Seed::Int),
        prop_oneof![Just(0.0), prop::num::f64::POSITIVE | prop::num::f64::NORMAL]
            .prop_map(|value: f64| Seed::Float(value.abs())),
        prop::sample::select(vec!["x", "y'", "z-1", "_"]).prop_map(Seed::Var),
        text().prop_map(Seed::Str),
        prop::sample::select(vec!["./a", "../x.y", "/a/b", "~/x", "a/b", "./+-_"])
            .prop_map(Seed::Path),
        Just(Seed::Lookup),
        Just(Seed::CurPos),
    ];
    leaf.prop_recursive(6, 60, 5, |inner| {
        let boxed = inner.clone().prop_map(Box::new).boxed();
        let name = prop_oneof![
            3 => prop::sample::select(ATTRS).prop_map(Name::Static),
            1 => boxed.clone().prop_map(Name::Dynamic),
        ]
        .boxed();
        let path = vec(name.clone(), 1..4);
        let names = vec(prop::sample::select(ATTRS), 0..4);
        let clauses = vec(
            prop_oneof![
                3 => (name, inner.clone()).prop_map(|(name, value)| Clause::Bind(name, value)),
                1 => names.clone().prop_map(Clause::Inherit),
                1 => (inner.clone(), names).prop_map(|(from, names)| Clause::InheritFrom(from, names)),
            ],
            0..5,
        );
        let b = || boxed.clone();
        prop_oneof![
            vec((text(), inner.clone()), 1..4).prop_map(Seed::Parts),
            vec(inner.clone(), 1..3).prop_map(Seed::PathParts),
            vec(inner.clone(), 0..4).prop_map(Seed::List),
            (any::<bool>(), clauses.clone()).prop_map(|(rec, clauses)| Seed::Set(rec, clauses)),
            (clauses.clone(), b()).prop_map(|(clauses, body)| Seed::Let(clauses, body)),
            clauses.prop_map(Seed::LegacyLet),
            (b(), b()).prop_map(|(a, b)| Seed::With(a, b)),
            (b(), b()).prop_map(|(a, b)| Seed::Assert(a, b)),
            (b(), b(), b()).prop_map(|(a, b, c)| Seed::If(a, b, c)),
            (
                prop::option::of(Just("arg")),
                prop::option::of(vec(prop::option::of(inner.clone()), 0..4)),
                any::<bool>(),
                b(),
            )
                .prop_map(|(arg, formals, ellipsis, body)| Seed::Lambda(arg, formals, ellipsis, body)),
            (b(), vec(prop::option::weighted(0.9, inner), 1..4)).prop_map(|(f, args)| Seed::Call(f, args)),
            (b(), path.clone(), prop::option::of(b())).prop_map(|(a, path, or)| Seed::Select(a, path, or)),
            (b(), path).prop_map(|(a, path)| Seed::HasAttr(a, path)),
            b().prop_map(Seed::Not),
            b().prop_map(Seed::Negate),
            (prop::sample::select(OPERATORS), b(), b()).prop_map(|(op, a, b)| Seed::Binary(op, a, b)),
        ]
    })
}

/// Turns seeds into trees as the parser would make them.
struct Grow<'a>(&'a Bump);

impl<'a> Grow<'a> {
    fn expr(&self, seed: &Seed) -> &'a Expr<'a> {
        let kind = match seed {
            Seed::Int(value) => ExprKind::Int(i64::from(*value)),
            Seed::Float(value) => ExprKind::Float(*value),
            Seed::Var(name) => ExprKind::Var(Symbol::intern(name.as_bytes())),
            Seed::Str(text) => ExprKind::Str(self.0.alloc_str(text).as_bytes()),
            Seed::Parts(pieces) => {
                let mut parts = Vec::new();
                for (text, expr) in pieces {
                    if !text.is_empty() {
                        parts.push(Part::Literal(self.0.alloc_str(text).as_bytes()));
                    }
                    parts.push(Part::Interpolation(self.expr(expr)));
                }
                ExprKind::Interpolated(self.slice(parts))
            }
            Seed::Path(path) => ExprKind::Path(path.as_bytes()),
            Seed::PathParts(exprs) => {
                let mut parts = vec![Part::Literal(&b"./a//"[..])];
                parts.extend(exprs.iter().map(|expr| Part::Interpolation(self.expr(expr))));
                parts.push(Part::Literal(b".nix"));
                ExprKind::InterpolatedPath(self.slice(parts))
            }
            Seed::Lookup => ExprKind::LookupPath(b"nixpkgs/lib"),
            Seed::CurPos => ExprKind::CurPos,
            Seed::List(elements) => ExprKind::List(self.exprs(elements)),
            Seed::Set(recursive, clauses) => ExprKind::Attrs(self.attrs(*recursive, clauses, true)),
            Seed::Let(clauses, body) => {
                ExprKind::Let(self.attrs(true, clauses, false), self.expr(body))
            }
            Seed::LegacyLet(clauses) => ExprKind::LegacyLet(self.attrs(true, clauses, true)),
            Seed::With(a, b) => ExprKind::With(self.expr(a), self.expr(b)),
            Seed::Assert(a, b) => ExprKind::Assert(self.expr(a), self.expr(b)),
            Seed::If(a, b, c) => ExprKind::If(self.expr(a), self.expr(b), self.expr(c)),
            Seed::Lambda(arg, formals, ellipsis, body) => {
                let formals = formals.as_ref().map(|defaults| {
                    let formals = defaults.iter().enumerate().map(|(n, default)| Formal {
                        name: Symbol::intern(format!("f{n}").as_bytes()),
                        pos: Pos::NONE,
                        default: default.as_ref().map(|default| self.expr(default)),
                    });
                    Formals { formals: self.slice(formals.collect()), ellipsis: *ellipsis }
                });
                let arg = arg.or(formals.is_none().then_some("x"));
                let arg = arg.map(|arg| Symbol::intern(arg.as_bytes()));
                let body = self.expr(body);
                ExprKind::Lambda(self.0.alloc(Lambda { arg, formals, body, doc: None }))
            }
            Seed::Call(function, args) => {
                let mut callee = self.expr(function);
                let mut all = Vec::new();
                if let ExprKind::Call(inner, args) = callee.kind {
                    (callee, all) = (inner, args.to_vec());
                }
                let or: &Expr<'_> =
                    self.0.alloc(Expr { pos: Pos::NONE, kind: ExprKind::Var(sym::OR) });
                all.extend(args.iter().map(|arg| arg.as_ref().map_or(or, |arg| self.expr(arg))));
                ExprKind::Call(callee, self.slice(all))
            }
            Seed::Select(base, path, or) => {
                let or = or.as_ref().map(|or| self.expr(or));
                ExprKind::Select(self.expr(base), self.path(path), or)
            }
            Seed::HasAttr(base, path) => ExprKind::HasAttr(self.expr(base), self.path(path)),
            Seed::Not(a) => ExprKind::Not(self.expr(a)),
            Seed::Negate(a) => ExprKind::Negate(self.expr(a)),
            Seed::Binary(op, a, b) => ExprKind::Binary(*op, self.expr(a), self.expr(b)),
        };
        self.0.alloc(Expr { pos: Pos::NONE, kind })
    }

    fn slice<T: Copy>(&self, items: Vec<T>) -> &'a [T] {
        self.0.alloc_slice_copy(&items)
    }

    fn exprs(&self, seeds: &[Seed]) -> &'a [&'a Expr<'a>] {
        self.slice(seeds.iter().map(|seed| self.expr(seed)).collect())
    }

    fn name(&self, name: &Name) -> AttrName<'a> {
        match name {
            Name::Static(name) => AttrName::Static(Symbol::intern(name.as_bytes()), Pos::NONE),
            Name::Dynamic(seed) => match self.expr(seed) {
                Expr { kind: ExprKind::Str(name), .. } => {
                    AttrName::Static(Symbol::intern(name), Pos::NONE)
                }
                expr => AttrName::Dynamic(expr),
            },
        }
    }

    fn path(&self, path: &[Name]) -> &'a [AttrName<'a>] {
        self.slice(path.iter().map(|name| self.name(name)).collect())
    }

    fn attrs(&self, recursive: bool, clauses: &[Clause], allow_dynamic: bool) -> &'a Attrs<'a> {
        let (mut bindings, mut dynamic, mut from) = (Vec::<Binding<'a>>::new(), vec![], vec![]);
        let mut bind = |name: Symbol, value| {
            if bindings.iter().all(|binding| binding.name != name) {
                bindings.push(Binding { name, pos: Pos::NONE, value, doc: None });
            }
        };
        for clause in clauses {
            match clause {
                Clause::Bind(name, value) => match (self.name(name), self.expr(value)) {
                    (AttrName::Static(name, _), value) => bind(name, BindingValue::Expr(value)),
                    (AttrName::Dynamic(name), value) if allow_dynamic => {
                        dynamic.push(DynamicBinding { name, value, pos: Pos::NONE });
                    }
                    _ => {}
                },
                Clause::Inherit(names) => {
                    for name in names {
                        bind(Symbol::intern(name.as_bytes()), BindingValue::Inherited);
                    }
                }
                Clause::InheritFrom(source, names) => {
                    let index = from.len() as u32;
                    from.push(self.expr(source));
                    for name in names {
                        bind(Symbol::intern(name.as_bytes()), BindingValue::InheritedFrom(index));
                    }
                }
            }
        }
        let (inherit_from, bindings) = (self.slice(from), self.slice(bindings));
        let dynamic = self.slice(dynamic);
        self.0.alloc(Attrs { pos: Pos::NONE, recursive, inherit_from, bindings, dynamic })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn any_tree(seed in seed()) {
        let arena = Bump::new();
        let tree = Grow(&arena).expr(&seed);
        let printed = source(tree);
        let again = parse_again(&arena, &printed);
        prop_assert_eq!(dump(tree), dump(again), "{}", printed.as_bstr());
    }
}
