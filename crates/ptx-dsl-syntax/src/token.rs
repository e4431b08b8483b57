//! PTX tokens. The text lexer makes them, and the macro makes them from Rust tokens.

use crate::span::Span;

/// One token. Numbers and qualifier pieces that start with a digit are both [`Tok::Number`]; the parser knows which it expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Tok,
    /// Number of the source token it came from (pieces of one Rust literal share it).
    pub id: u32,
    /// No white space before it: `1` `.` `5` glued is a decimal number.
    pub glued: bool,
}

/// The kinds of token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tok {
    /// Identifier, keyword or register: `ld`, `%r1`, `$L__BB0_3`, `_`, `e5m2`. A leading `%` or `$` belongs to it.
    Word(String),
    /// Starts with a digit and continues with letters, digits and `_`: `4`, `0x1F`, `0f3F800000`, `128x256b`, `02_13`. Never
    /// contains a `.`.
    Number(String),
    /// `"..."`, without the quotes, escapes kept.
    Str(String),
    /// One character of punctuation: `. , ; : ( ) [ ] { } @ ! | & ^ ~ + - * / % < > = ?`. `::`, `<<`, `==`, `&&` are two glued ones.
    Punct(char),
}

impl Token {
    /// Its span.
    pub fn span(&self) -> Span {
        Span::token(self.id)
    }

    /// Is it this punctuation?
    pub fn is(&self, c: char) -> bool {
        self.kind == Tok::Punct(c)
    }

    /// Its text, if it is a word.
    pub fn word(&self) -> Option<&str> {
        match &self.kind {
            Tok::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// Is the token at this place this punctuation? Not behind the end.
pub fn is_at(tokens: &[Token], at: usize, c: char) -> bool {
    tokens.get(at).is_some_and(|token| token.is(c))
}

/// The word at this place, if there is one.
pub fn word_at(tokens: &[Token], at: usize) -> Option<&str> {
    tokens.get(at).and_then(Token::word)
}
