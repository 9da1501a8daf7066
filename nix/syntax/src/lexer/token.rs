//! The kinds of tokens and what errors call them.

macro_rules! kinds {
    ($($kind:ident $text:literal)*) => {
        /// What a token is. Strings and paths are tokens only as far as their beginnings.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Kind { $($kind),* }

        impl Kind {
            /// Returns what error messages call the token.
            pub(crate) const fn describe(self) -> &'static str {
                match self { $(Self::$kind => $text),* }
            }
        }
    };
}

kinds! {
    End "end of file"
    Invalid "invalid token"
    Identifier "identifier"
    Integer "integer"
    Float "floating-point literal"
    Path "path"
    HomePath "'~/…' path"
    LookupPath "'<…>' path"
    Uri "URI"
    If "'if'"
    Then "'then'"
    Else "'else'"
    Assert "'assert'"
    With "'with'"
    Let "'let'"
    In "'in'"
    Rec "'rec'"
    Inherit "'inherit'"
    Or "'or'"
    Equal "'=='"
    NotEqual "'!='"
    LessEqual "'<='"
    GreaterEqual "'>='"
    AndAnd "'&&'"
    OrOr "'||'"
    Arrow "'->'"
    Update "'//'"
    Concat "'++'"
    PipeLeft "'<|'"
    PipeRight "'|>'"
    DollarBrace "'${'"
    Quote "'\"'"
    IndentedOpen "start of an indented string"
    Ellipsis "'...'"
    Dot "'.'"
    Comma "','"
    Semicolon "';'"
    Colon "':'"
    Assign "'='"
    At "'@'"
    Question "'?'"
    ParenOpen "'('"
    ParenClose "')'"
    BraceOpen "'{'"
    BraceClose "'}'"
    BracketOpen "'['"
    BracketClose "']'"
    Less "'<'"
    Greater "'>'"
    Plus "'+'"
    Minus "'-'"
    Star "'*'"
    Slash "'/'"
    Bang "'!'"
}

/// A set of token kinds.
#[derive(Clone, Copy)]
pub(crate) struct Kinds(u64);

impl Kinds {
    pub(crate) const fn of(kinds: &[Kind]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < kinds.len() {
            bits |= 1 << kinds[index] as u64;
            index += 1;
        }
        Self(bits)
    }

    #[inline]
    pub(crate) const fn contains(self, kind: Kind) -> bool {
        self.0 >> kind as u64 & 1 != 0
    }
}

/// A piece of the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}
