//! Writes derivations as terms: the contents of `.drv` files, and the texts whose hashes give output paths.
//!
//! The three texts that one derivation needs differ only in the output paths and in how the input
//! derivations are called. So what follows the inputs, which is nearly everything, is written once
//! as a [`Tail`], with holes where the environment has the derivation's own output paths.

use std::collections::{BTreeMap, BTreeSet};

use bstr::BString;

use super::{Derivation, Output};
use crate::hash::hex;
use crate::path::Method;

impl Derivation {
    /// Returns the contents of the `.drv` file.
    pub fn to_bytes(&self) -> Vec<u8> {
        Tail::of(self).to_file(self)
    }
}

/// Everything after the input derivations.
pub(super) struct Tail {
    text: Vec<u8>,
    /// Where in `text` the path of which output is missing, in order.
    holes: Vec<(usize, String)>,
}

impl Tail {
    /// Writes the tail without leaving holes.
    pub(super) fn of(derivation: &Derivation) -> Tail {
        Tail::write(derivation, |_| None)
    }

    /// Writes the tail with a hole for each environment variable that is called like an output.
    ///
    /// Those variables must be empty.
    pub(super) fn with_holes(derivation: &Derivation) -> Tail {
        Tail::write(derivation, |key| {
            let output = str::from_utf8(key).ok()?;
            derivation.outputs.get_key_value(output).map(|(output, _)| output.clone())
        })
    }

    fn write(derivation: &Derivation, hole: impl Fn(&BString) -> Option<String>) -> Tail {
        let mut text = Vec::with_capacity(tail_len(derivation));
        let mut holes = Vec::new();
        text.extend_from_slice(b",[");
        write_list(&mut text, &derivation.input_srcs, write_raw);
        text.extend_from_slice(b"],");
        // Nix escapes nothing in the platform.
        write_raw(&mut text, &derivation.platform);
        text.push(b',');
        write_string(&mut text, &derivation.builder);
        text.extend_from_slice(b",[");
        write_list(&mut text, &derivation.args, |text, arg| write_string(text, arg));
        text.extend_from_slice(b"],[");
        write_list(&mut text, &derivation.env, |text, (key, value)| {
            text.push(b'(');
            write_string(text, key);
            text.push(b',');
            if let Some(output) = hole(key) {
                holes.push((text.len() + 1, output));
            }
            write_string(text, value);
            text.push(b')');
        });
        text.extend_from_slice(b"])");
        Tail { text, holes }
    }

    /// Returns the tail with the holes left empty.
    pub(super) fn masked(&self) -> &[u8] {
        &self.text
    }

    /// Returns the tail in pieces, with the paths of `outputs` in the holes.
    pub(super) fn pieces<'t>(&'t self, outputs: &'t BTreeMap<String, Output>) -> Vec<&'t [u8]> {
        let mut pieces = Vec::with_capacity(self.holes.len() * 2 + 1);
        let mut from = 0;
        for (at, output) in &self.holes {
            pieces.push(&self.text[from..*at]);
            if let Some(path) = outputs.get(output).and_then(Output::path) {
                pieces.push(path.as_bytes());
            }
            from = *at;
        }
        pieces.push(&self.text[from..]);
        pieces
    }

    /// Returns the contents of the file of `derivation`, whose tail this is.
    pub(super) fn to_file(&self, derivation: &Derivation) -> Vec<u8> {
        let mut text = self.buffer_for_text(derivation);
        write_outputs(&mut text, &derivation.outputs);
        write_input_drvs(&mut text, &derivation.input_drvs);
        for piece in self.pieces(&derivation.outputs) {
            text.extend_from_slice(piece);
        }
        text
    }

    /// Returns an empty buffer in which the whole file will find room.
    fn buffer_for_text(&self, derivation: &Derivation) -> Vec<u8> {
        let inputs = derivation.input_drvs.iter().map(|(path, outputs)| {
            path.len() + 8 + outputs.iter().map(|output| output.len() + 3).sum::<usize>()
        });
        let outputs = derivation.outputs.len() * 320;
        Vec::with_capacity(self.text.len() + inputs.sum::<usize>() + outputs + 64)
    }
}

/// Returns about how long the tail will be.
fn tail_len(derivation: &Derivation) -> usize {
    let srcs: usize = derivation.input_srcs.iter().map(|path| path.len() + 3).sum();
    let args: usize = derivation.args.iter().map(|arg| arg.len() + 8).sum();
    let env: usize =
        derivation.env.iter().map(|(k, v)| k.len() + v.len() + v.len() / 16 + 16).sum();
    srcs + args + env + derivation.platform.len() + derivation.builder.len() + 64
}

