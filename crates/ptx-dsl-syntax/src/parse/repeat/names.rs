//! The names that a piece declares: its registers, variables, labels and constants. A use gives them other names where an argument has
//! the same.

use crate::parse::SPACES;
use crate::token::{Tok, Token, is_at, word_at};

/// A name that a piece declares.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub(super) name: String,
    /// `%r<4>` or `%r{I}`: the name continues with a number.
    pub(super) prefix: bool,
    /// Its token.
    pub(super) at: usize,
}

impl Own {
    /// Is it this word, or one of the names of the range? Then what follows the prefix.
    pub(super) fn covers<'w>(&self, word: &'w str) -> Option<&'w str> {
        let rest = word.strip_prefix(self.name.as_str())?;
        (rest.is_empty() || self.prefix && rest.starts_with(|c: char| c.is_ascii_digit())).then_some(rest)
    }

    /// The name that it has in a use where words of arguments are the same.
    pub(super) fn renamed(&self, words: &[String], all: &[Own]) -> Option<String> {
        words.iter().find(|word| self.covers(word).is_some())?;
        let tail = if self.prefix { "_" } else { "" };
        (1..=words.len() + all.len() + 1).map(|n| format!("{}_{n}{tail}", self.name)).find(|name| {
            let taken = |word: &str| word.starts_with(name.as_str());
            !words.iter().any(|word| taken(word)) && !all.iter().any(|own| taken(&own.name))
        })
    }
}

/// The names that these tokens declare. `first` is the number of the first one.
pub(super) fn declared(tokens: &[Token], first: usize) -> Vec<Own> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let starts = at == 0 || is_at(tokens, at - 1, ';') || is_at(tokens, at - 1, '{') || is_at(tokens, at - 1, '}');
        let label = starts || is_at(tokens, at - 1, ':');
        match &tokens[at].kind {
            Tok::Punct('.') if label && word_at(tokens, at + 1).is_some_and(|name| SPACES.contains(&name)) => {
                at = declaration(tokens, at + 2, first, &mut out);
                continue;
            }
            Tok::Word(name) if label && is_at(tokens, at + 1, ':') && !is_at(tokens, at + 2, ':') => {
                out.push(Own { name: name.clone(), prefix: false, at: first + at });
            }
            Tok::Word(name) if label && is_at(tokens, at + 1, '{') && word_at(tokens, at + 2).is_some() => {
                // `again{I}:`
                out.push(Own { name: name.clone(), prefix: true, at: first + at });
            }
            Tok::Word(name) if name == "const" && is_at(tokens, at + 2, ':') => {
                if let Some(name) = word_at(tokens, at + 1) {
                    out.push(Own { name: name.to_owned(), prefix: false, at: first + at + 1 });
                }
            }
            _ => {}
        }
        at += 1;
    }
    out
}

/// The names of a declaration, after its state space; returns where it ends.
fn declaration(tokens: &[Token], mut at: usize, first: usize, out: &mut Vec<Own>) -> usize {
    let (mut depth, mut value) = (0u32, false);
    while let Some(token) = tokens.get(at) {
        match &token.kind {
            Tok::Punct(';') if depth == 0 => return at,
            Tok::Punct('(' | '[' | '{') => depth += 1,
            Tok::Punct(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Tok::Punct('=') if depth == 0 => value = true,
            Tok::Punct(',') if depth == 0 => value = false,
            Tok::Word(name) if depth == 0 && !value => {
                let before = &tokens[at - 1];
                let names = !before.is('.') && before.word() != Some("align") && !before.is('}');
                if names {
                    let prefix = is_at(tokens, at + 1, '<') || is_at(tokens, at + 1, '{');
                    out.push(Own { name: name.clone(), prefix, at: first + at });
                }
            }
            _ => {}
        }
        at += 1;
    }
    at
}
