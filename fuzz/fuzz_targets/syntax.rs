//! Any bytes are parsed or rejected; what is parsed prints to text that parses to the same print.
//!
//! ```text
//! cargo +nightly fuzz run syntax -- -max_len=4096 -detect_leaks=0 -rss_limit_mb=8192
//! ```
//!
//! Source texts live as long as the process, so memory grows with the number of inputs.

#![no_main]

use bumpalo::Bump;
use libfuzzer_sys::fuzz_target;
use raddle_nix_syntax::print::{self, Paths};
use raddle_nix_syntax::{Options, Origin, Source, parse};

fuzz_target!(|text: &[u8]| {
    let options = Options { pipe_operators: true, ..Options::default() };
    let Ok(source) = Source::add(Origin::String, text.to_vec()) else { return };
    let arena = Bump::new();
    let printed = match parse(&arena, source, &options) {
        Ok(tree) => {
            print::desugared(tree, Paths { base: b"/", home: b"/" });
            print::source(tree)
        }
        Err(error) => {
            error.render();
            return;
        }
    };
    let Ok(source) = Source::add(Origin::String, printed.clone()) else { return };
    match parse(&arena, source, &options) {
        Ok(again) => assert_eq!(print::source(again), printed),
        Err(error) => assert!(error.message.starts_with("nesting too deep"), "{}", error.render()),
    }
});
