//! Operators: equality, order, arithmetic, `//` and `++`.

use std::cmp::Ordering;

use raddle_nix_syntax::{Pos, sym};
use smallvec::SmallVec;

use super::expect::show_type;
use super::{Cx, Error, ErrorKind, Result, Trace};
use crate::compile::Code;
use crate::compile::code::{Binary, Op};
use crate::print;
use crate::value::env::Env;
use crate::value::{Attrs, List, Type, Value, View};

impl Cx<'_> {
    /// Compares two operands of `==`: functions are never equal.
    pub(crate) fn equal_direct(&self, a: Value, b: Value, pos: Pos) -> Result<bool> {
        self.equal(a, b, pos, false)
    }

    /// Compares two members of lists or sets: the same function is equal to itself.
    pub(crate) fn equal_members(&self, a: Value, b: Value, pos: Pos) -> Result<bool> {
        self.equal(a, b, pos, true)
    }

    #[expect(clippy::float_cmp, reason = "the language compares floats exactly")]
    fn equal(&self, a: Value, b: Value, pos: Pos, members: bool) -> Result<bool> {
        let (a, b) = (self.force(a)?, self.force(b)?);
        if members && a == b {
            return Ok(true);
        }
        Ok(match (a.view(), b.view()) {
            (View::Int(x), View::Int(y)) => x == y,
            (View::Float(x), View::Float(y)) => x == y,
            (View::Int(x), View::Float(y)) => x as f64 == y,
            (View::Float(x), View::Int(y)) => x == y as f64,
            (View::Str(x), View::Str(y)) => x.as_bytes() == y.as_bytes(),
            (View::Path(x), View::Path(y)) => x == y,
            (View::Bool(_) | View::Null, _) => a == b,
            (View::List(x), View::List(y)) => return self.equal_lists(x, y, pos),
            (View::Attrs(x), View::Attrs(y)) => return self.equal_sets(x, y, pos),
            _ => false,
        })
    }

    fn equal_lists(&self, x: List, y: List, pos: Pos) -> Result<bool> {
        if x.len() != y.len() {
            return Ok(false);
        }
        self.check_stack()?;
        for (a, b) in x.iter().zip(y.iter()) {
            if !self.equal_members(a, b, pos)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn equal_sets(&self, x: Attrs, y: Attrs, pos: Pos) -> Result<bool> {
        self.check_stack()?;
        // Two derivations are equal when they have the same output path.
        if self.is_derivation(x)?
            && self.is_derivation(y)?
            && let (Some(a), Some(b)) = (x.get(sym::OUT_PATH), y.get(sym::OUT_PATH))
        {
            return self.equal_members(a.get(), b.get(), pos);
        }
        let (x, y) = (x.flat(self.heap()), y.flat(self.heap()));
        if x.len() != y.len() {
            return Ok(false);
        }
        let (xs, ys) = (x.sorted(self.heap()), y.sorted(self.heap()));
        if xs.iter().zip(&ys).any(|(a, b)| a.name != b.name) {
            return Ok(false);
        }
        for (a, b) in xs.iter().zip(&ys) {
            if !self.equal_members(a.value(), b.value(), pos)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether `type` is `"derivation"`.
    pub(crate) fn is_derivation(&self, attrs: Attrs) -> Result<bool> {
        let Some(slot) = attrs.get(sym::TYPE) else { return Ok(false) };
        Ok(match self.force_slot(slot)?.view() {
            View::Str(s) => s.as_bytes() == b"derivation",
            _ => false,
        })
    }

    /// Compares two values as `<` does.
    pub(crate) fn compare(&self, a: Value, b: Value, pos: Pos) -> Result<Ordering> {
        let (a, b) = (self.force(a)?, self.force(b)?);
        Ok(match (a.view(), b.view()) {
            (View::Int(x), View::Int(y)) => x.cmp(&y),
            // Not a number is neither smaller nor greater than anything.
            (View::Float(x), View::Float(y)) => x.partial_cmp(&y).unwrap_or(Ordering::Equal),
            (View::Int(x), View::Float(y)) => (x as f64).partial_cmp(&y).unwrap_or(Ordering::Equal),
            (View::Float(x), View::Int(y)) => x.partial_cmp(&(y as f64)).unwrap_or(Ordering::Equal),
            (View::Str(x), View::Str(y)) => x.as_bytes().cmp(y.as_bytes()),
            (View::Path(x), View::Path(y)) => x.cmp(y),
            (View::List(x), View::List(y)) => return self.compare_lists(x, y, pos),
            _ => {
                let (x, y) = (print::short(a), print::short(b));
                let values = if a.type_of() == b.type_of() {
                    format!("values of that type are incomparable (values are {x} and {y})")
                } else {
                    format!("values are {x} and {y}")
                };
                let message =
                    format!("cannot compare {} with {}; {values}", show_type(a), show_type(b));
                return Err(Error::new(ErrorKind::Type, pos, message));
            }
        })
    }

    fn compare_lists(&self, x: List, y: List, pos: Pos) -> Result<Ordering> {
        self.check_stack()?;
        for (a, b) in x.iter().zip(y.iter()) {
            if self.equal_members(a, b, pos)? {
                continue;
            }
            return self
                .compare(a, b, pos)
                .trace(pos, || "while comparing two list elements".to_owned());
        }
        Ok(x.len().cmp(&y.len()))
    }

    /// Evaluates `-`, `*`, `/` or an order, as a call of the built-in that it stands for.
    pub(super) fn arithmetic_code(&self, binary: &'static Binary, env: Env) -> Result<Value> {
        let Binary { op, lhs, rhs, pos, .. } = binary;
        // `a > b` is `b < a`, and the first argument is evaluated first.
        let operands = if matches!(op, Op::Greater | Op::LessEq) {
            self.eval(rhs, env).and_then(|b| Ok((self.eval(lhs, env)?, b)))
        } else {
            self.eval(lhs, env).and_then(|a| Ok((a, self.eval(rhs, env)?)))
        };
        match operands.and_then(|(a, b)| self.arithmetic(*op, a, b, Pos::NONE)) {
            Ok(value) => Ok(value),
            Err(error) => Err(call_frames(error, *op, *pos)),
        }
    }

    /// Computes `-`, `*`, `/` and the four orders.
    pub(crate) fn arithmetic(&self, op: Op, a: Value, b: Value, pos: Pos) -> Result<Value> {
        match op {
            Op::Less => return Ok(Value::bool(self.compare(a, b, pos)?.is_lt())),
            Op::Greater => return Ok(Value::bool(self.compare(b, a, pos)?.is_lt())),
            Op::LessEq => return Ok(Value::bool(!self.compare(b, a, pos)?.is_lt())),
            Op::GreaterEq => return Ok(Value::bool(!self.compare(a, b, pos)?.is_lt())),
            _ => {}
        }
        let name = match op {
            Op::Sub => "argument of the subtraction",
            Op::Mul => "argument of the multiplication",
            _ => "operand of the division",
        };
        let first = || format!("while evaluating the first {name}");
        let second = || format!("while evaluating the second {name}");
        let (a, b) = (self.force(a)?, self.force(b)?);
        // The divisor is looked at before the dividend.
        if op == Op::Div && self.force_float(b, pos, second)? == 0.0 {
            return Err(Error::new(ErrorKind::Other, pos, "division by zero"));
        }
        if matches!(a.view(), View::Float(_)) || matches!(b.view(), View::Float(_)) {
            let x = self.force_float(a, pos, first)?;
            let y = self.force_float(b, pos, second)?;
            return Ok(self.float(match op {
                Op::Sub => x - y,
                Op::Mul => x * y,
                _ => x / y,
            }));
        }
        let x = self.force_int(a, pos, first)?;
        let y = self.force_int(b, pos, second)?;
        let (result, verb, sign) = match op {
            Op::Sub => (x.checked_sub(y), "subtracting", '-'),
            Op::Mul => (x.checked_mul(y), "multiplying", '*'),
            _ => (x.checked_div(y), "dividing", '/'),
        };
        match result {
            Some(i) => Ok(self.int(i)),
            None => {
                let message = format!("integer overflow in {verb} {x} {sign} {y}");
                Err(Error::new(ErrorKind::Other, pos, message))
            }
        }
    }

    /// Adds two numbers.
    pub(crate) fn add_numbers(&self, a: Value, b: Value, pos: Pos) -> Result<Value> {
        match (a.view(), b.view()) {
            (View::Int(x), View::Int(y)) => match x.checked_add(y) {
                Some(i) => Ok(self.int(i)),
                None => {
                    let message = format!("integer overflow in adding {x} + {y}");
                    Err(Error::new(ErrorKind::Other, pos, message))
                }
            },
            (View::Int(x), View::Float(y)) => Ok(self.float(x as f64 + y)),
            (View::Float(x), View::Int(y)) => Ok(self.float(x + y as f64)),
            (View::Float(x), View::Float(y)) => Ok(self.float(x + y)),
            _ => {
                let to = if matches!(a.view(), View::Float(_)) { "a float" } else { "an integer" };
                let message = format!("cannot add {} to {to}", show_type(b));
                Err(Error::new(ErrorKind::Type, pos, message))
            }
        }
    }

    pub(super) fn update_code(&self, binary: &'static Binary, env: Env) -> Result<Value> {
        let Binary { lhs, rhs, lhs_pos, rhs_pos, .. } = binary;
        let text = || "in the left operand of '//'".to_owned();
        let a = self.eval(lhs, env).trace(*lhs_pos, text)?;
        let a = self.expect_attrs(a, *lhs_pos, text)?;
        let text = || "in the right operand of '//'".to_owned();
        let b = self.eval(rhs, env).trace(*rhs_pos, text)?;
        let b = self.expect_attrs(b, *rhs_pos, text)?;
        Ok(self.update(a, b).into())
    }

    /// Returns `a // b`.
    pub(crate) fn update(&self, a: Attrs, b: Attrs) -> Attrs {
        let (attrs, copied) = a.update(self.heap(), b);
        self.worker.stats.updates.add(1);
        self.worker.stats.update_copies.add(copied);
        attrs
    }

    /// Concatenates a whole chain of `++` at once.
    pub(super) fn concat_code(&self, binary: &'static Binary, env: Env) -> Result<Value> {
        let mut lists: SmallVec<[List; 4]> = SmallVec::new();
        let mut node = binary;
        loop {
            let operand = self
                .eval(&node.lhs, env)
                .trace(node.lhs_pos, || "in the left operand of '++'".to_owned())?;
            lists.push(self.concat_operand(operand, node.pos)?);
            match &node.rhs {
                Code::Binary(next) if next.op == Op::Concat => node = next,
                last => {
                    let operand = self
                        .eval(last, env)
                        .trace(node.rhs_pos, || "in the right operand of '++'".to_owned())?;
                    lists.push(self.concat_operand(operand, node.pos)?);
                    break;
                }
            }
        }
        self.worker.stats.list_concats.add(lists.len() - 1);
        Ok(self.concat_lists(&lists))
    }

    fn concat_operand(&self, value: Value, pos: Pos) -> Result<List> {
        match value.view() {
            View::List(list) => Ok(list),
            _ => {
                let error = self.type_error(Type::List, value, Pos::NONE);
                Err(error.frame(pos, "while evaluating one of the elements to concatenate"))
            }
        }
    }

    /// Returns the concatenation of lists.
    pub(crate) fn concat_lists(&self, lists: &[List]) -> Value {
        let len: usize = lists.iter().map(|list| list.len()).sum();
        if let Some(&only) = lists.iter().find(|list| list.len() == len) {
            return only.into();
        }
        let mut values = lists.iter().flat_map(|list| list.iter());
        self.list_from_fn(len, |_| values.next().unwrap_or(Value::NULL))
    }
}

/// Adds the frames of the calls that an operator stands for.
#[cold]
fn call_frames(error: Error, op: Op, pos: Pos) -> Error {
    let name = match op {
        Op::Sub => "sub",
        Op::Mul => "mul",
        Op::Div => "div",
        _ => "lessThan",
    };
    let error = error.frame(pos, format!("while calling the '{name}' builtin"));
    match op {
        Op::LessEq | Op::GreaterEq => error.frame(pos, "in the argument of '!'"),
        _ => error,
    }
}

impl Cx<'_> {
    /// Returns an error that says where two values differ, if they do.
    pub(super) fn explain_difference(&self, a: Value, b: Value, pos: Pos) -> Result<()> {
        self.difference(a, b, pos, false)
    }

    fn difference(&self, a: Value, b: Value, pos: Pos, members: bool) -> Result<()> {
        let (a, b) = (self.force(a)?, self.force(b)?);
        if self.equal(a, b, pos, members)? {
            return Ok(());
        }
        self.check_stack()?;
        let (x, y) = (print::short(a), print::short(b));
        let message = match (a.view(), b.view()) {
            (View::Str(_), View::Str(_)) => format!("string '{x}' is not equal to string '{y}'"),
            (View::Path(_), View::Path(_)) => format!("path '{x}' is not equal to path '{y}'"),
            (View::Int(_) | View::Float(_), View::Int(_) | View::Float(_)) => format!(
                "{} with value '{x}' is not equal to {} with value '{y}'",
                show_type(a),
                show_type(b)
            ),
            (View::Bool(_), View::Bool(_)) => {
                format!("boolean '{x}' is not equal to boolean '{y}'")
            }
            (View::Function(_), View::Function(_)) => {
                "distinct functions and immediate comparisons of identical functions compare as unequal".to_owned()
            }
            (View::List(l), View::List(r)) if l.len() != r.len() => format!(
                "list of size '{}' is not equal to list of size '{}', left hand side is '{x}', right hand side is '{y}'",
                l.len(),
                r.len(),
            ),
            (View::List(l), View::List(r)) => {
                for (i, (a, b)) in l.iter().zip(r.iter()).enumerate() {
                    self.difference(a, b, pos, true)
                        .trace(pos, || format!("while comparing list element {i}"))?;
                }
                return Ok(());
            }
            (View::Attrs(l), View::Attrs(r)) => {
                if !self.set_difference(l, r, pos)? {
                    return Ok(());
                }
                format!("attribute names of attribute set '{x}' differs from attribute set '{y}'")
            }
            _ => format!(
                "{} of value '{x}' is not equal to {} of value '{y}'",
                show_type(a),
                show_type(b)
            ),
        };
        Err(Error::new(ErrorKind::Assertion, Pos::NONE, message))
    }

    /// Returns an error that says where two sets differ; true if they have different names.
    fn set_difference(&self, l: Attrs, r: Attrs, pos: Pos) -> Result<bool> {
        if self.is_derivation(l)?
            && self.is_derivation(r)?
            && let (Some(a), Some(b)) = (l.get(sym::OUT_PATH), r.get(sym::OUT_PATH))
        {
            self.difference(a.get(), b.get(), pos, true).trace(pos, || {
                "while comparing a derivation by its 'outPath' attribute".to_owned()
            })?;
            return Ok(false);
        }
        let (xs, ys) = (l.sorted(self.heap()), r.sorted(self.heap()));
        if xs.len() != ys.len() || xs.iter().zip(&ys).any(|(a, b)| a.name != b.name) {
            return Ok(true);
        }
        for (a, b) in xs.iter().zip(&ys) {
            self.difference(a.value(), b.value(), pos, true).map_err(|error| {
                let name = String::from_utf8_lossy(a.name.as_bytes());
                error
                    .frame(b.pos, "where right hand side is")
                    .frame(a.pos, "where left hand side is")
                    .frame(pos, format!("while comparing attribute '{name}'"))
            })?;
        }
        Ok(false)
    }
}
