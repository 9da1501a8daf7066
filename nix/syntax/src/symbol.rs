//! Interned names.
//!
//! A [`Symbol`] is a u32 into a table that lives as long as the process; equal names have equal
//! symbols. The order of symbols is *not* the order of names: whatever a user sees is sorted by
//! [`Symbol::as_bytes`].
//!
//! Names that the language itself gives a meaning have constants in [`sym`].

use std::fmt;
use std::sync::LazyLock;

use bstr::ByteSlice;
use raddle::sync::Interner;

/// An interned name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

static TABLE: LazyLock<Interner> = LazyLock::new(|| {
    let table = Interner::new();
    for (index, name) in sym::NAMES.iter().enumerate() {
        assert_eq!(table.intern(name.as_bytes()) as usize, index, "`{name}` is listed twice");
    }
    table
});

impl Symbol {
    /// Returns the symbol of `name`, which is added to the table if it is new.
    #[inline]
    pub fn intern(name: &[u8]) -> Self {
        Self(TABLE.intern(name))
    }

    /// Returns the symbol of `name` if that was interned before.
    #[inline]
    pub fn lookup(name: &[u8]) -> Option<Self> {
        TABLE.lookup(name).map(Self)
    }

    /// Returns the name.
    #[inline]
    pub fn as_bytes(self) -> &'static [u8] {
        TABLE.get(self.0)
    }

    /// Returns the symbol's number; numbers are dense from 0.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0
    }

    /// Returns the symbol with the number `index`, which must have come from [`index`](Self::index).
    #[inline]
    pub const fn from_index(index: u32) -> Self {
        Self(index)
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_bytes().as_bstr(), f)
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_bytes().as_bstr(), f)
    }
}

macro_rules! symbols {
    ($($constant:ident $name:literal)*) => {
        /// Symbols of the names that the language or its builtins know.
        pub mod sym {
            use super::Symbol;

            #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "an enum numbers the constants")]
            enum Index { $($constant),* }

            pub(super) const NAMES: &[&str] = &[$($name),*];

            $(
                #[doc = concat!("`", $name, "`")]
                pub const $constant: Symbol = Symbol(Index::$constant as u32);
            )*
        }
    };
}

symbols! {
    EMPTY ""
    NAME "name"
    SYSTEM "system"
    TYPE "type"
    OUT_PATH "outPath"
    DRV_PATH "drvPath"
    VALUE "value"
    SUCCESS "success"
    FUNCTOR "__functor"
    FUNCTION_ARGS "__functionArgs"
    TO_STRING "__toString"
    OVERRIDES "__overrides"
    BODY "body"
    FILE "file"
    LINE "line"
    COLUMN "column"
    META "meta"
    DESCRIPTION "description"
    RECURSE_FOR_DERIVATIONS "recurseForDerivations"
    PACKAGES "packages"
    LEGACY_PACKAGES "legacyPackages"
    BUILDER "builder"
    ARGS "args"
    OUTPUT "output"
    OUTPUTS "outputs"
    OUTPUT_NAME "outputName"
    OUTPUT_HASH "outputHash"
    OUTPUT_HASH_ALGO "outputHashAlgo"
    OUTPUT_HASH_MODE "outputHashMode"
    OUTPUT_SPECIFIED "outputSpecified"
    STRUCTURED_ATTRS "__structuredAttrs"
    IGNORE_NULLS "__ignoreNulls"
    CONTENT_ADDRESSED "__contentAddressed"
    IMPURE "__impure"
    JSON "__json"
    DERIVATION "derivation"
    DERIVATION_STRICT "derivationStrict"
    DRV_ATTRS "drvAttrs"
    ALL "all"
    ALL_OUTPUTS "allOutputs"
    OUT "out"
    PATH "path"
    PREFIX "prefix"
    KEY "key"
    START_SET "startSet"
    OPERATOR "operator"
    RIGHT "right"
    WRONG "wrong"
    URL "url"
    SHA256 "sha256"
    HASH "hash"
    HASH_ALGO "hashAlgo"
    TO_HASH_FORMAT "toHashFormat"
    FILTER "filter"
    RECURSIVE "recursive"
    VERSION "version"
    REV "rev"
    REF "ref"
    NAR_HASH "narHash"
    INPUTS "inputs"
    SOURCE_INFO "sourceInfo"
    SELF "self"
    FIND_FILE "__findFile"
    NIX_PATH "__nixPath"
    CUR_POS "__curPos"
    SUB "__sub"
    MUL "__mul"
    DIV "__div"
    LESS_THAN "__lessThan"
    BUILTINS "builtins"
    TRUE "true"
    FALSE "false"
    NULL "null"
    OR "or"
    ALLOWED_REFERENCES "allowedReferences"
    ALLOWED_REQUISITES "allowedRequisites"
    DISALLOWED_REFERENCES "disallowedReferences"
    DISALLOWED_REQUISITES "disallowedRequisites"
    EXPORT_REFERENCES_GRAPH "exportReferencesGraph"
    OUTPUT_CHECKS "outputChecks"
    COMBINE_CHANNELS "_combineChannels"
    UNDERSCORE_TYPE "_type"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_name_themselves() {
        assert_eq!(sym::FUNCTOR.as_bytes(), b"__functor");
        assert_eq!(Symbol::intern(b"outPath"), sym::OUT_PATH);
        assert_eq!(Symbol::lookup(b"true"), Some(sym::TRUE));
        assert_eq!(Symbol::lookup(b"no such name was ever seen"), None);
        assert_eq!(Symbol::from_index(sym::OR.index()), sym::OR);
        assert_eq!(Symbol::intern(b"a\xffb").to_string(), "a\u{fffd}b");
    }
}
