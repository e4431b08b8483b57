//! Parts of one name in a module, and constants of one name in several parts.

use super::Expander;
use crate::token::{Tok, Token};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// A part of the module.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Its own name.
    pub(super) name: String,
    /// What the module calls it: `other` of `part ring as other { ... }`, which `ptx!` writes for `use a::ring as other;`.
    pub(super) key: String,
}

impl Expander<'_> {
    /// The part that a path names: in the module what it is called there, in a piece of the part `from` the own name of a part. `None` if
    /// there is none, or several.
    pub(super) fn part_of(&self, path: &str, from: Option<&str>) -> Option<&str> {
        let parts = &self.pieces.names;
        let own = parts.iter().find(|part| Some(part.key.as_str()) == from && part.name == path);
        let called = parts.iter().find(|part| from.is_none() && part.key == path);
        let alias = self.pieces.aliases.iter().find(|(alias, _)| from.is_none() && alias == path);
        let name = alias.map_or(path, |(_, name)| name.as_str());
        let mut named = parts.iter().filter(|part| part.name == name);
        let only = named.next().filter(|_| named.next().is_none());
        own.or(called).or(only).map(|part| part.key.as_str())
    }
}

/// The tokens, with another name for each constant of a part that an earlier part has too. Only the pieces of its part see it.
pub(super) fn apart(tokens: &[Token]) -> Cow<'_, [Token]> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut renamed: Vec<(Range<usize>, &str, String)> = Vec::new();
    for (n, part) in parts(tokens).into_iter().enumerate() {
        for name in constants(tokens, part.clone()) {
            match seen.get(name) {
                Some(_) => renamed.push((part.clone(), name, format!("{name}_of_part_{n}"))),
                None => {
                    seen.insert(name, n);
                }
            }
        }
    }
    if renamed.is_empty() {
        return Cow::Borrowed(tokens);
    }
    let mut out = tokens.to_vec();
    for (part, name, new) in renamed {
        for token in &mut out[part] {
            if matches!(&token.kind, Tok::Word(word) if word == name) {
                token.kind = Tok::Word(new.clone());
            }
        }
    }
    Cow::Owned(out)
}

fn word(token: Option<&Token>) -> Option<&str> {
    match &token?.kind {
        Tok::Word(word) => Some(word),
        _ => None,
    }
}

fn depth(kind: &Tok) -> i32 {
    match kind {
        Tok::Punct('(' | '[' | '{') => 1,
        Tok::Punct(')' | ']' | '}') => -1,
        _ => 0,
    }
}

/// What is in the braces of each part.
fn parts(tokens: &[Token]) -> Vec<Range<usize>> {
    let (mut found, mut open, mut from) = (Vec::new(), 0, None);
    for (at, token) in tokens.iter().enumerate() {
        let part = open == 0 && token.kind == Tok::Punct('{') && at >= 2;
        let alias =
            part && at >= 4 && word(tokens.get(at - 2)) == Some("as") && word(tokens.get(at - 4)) == Some("part");
        if alias || part && word(tokens.get(at - 2)) == Some("part") && word(tokens.get(at - 1)).is_some() {
            from = Some(at + 1);
        }
        open += depth(&token.kind);
        if open == 0
            && let Some(from) = from.take_if(|from| *from <= at)
        {
            found.push(from..at);
        }
    }
    found
}

/// The names of constants that the part declares itself.
fn constants(tokens: &[Token], part: Range<usize>) -> Vec<&str> {
    let (mut found, mut open) = (Vec::new(), 0);
    for at in part {
        if open == 0
            && word(tokens.get(at)) == Some("const")
            && tokens.get(at + 2).is_some_and(|token| token.kind == Tok::Punct(':'))
        {
            found.extend(word(tokens.get(at + 1)));
        }
        open += depth(&tokens[at].kind);
    }
    found
}
