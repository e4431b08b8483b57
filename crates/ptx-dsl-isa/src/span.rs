//! Spans: ranges of source tokens.

/// A range of source tokens, both ends included. The numbers index the token table of the lexer that made the tokens: the text
/// lexer maps them to bytes and lines, the macro to `proc_macro` spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Number of the first token.
    pub first: u32,
    /// Number of the last token.
    pub last: u32,
}

impl Span {
    /// The span of one token.
    pub fn token(id: u32) -> Self {
        Span { first: id, last: id }
    }

    /// The smallest span that contains both.
    pub fn to(self, other: Span) -> Self {
        Span { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}
