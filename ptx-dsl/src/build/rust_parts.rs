//! Parts of modules in a Rust file that nobody compiles. A module sees those of its own file.

use std::ops::Range;

use ptx_dsl_frontend::lex::lex;
use ptx_dsl_frontend::parse::parse_header;
use ptx_dsl_frontend::token::{Tok, Token};

use super::rust_source::without_nested_comments;

/// The parts of a file.
#[derive(Debug, Default)]
pub struct Parts {
    /// The name, the bytes from `part` to `}`, and the names of the parts that it uses.
    all: Vec<(String, Range<usize>, Vec<String>)>,
}

impl Parts {
    /// The parts that are defined in these bodies.
    pub fn of(text: &str, bodies: &[Range<usize>]) -> Self {
        let mut parts = Parts::default();
        for body in bodies {
            let Some(plain) = text.get(body.clone()) else { continue };
            let lexed = lex(&without_nested_comments(plain)).0;
            let uses = uses(&lexed.tokens);
            for (name, tokens) in definitions(&lexed.tokens) {
                let bytes = |at: usize| lexed.ranges[lexed.tokens[at].id as usize].clone();
                let range = body.start + bytes(tokens.start).start..body.start + bytes(tokens.end - 1).end;
                parts.all.push((name, range, uses.clone()));
            }
        }
        parts
    }

    /// The bytes of the parts that a module uses, and of those that they use.
    ///
    /// # Errors
    /// The name of one that is in another file.
    pub fn used(&self, tokens: &[Token]) -> Result<Vec<Range<usize>>, String> {
        let (mut names, mut found) = (uses(tokens), Vec::new());
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            at += 1;
            let Some((_, range, more)) = self.all.iter().find(|(known, ..)| *known == name) else { return Err(name) };
            names.extend(more.iter().filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>());
            if !found.contains(range) {
                found.push(range.clone());
            }
        }
        // a part stands behind those that it uses
        found.reverse();
        Ok(found)
    }
}

/// Does the module define parts, and nothing that runs?
pub fn defines_parts(tokens: &[Token]) -> bool {
    !definitions(tokens).is_empty()
}

fn word(token: Option<&Token>) -> Option<&str> {
    match &token?.kind {
        Tok::Word(word) => Some(word),
        _ => None,
    }
}

fn is(token: Option<&Token>, c: char) -> bool {
    token.is_some_and(|token| token.kind == Tok::Punct(c))
}

/// The tokens outside of braces, behind the header.
fn outside(tokens: &[Token]) -> impl Iterator<Item = usize> {
    let used = parse_header(tokens).1;
    let mut depth = 0u32;
    (used..tokens.len()).filter(move |at| {
        let outer = depth == 0;
        match tokens[*at].kind {
            Tok::Punct('{') => depth += 1,
            Tok::Punct('}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        outer
    })
}

/// The names of parts, with their tokens.
fn definitions(tokens: &[Token]) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    for at in outside(tokens) {
        let (Some("part"), Some(name), true) =
            (word(tokens.get(at)), word(tokens.get(at + 1)), is(tokens.get(at + 2), '{'))
        else {
            continue;
        };
        let mut depth = 0u32;
        let end = (at + 2..tokens.len()).find(|end| {
            depth += u32::from(is(tokens.get(*end), '{'));
            depth -= u32::from(is(tokens.get(*end), '}'));
            depth == 0
        });
        if let Some(end) = end {
            found.push((name.to_owned(), at..end + 1));
        }
    }
    found
}

/// The last names of the paths in `use`.
fn uses(tokens: &[Token]) -> Vec<String> {
    let mut found = Vec::new();
    for at in outside(tokens) {
        let item = at == 0 || [';', '}', '>'].iter().any(|c| is(tokens.get(at - 1), *c));
        if word(tokens.get(at)) != Some("use") || !item {
            continue;
        }
        for end in at + 1..tokens.len() {
            if is(tokens.get(end), ';') {
                break;
            }
            if let Some(name) = word(tokens.get(end))
                && [',', '}', ';'].iter().any(|c| is(tokens.get(end + 1), *c))
            {
                found.push(name.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_file_are_found_with_those_that_they_use() {
        let bodies = [
            "<sm_90, ptx 8.0> use crate::b; pub(crate) part a { .inline f() { } }",
            "<sm_90, ptx 8.0> part b { /* /* } */ */ }",
            "<sm_90, ptx 8.0> use x::{a, b}; .visible .entry k() { }",
            "<sm_90, ptx 8.0> use crate::{a, c};",
        ];
        let text = bodies.join("\n");
        let mut at = 0;
        let ranges: Vec<Range<usize>> = bodies.iter().map(|body| (at, at += body.len() + 1).0..at - 1).collect();
        let parts = Parts::of(&text, &ranges);
        let used = |n: usize| parts.used(&lex(bodies[n]).0.tokens);
        let shown: Vec<&str> = used(2).unwrap().into_iter().map(|range| &text[range]).collect();
        assert_eq!(shown, ["part b { /* /* } */ */ }", "part a { .inline f() { } }"]);
        assert_eq!(used(3), Err("c".to_owned()));
        assert!(defines_parts(&lex(bodies[0]).0.tokens) && !defines_parts(&lex(bodies[2]).0.tokens));
    }
}