/// Writes the beginning of the term up to the input derivations.
pub(super) fn write_outputs(text: &mut Vec<u8>, outputs: &BTreeMap<String, Output>) {
    text.extend_from_slice(b"Derive([");
    write_list(text, outputs, |text, (name, output)| {
        let path = output.path().map_or("", |path| path.as_str());
        let algorithm = |method: Method, algorithm| format!("{}{algorithm}", method.prefix());
        let (algorithm, hash) = match *output {
            Output::InputAddressed(_) | Output::Deferred => (String::new(), String::new()),
            Output::Fixed { method, ref hash, .. } => {
                (algorithm(method, hash.algorithm()), hex(hash.as_bytes()))
            }
            Output::Floating { method, algorithm: a } => (algorithm(method, a), String::new()),
            Output::Impure { method, algorithm: a } => (algorithm(method, a), "impure".to_owned()),
        };
        write_output(text, name, path, &algorithm, &hash);
    });
    text.extend_from_slice(b"],");
}

/// As [`write_outputs`], as if no path were known.
pub(super) fn write_masked_outputs(text: &mut Vec<u8>, outputs: &BTreeMap<String, Output>) {
    text.extend_from_slice(b"Derive([");
    write_list(text, outputs.keys(), |text, name| write_output(text, name, "", "", ""));
    text.extend_from_slice(b"],");
}

fn write_output(text: &mut Vec<u8>, name: &str, path: &str, algorithm: &str, hash: &str) {
    text.push(b'(');
    write_list(text, [name, path, algorithm, hash], write_raw);
    text.push(b')');
}

/// Writes the input derivations, called by `keys` and in that order.
pub(super) fn write_input_drvs<'i, K: AsRef<[u8]>>(
    text: &mut Vec<u8>,
    inputs: impl IntoIterator<Item = (K, &'i BTreeSet<String>)>,
) {
    text.push(b'[');
    write_list(text, inputs, |text, (key, outputs)| {
        text.push(b'(');
        write_raw(text, key.as_ref());
        text.extend_from_slice(b",[");
        write_list(text, outputs, write_raw);
        text.extend_from_slice(b"])");
    });
    text.push(b']');
}

fn write_list<I: IntoIterator>(
    text: &mut Vec<u8>,
    items: I,
    mut write: impl FnMut(&mut Vec<u8>, I::Item),
) {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            text.push(b',');
        }
        write(text, item);
    }
}

/// Writes a string that needs no escapes.
fn write_raw(text: &mut Vec<u8>, string: impl AsRef<[u8]>) {
    text.push(b'"');
    text.extend_from_slice(string.as_ref());
    text.push(b'"');
}

/// Writes a string with escapes.
fn write_string(text: &mut Vec<u8>, string: &[u8]) {
    text.push(b'"');
    // Most blocks have nothing to escape; the test for a whole block compiles to a few vector
    // instructions.
    let (blocks, rest) = string.as_chunks::<BLOCK>();
    for block in blocks {
        if block.iter().fold(0, |any, &c| any | needs_escape(c)) == 0 {
            text.extend_from_slice(block);
        } else {
            write_escaped(text, block);
        }
    }
    write_escaped(text, rest);
    text.push(b'"');
}

const BLOCK: usize = 32;

/// Returns 1 or 0. Numbers, since comparing without branches is what makes vectors possible.
const fn needs_escape(c: u8) -> u8 {
    (c == b'"') as u8
        | (c == b'\\') as u8
        | (c == b'\n') as u8
        | (c == b'\r') as u8
        | (c == b'\t') as u8
}

/// Writes at most a block, escaped. Where escapes lie cannot be predicted, so nothing branches on it:
/// the buffer is full of backslashes beforehand, and an escape leaves one of them standing.
fn write_escaped(text: &mut Vec<u8>, bytes: &[u8]) {
    let mut escaped = [b'\\'; 2 * BLOCK];
    let mut len = 0;
    for &c in bytes {
        let at = len + usize::from(needs_escape(c));
        escaped[at] = ESCAPED[usize::from(c)];
        len = at + 1;
    }
    text.extend_from_slice(&escaped[..len]);
}

/// What is written for each byte, after the backslash if there is one.
const ESCAPED: [u8; 256] = {
    let mut table = [0; 256];
    let mut c = 0;
    while c < 256 {
        table[c] = match c as u8 {
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            other => other,
        };
        c += 1;
    }
    table
};
