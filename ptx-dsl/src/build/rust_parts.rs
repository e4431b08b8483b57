//! Parts of modules in a Rust file that nobody compiles. A module sees those of its own file, and of files that are named for it.

use std::ops::Range;

use ptx_dsl_frontend::lex::lex_rust;
use ptx_dsl_frontend::lines::Lines;
use ptx_dsl_frontend::parse::parse_header;
use ptx_dsl_frontend::token::{Tok, Token, is_at, word_at};

use super::rust_source::without_nested_comments;

/// The parts of a file.
#[derive(Debug, Default)]
pub struct Parts {
    /// The name, the bytes from `part` to `}`, and the names of the parts that it uses.
    all: Vec<(String, Range<usize>, Vec<String>)>,
    /// The same of other files, with the text.
    others: Vec<(String, Other, Vec<String>)>,
}

/// The text of a part in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// From `part` to `}`, after as many spaces as there are characters before it in its line.
    pub text: String,
    /// The name of the file.
    pub file: String,
    /// Where it begins there, from 1.
    pub line: usize,
}

impl Other {
    /// A piece of a file.
    pub fn new(file: &str, text: &str, range: Range<usize>) -> Self {
        let (line, column) = Lines::new(text).line_column(range.start);
        let part = without_nested_comments(text.get(range).unwrap_or_default());
        Other { text: format!("{}{part}", " ".repeat(column - 1)), file: file.to_owned(), line }
    }
}

/// A part that a module uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Used {
    /// The bytes of the file itself.
    Own(Range<usize>),
    /// The text, from another file.
    Other(Other),
}

/// Why a part is not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFound {
    /// No file has a part of this name.
    No(String),
    /// It is defined several times, and only rustc follows paths.
    Several(String),
}

impl Parts {
    /// The parts that are defined in these bodies.
    pub fn of(text: &str, bodies: &[Range<usize>]) -> Self {
        let mut parts = Parts::default();
        for body in bodies {
            let Some(plain) = text.get(body.clone()) else { continue };
            let lexed = lex_rust(&without_nested_comments(plain)).0;
            let uses = uses(&lexed.tokens);
            for (name, tokens) in definitions(&lexed.tokens) {
                let bytes = |at: usize| lexed.ranges[lexed.tokens[at].id as usize].clone();
                let range = body.start + bytes(tokens.start).start..body.start + bytes(tokens.end - 1).end;
                parts.all.push((name, range, uses.clone()));
            }
        }
        parts
    }

    /// Adds the parts of another file.
    pub fn add(&mut self, file: &str, text: &str, bodies: &[Range<usize>]) {
        for (name, range, uses) in Parts::of(text, bodies).all {
            self.others.push((name, Other::new(file, text, range), uses));
        }
    }

    /// The part of this name, and what it uses. The file itself comes first.
    fn find(&self, wanted: &str) -> Result<(Used, &[String]), NotFound> {
        let mut own = self.all.iter().filter(|(name, ..)| name == wanted);
        match (own.next(), own.next()) {
            (Some((_, range, uses)), None) => return Ok((Used::Own(range.clone()), uses)),
            (Some(_), Some(_)) => return Err(NotFound::Several(wanted.to_owned())),
            (None, _) => {}
        }
        let mut others = self.others.iter().filter(|(name, ..)| name == wanted);
        match (others.next(), others.next()) {
            (Some((_, text, uses)), None) => Ok((Used::Other(text.clone()), uses)),
            (None, _) => Err(NotFound::No(wanted.to_owned())),
            (Some(_), Some(_)) => Err(NotFound::Several(wanted.to_owned())),
        }
    }

    /// The parts that a module uses, and those that they use.
    ///
    /// # Errors
    /// One is not found.
    pub fn used(&self, tokens: &[Token]) -> Result<Vec<Used>, NotFound> {
        let (mut names, mut found) = (uses(tokens), Vec::new());
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            at += 1;
            let (part, more) = self.find(&name)?;
            names.extend(more.iter().filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>());
            if !found.contains(&part) {
                found.push(part);
            }
        }
        // a part stands after those that it uses
        found.reverse();
        Ok(found)
    }
}

/// Does the module define parts, and nothing that runs?
pub fn defines_parts(tokens: &[Token]) -> bool {
    !definitions(tokens).is_empty()
}

/// The tokens outside of braces, after the header.
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
            (word_at(tokens, at), word_at(tokens, at + 1), is_at(tokens, at + 2, '{'))
        else {
            continue;
        };
        let mut depth = 0u32;
        let end = (at + 2..tokens.len()).find(|end| {
            depth += u32::from(is_at(tokens, *end, '{'));
            depth -= u32::from(is_at(tokens, *end, '}'));
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
        let item = at == 0 || [';', '}', '>'].iter().any(|c| is_at(tokens, at - 1, *c));
        if word_at(tokens, at) != Some("use") || !item {
            continue;
        }
        for end in at + 1..tokens.len() {
            if is_at(tokens, end, ';') {
                break;
            }
            let last = [',', '}', ';'].iter().any(|c| is_at(tokens, end + 1, *c));
            let alias = word_at(tokens, end - 1) == Some("as");
            if let Some(name) = word_at(tokens, end)
                && (last && !alias || word_at(tokens, end + 1) == Some("as"))
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
            "<sm_90, ptx 8.0> use x::{a as d, b}; .visible .entry k() { }",
            "<sm_90, ptx 8.0> use crate::{a, c};",
        ];
        let text = bodies.join("\n");
        let mut at = 0;
        let ranges: Vec<Range<usize>> = bodies.iter().map(|body| (at, at += body.len() + 1).0..at - 1).collect();
        let parts = Parts::of(&text, &ranges);
        let used = |n: usize| parts.used(&lex_rust(bodies[n]).0.tokens);
        let own = |part: Used| match part {
            Used::Own(range) => &text[range],
            Used::Other(_) => "",
        };
        let shown: Vec<&str> = used(2).unwrap().into_iter().map(own).collect();
        assert_eq!(shown, ["part b { /* /* } */ */ }", "part a { .inline f() { } }"]);
        assert_eq!(used(3), Err(NotFound::No("c".to_owned())));
        let (mut with, other) = (Parts::of(&text, &ranges), "part c { } part a { }");
        with.add("o.rs", other, &[0..10, 11..other.len()]);
        let found = with.used(&lex_rust(bodies[3]).0.tokens).unwrap();
        let c = Other { text: "part c { }".into(), file: "o.rs".into(), line: 1 };
        assert_eq!(
            Other::new("f", "\n  part d { }", 3..13),
            Other { text: "  part d { }".into(), file: "f".into(), line: 2 }
        );
        assert!(found.contains(&Used::Other(c)) && found.contains(&Used::Own(with.all[0].1.clone())));
        with.add("p.rs", other, std::slice::from_ref(&(0..10)));
        assert_eq!(with.used(&lex_rust(bodies[3]).0.tokens), Err(NotFound::Several("c".to_owned())));
        assert!(defines_parts(&lex_rust(bodies[0]).0.tokens) && !defines_parts(&lex_rust(bodies[2]).0.tokens));
    }
}
