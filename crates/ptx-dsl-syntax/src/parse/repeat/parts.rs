//! Parts of one name in a module, constants of one name in several parts, and what stands beside or in a part where it must not.

use super::{Expander, errors, named};
use crate::diag::Diagnostic;
use crate::parse::parse_header;
use crate::token::{Tok, Token, is_at, word_at};
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

/// The tokens, with other names for constants that several parts have. Only the pieces of its part see such a constant.
pub(super) fn apart(tokens: &[Token]) -> Cow<'_, [Token]> {
    let parts = parts(tokens);
    let mut owners: HashMap<&str, Vec<usize>> = HashMap::new();
    for (n, part) in parts.iter().enumerate() {
        for name in constants(tokens, part.clone()) {
            owners.entry(name).or_default().push(n);
        }
    }
    let mut renamed: Vec<(Range<usize>, &str, String)> = Vec::new();
    for (name, owners) in owners.into_iter().filter(|(_, owners)| owners.first() != owners.last()) {
        renamed.extend(owners.into_iter().map(|n| (parts[n].clone(), name, format!("{name}_of_part_{n}"))));
    }
    if renamed.is_empty() {
        return Cow::Borrowed(tokens);
    }
    let mut out = tokens.to_vec();
    for (part, name, new) in renamed {
        for token in &mut out[part] {
            if token.word() == Some(name) {
                token.kind = Tok::Word(new.clone());
            }
        }
    }
    Cow::Owned(out)
}

/// Errors in a module that defines a part: what it has beside the part, and kernels in the part.
pub fn beside_part(tokens: &[Token]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let (_, used, _) = parse_header(tokens);
    if let Some(constant) = tokens[..used].iter().find(|token| named(token, "const")) {
        found.push(errors::beside_part(constant.span(), false));
    }
    let (mut rest, mut parts) = (&tokens[used..], 0);
    while let Some(first) = rest.first() {
        let (item, behind) = rest.split_at(item_end(rest));
        rest = behind;
        if first.is('#') || first.is(';') || named(first, "use") {
            continue;
        }
        let visible = match item {
            [public, open, ..] if named(public, "pub") && open.is('(') => {
                item.iter().position(|token| token.is(')')).map_or(1, |close| close + 1)
            }
            [public, ..] if named(public, "pub") => 1,
            _ => 0,
        };
        match &item[visible..] {
            [part, name, open, body @ ..] if named(part, "part") && open.is('{') => {
                if parts > 0 {
                    found.push(errors::second_part(name.span()));
                }
                parts += 1;
                found.extend(entries(body).map(|at| errors::kernel_in_part(body[at].span().to(body[at + 1].span()))));
            }
            _ => {
                let word = item.get(1).filter(|_| first.is('.')).unwrap_or(first);
                let kernel = entries(item).next().is_some();
                found.push(errors::beside_part(first.span().to(word.span()), kernel));
            }
        }
    }
    found
}

/// Where `.entry` stands outside of braces.
fn entries(tokens: &[Token]) -> impl Iterator<Item = usize> {
    let mut open = 0;
    (0..tokens.len()).filter(move |at| {
        open += depth(&tokens[*at].kind);
        open == 0 && tokens[*at].is('.') && tokens.get(at + 1).is_some_and(|word| named(word, "entry"))
    })
}

/// Where the item ends with which the tokens begin: after a `;`, its braces, or the brackets of an attribute.
fn item_end(tokens: &[Token]) -> usize {
    let (mut open, attribute, to_semicolon) = (0, tokens[0].is('#'), named(&tokens[0], "use"));
    let end = tokens.iter().position(|token| {
        open += depth(&token.kind);
        let closed = if attribute { token.is(']') } else { !to_semicolon && token.is('}') };
        open <= 0 && (token.is(';') || closed)
    });
    end.map_or(tokens.len(), |end| end + 1)
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
        let part = open == 0 && token.is('{') && at >= 2;
        let alias = part && at >= 4 && word_at(tokens, at - 2) == Some("as") && word_at(tokens, at - 4) == Some("part");
        if alias || part && word_at(tokens, at - 2) == Some("part") && word_at(tokens, at - 1).is_some() {
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

/// The names of constants and layouts that the part declares itself.
fn constants(tokens: &[Token], part: Range<usize>) -> Vec<&str> {
    let (mut found, mut open) = (Vec::new(), 0);
    for at in part {
        let declares = match word_at(tokens, at) {
            Some("const") => is_at(tokens, at + 2, ':'),
            Some("layout") => is_at(tokens, at + 2, '='),
            _ => false,
        };
        if open == 0 && declares {
            found.extend(word_at(tokens, at + 1));
        }
        open += depth(&tokens[at].kind);
    }
    found
}
