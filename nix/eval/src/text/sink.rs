//! Where the parsers of data formats deliver what they read.

/// Receives a value piece by piece, in the order of the text.
///
/// Lists and sets are bracketed by `begin_…` and `end_…`; inside a set each value follows its key.
/// Strings are free of NUL bytes. A key may come twice; the last one counts. If parsing fails,
/// what was delivered before is to be thrown away.
pub trait ValueSink {
    /// Receives a null.
    fn null(&mut self);
    /// Receives a truth value.
    fn boolean(&mut self, value: bool);
    /// Receives an integer.
    fn integer(&mut self, value: i64);
    /// Receives a float, in TOML possibly not finite.
    fn float(&mut self, value: f64);
    /// Receives a string.
    fn string(&mut self, text: &[u8]);
    /// Begins a list.
    fn begin_list(&mut self);
    /// Ends the innermost list.
    fn end_list(&mut self);
    /// Begins a set.
    fn begin_set(&mut self);
    /// Receives the key of the next value of the innermost set.
    fn key(&mut self, text: &[u8]);
    /// Ends the innermost set.
    fn end_set(&mut self);

    /// Receives a date or time; by default as a set of the type and the text.
    fn timestamp(&mut self, text: &str) {
        self.begin_set();
        self.key(b"_type");
        self.string(b"timestamp");
        self.key(b"value");
        self.string(text.as_bytes());
        self.end_set();
    }
}

/// Returns the complaint about a string with a NUL byte.
pub(super) fn null_byte_message(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).replace('\0', "␀");
    format!(
        "input string '{text}' cannot be represented as Nix string because it contains null bytes"
    )
}

/// Writes down what it receives, for tests.
#[cfg(test)]
#[derive(Default)]
pub(super) struct Transcript(pub(super) String);

#[cfg(test)]
impl Transcript {
    fn add(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(text);
    }
}

#[cfg(test)]
impl ValueSink for Transcript {
    fn null(&mut self) {
        self.add("null");
    }

    fn boolean(&mut self, value: bool) {
        self.add(&value.to_string());
    }

    fn integer(&mut self, value: i64) {
        self.add(&value.to_string());
    }

    fn float(&mut self, value: f64) {
        self.add(&format!("{value:?}"));
    }

    fn string(&mut self, text: &[u8]) {
        self.add(&format!("'{}'", String::from_utf8_lossy(text)));
    }

    fn begin_list(&mut self) {
        self.add("[");
    }

    fn end_list(&mut self) {
        self.add("]");
    }

    fn begin_set(&mut self) {
        self.add("{");
    }

    fn key(&mut self, text: &[u8]) {
        self.add(&format!("{}:", String::from_utf8_lossy(text)));
    }

    fn end_set(&mut self) {
        self.add("}");
    }

    fn timestamp(&mut self, text: &str) {
        self.add(&format!("@{text}"));
    }
}
