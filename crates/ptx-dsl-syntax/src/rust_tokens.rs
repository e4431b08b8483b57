//! Converts the tokens of Rust's lexer, which `ptx!` gets, to PTX tokens. Rust lexes `1.128x256b` as one literal and `%r1` as two
//! tokens. Positions tell whether two tokens touch. If a compiler gives none (rust-analyzer, tokens that another macro made), the
//! grammar decides.

use crate::lex::in_word;
use crate::parse::{SPACES, all_digits};
use crate::token::{Tok, Token};

#[cfg(test)]
mod tests;

/// Splits the text of a Rust literal into PTX tokens that share its number: `1.128x256b` is a number, a dot and a number.
/// `glued` says whether the first piece touches the token before it; the others touch.
pub fn split_literal(text: &str, id: u32, glued: bool, out: &mut Vec<Token>) {
    if let (Some(open), Some(close)) = (text.find('"'), text.rfind('"'))
        && open < close
    {
        out.push(Token { kind: Tok::Str(text[open + 1..close].to_string()), id, glued });
        return;
    }
    let mut first = true;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut alnum = 0;
        while alnum < rest.len() && in_word(rest.as_bytes()[alnum]) {
            alnum += 1;
        }
        let len = if alnum > 0 { alnum } else { c.len_utf8() };
        let kind = match c {
            '0'..='9' => Tok::Number(rest[..len].to_string()),
            c if alnum == 0 => Tok::Punct(c),
            _ => Tok::Word(rest[..len].to_string()),
        };
        out.push(Token { kind, id, glued: glued || !first });
        first = false;
        rest = &rest[len..];
    }
}

/// Decides by the grammar which tokens touch the previous one, for all `i` with `known[i]` false. Names are not joined yet.
pub fn infer_glued(tokens: &mut [Token], known: &[bool]) {
    // Did the words and dots before this token begin with a dot, as directives do? Then a dot begins the next directive.
    let mut directive = false;
    for i in 0..tokens.len() {
        if !matches!(known.get(i), Some(true)) {
            tokens[i].glued = i > 0 && touches(&Around { tokens, at: i }, directive);
        }
        directive = match &tokens[i].kind {
            Tok::Punct('.') => directive || !tokens[i].glued,
            Tok::Punct(':') => directive,
            Tok::Word(_) | Tok::Number(_) => directive && (Around { tokens, at: i }).in_chain(),
            _ => false,
        };
    }
}

/// A token with its neighbours.
struct Around<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Around<'a> {
    /// The token this many places further on, or back if negative.
    fn get(&self, n: isize) -> Option<&'a Tok> {
        Some(&self.tokens.get(self.at.checked_add_signed(n)?)?.kind)
    }

    fn is(&self, n: isize, c: char) -> bool {
        matches!(self.get(n), Some(Tok::Punct(p)) if *p == c)
    }

    fn is_word(&self, n: isize, word: &str) -> bool {
        matches!(self.get(n), Some(Tok::Word(w)) if w == word)
    }

    /// Is there a dot or `::` before it, as in `ld.shared::cta`?
    fn in_chain(&self) -> bool {
        self.is(-1, '.') || self.is(-1, ':') && self.is(-2, ':') && self.tokens[self.at - 1].glued
    }

    /// Is it the dot of `.reg` and the like? No register has a component of that name.
    fn begins_declaration(&self) -> bool {
        matches!(self.get(1), Some(Tok::Word(word)) if SPACES.contains(&word.as_str()))
    }

    fn previous(&self) -> Around<'a> {
        Around { tokens: self.tokens, at: self.at - 1 }
    }
}

/// Does the token touch the previous one in all sensible PTX?
fn touches(here: &Around<'_>, directive: bool) -> bool {
    let (Some(before), Some(this)) = (here.get(-1), here.get(0)) else { return false };
    match (before, this) {
        (Tok::Punct('.' | '%' | '$'), Tok::Word(_) | Tok::Number(_)) => true,
        (Tok::Punct(':'), Tok::Word(_) | Tok::Number(_)) => here.in_chain(),
        // Together they were one token.
        (Tok::Word(_) | Tok::Number(_) | Tok::Str(_), Tok::Word(_) | Tok::Number(_) | Tok::Str(_)) => false,
        // What can stand around the operator; else it begins the name of a register.
        (_, Tok::Punct('%')) => {
            here.is_word(1, "WARP_SZ")
                || matches!(before, Tok::Punct(')'))
                || is_constant(before) && here.get(1).is_some_and(is_constant)
                || behind_operand(here)
        }
        (Tok::Word(_), Tok::Punct('$')) => inside_name(here),
        (Tok::Word(_), Tok::Punct('.')) => !(directive || here.is(-2, '%') && here.begins_declaration()),
        // A qualifier, as in `.16x256b.x1`, or a decimal number with an exponent; else the dot of a directive.
        (Tok::Number(_), Tok::Punct('.')) => here.previous().in_chain() && !directive || exponent(here.get(1)),
        // `%r{I}_x`
        (Tok::Punct('}'), Tok::Word(word)) => here.is(-3, '{') && word.starts_with('_'),
        (_, Tok::Punct('.')) | (Tok::Punct(',' | ';' | '{' | '}'), _) => false,
        _ => true,
    }
}

