//! What a string refers to: the elements of its context.
//!
//! The textual form is `path` for a store object as it is, `!output!drv` for what a derivation makes,
//! and `=drv` for a derivation together with its whole closure. Elements sort by that form.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::path::{NameError, PathError, StoreDir, StorePath, check_name};

/// One store object that a string refers to. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Element {
    /// A store object, as it is.
    Opaque(StorePath),
    /// What a derivation makes.
    Built {
        /// The derivation.
        drv: StorePath,
        /// Which of its outputs.
        output: Arc<str>,
    },
    /// A derivation, everything its file refers to, and all the outputs of all derivations in that
    /// closure.
    DrvDeep(StorePath),
}

/// Why a text is not an element of a context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElementError {
    /// Nothing at all.
    #[error("String context element should never be an empty string")]
    Empty,
    /// There is no second `!`.
    #[error("String content element beginning with '!' should have a second '!'\n element '{0}'")]
    NoSecondMark(String),
    /// A `!` where a path is expected.
    #[error("String content element not beginning with '!' should not contain '!'\n element '{0}'")]
    StrayMark(String),
    /// The output has a name that none can have.
    #[error("bad output name in string context element '{element}': {error}")]
    OutputName {
        /// The whole text.
        element: String,
        /// What is wrong.
        error: NameError,
    },
    /// The path is none.
    #[error("bad path in string context element '{element}': {error}")]
    Path {
        /// The whole text.
        element: String,
        /// What is wrong.
        error: PathError,
    },
    /// The path is not that of a derivation.
    #[error("path '{0}' is not a derivation")]
    NotADerivation(StorePath),
}

impl Element {
    /// Returns the element for output `output` of `drv`.
    pub fn built(drv: StorePath, output: &str) -> Element {
        Element::Built { drv, output: output.into() }
    }

    /// Returns the store path, whatever is meant by it.
    pub fn path(&self) -> &StorePath {
        match self {
            Element::Opaque(path) | Element::DrvDeep(path) | Element::Built { drv: path, .. } => {
                path
            }
        }
    }

    /// Reads the textual form.
    pub fn parse(text: &[u8], store: &StoreDir) -> Result<Element, ElementError> {
        let element = || String::from_utf8_lossy(text).into_owned();
        let path = |path: &[u8]| {
            if path.contains(&b'!') {
                return Err(ElementError::StrayMark(element()));
            }
            store.parse(path).map_err(|error| ElementError::Path { element: element(), error })
        };
        let derivation = |text: &[u8]| match path(text)? {
            drv if drv.is_derivation() => Ok(drv),
            other => Err(ElementError::NotADerivation(other)),
        };
        match text {
            [] => Err(ElementError::Empty),
            [b'!', rest @ ..] => {
                let mark = memchr::memchr(b'!', rest)
                    .ok_or_else(|| ElementError::NoSecondMark(element()))?;
                let output = check_name(&rest[..mark])
                    .map_err(|error| ElementError::OutputName { element: element(), error })?;
                Ok(Element::built(derivation(&rest[mark + 1..])?, output))
            }
            [b'=', rest @ ..] => Ok(Element::DrvDeep(derivation(rest)?)),
            _ => Ok(Element::Opaque(path(text)?)),
        }
    }

    /// Returns the textual form in three parts.
    fn parts(&self) -> [&str; 4] {
        match self {
            Element::Opaque(path) => ["", "", "", path],
            Element::Built { drv, output } => ["!", output, "!", drv],
            Element::DrvDeep(drv) => ["=", "", "", drv],
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().into_iter().try_for_each(|part| f.write_str(part))
    }
}

impl Ord for Element {
    fn cmp(&self, other: &Element) -> Ordering {
        match (self, other) {
            (Element::Opaque(a), Element::Opaque(b)) => a.cmp(b),
            (Element::DrvDeep(a), Element::DrvDeep(b)) => a.cmp(b),
            _ => {
                let bytes = |element: &Element| element.parts().concat();
                bytes(self).cmp(&bytes(other))
            }
        }
    }
}

impl PartialOrd for Element {
    fn partial_cmp(&self, other: &Element) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "nnqh7675wghd0xmrywqm2yh9psrkk13q";

    fn parse(text: &str) -> Result<Element, String> {
        let text = text.replace('#', DIGEST);
        Element::parse(text.as_bytes(), &StoreDir::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn round_trips_in_order() {
        let texts = [
            "!out!/nix/store/#-a.drv",
            "!out!/nix/store/#-b.drv",
            "!out-1!/nix/store/#-a.drv",
            "!out0!/nix/store/#-a.drv",
            "/nix/store/#-a",
            "/nix/store/#-a.drv",
            "=/nix/store/#-a.drv",
        ];
        let elements: Vec<Element> = texts.iter().map(|text| parse(text).unwrap()).collect();
        for (element, text) in elements.iter().zip(texts) {
            assert_eq!(element.to_string(), text.replace('#', DIGEST));
        }
        let mut by_text = elements.clone();
        by_text.sort_by_key(ToString::to_string);
        let mut sorted = elements;
        sorted.sort();
        assert_eq!(sorted, by_text);
    }

    #[test]
    fn errors() {
        for (text, part) in [
            ("", "should never be an empty string"),
            ("!out", "should have a second '!'"),
            ("!!/nix/store/#-a.drv", "bad output name"),
            ("!o!p!/nix/store/#-a.drv", "should not contain '!'"),
            ("!out!/nix/store/#-a", "is not a derivation"),
            ("=/nix/store/#-a", "is not a derivation"),
            ("=/nix/store/a.drv", "too short"),
            ("/nix/store/#-a!b", "should not contain '!'"),
            ("/tmp/#-a", "is not in the Nix store"),
            ("/nix/store/#-a/b", "lies inside"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn parsing_never_panics(text: Vec<u8>) {
            let _ = Element::parse(&text, &StoreDir::default());
        }
    }
}