/// Is the token before this one a number, or a name after a `,` or an operator?
fn behind_operand(here: &Around<'_>) -> bool {
    match here.get(-1) {
        Some(Tok::Number(_)) => !here.previous().in_chain(),
        Some(Tok::Word(_)) => matches!(here.get(-2), Some(Tok::Punct(',' | '[' | '(' | '+' | '-' | '*' | '/' | '='))),
        _ => false,
    }
}

/// Is it a name that Rust gives constants?
fn is_constant(tok: &Tok) -> bool {
    let Tok::Word(word) = tok else { return false };
    word.starts_with(|c: char| c.is_ascii_uppercase()) && !word.contains(|c: char| c.is_ascii_lowercase())
}

/// `e5` or `e` of `1.e5` or `1.e-5`.
fn exponent(tok: Option<&Tok>) -> bool {
    let Some(Tok::Word(word)) = tok else { return false };
    matches!(word.as_bytes(), [b'e' | b'E', ..]) && all_digits(&word[1..])
}

/// Is this `$` after a word in the middle of a name, as in `st.u32 [a$b], %r1`, and not the first letter of the next one, as in
/// `bra $L`?
fn inside_name(here: &Around<'_>) -> bool {
    if here.previous().in_chain() || here.is_word(-1, "function_name") {
        return false;
    }
    let first = match here.get(-2) {
        None | Some(Tok::Punct(';' | '{' | '}' | ':')) => true,
        Some(Tok::Word(_)) => behind_guard(here),
        _ => false,
    };
    // What begins a statement is an opcode, or a label.
    !first || here.is(2, ':') && !here.is(3, ':')
}

/// Is there `@p`, `@!p`, `@%p` or `@!%p` before the word before this token?
fn behind_guard(here: &Around<'_>) -> bool {
    let mut n = -3;
    for sigil in ['%', '!'] {
        n -= isize::from(here.is(n, sigil));
    }
    here.is(n, '@')
}

/// What forms a name with a `%` or `$` before it: a word, and after `$` digits too. `%1` stays an operator and a number.
fn follows(sigil: char, kind: &Tok) -> Option<&str> {
    match kind {
        Tok::Word(word) if matches!(sigil, '%' | '$') => Some(word),
        Tok::Number(digits) if sigil == '$' => Some(digits),
        _ => None,
    }
}

/// Joins names: `%` `r1` is `%r1`, `$` `L` is `$L`, also in the middle of a name. `joined` is called with the numbers of two
/// source tokens that became one.
pub fn join_names(old: &[Token], joined: &mut dyn FnMut(u32, u32)) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(old.len());
    let mut i = 0;
    while i < old.len() {
        let token = &old[i];
        let c = if let Tok::Punct(c) = token.kind { c } else { ' ' };
        if let Some(Token { kind, glued: true, id }) = old.get(i + 1)
            && let Some(word) = follows(c, kind)
        {
            let before = out.last_mut();
            let value =
                matches!(before.as_ref().map(|t| &t.kind), Some(Tok::Word(_) | Tok::Number(_) | Tok::Punct(')' | ']')));
            if c == '$'
                && token.glued
                && let Some(Token { kind: Tok::Word(name), id: first, .. }) = before
            {
                joined(*first, *id);
                name.push(c);
                name.push_str(word);
                i += 2;
                continue;
            }
            if !(c == '%' && token.glued && value) {
                joined(token.id, *id);
                out.push(Token { kind: Tok::Word(format!("{c}{word}")), id: token.id, glued: token.glued });
                i += 2;
                continue;
            }
        }
        out.push(token.clone());
        i += 1;
    }
    out
}
