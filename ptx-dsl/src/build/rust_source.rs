//! The `ptx!` macros of a Rust file.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use proc_macro2::{Ident, TokenStream, TokenTree};
use ptx_dsl_frontend::lex::lex_rust;

use super::rust_parts::{NotFound, Other, OtherFile, Parts, Used, defines_parts};
use crate::load::Moved;
use ptx_dsl_frontend::source::closure;

/// Is it a file of Rust?
pub fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "rs")
}

/// The macros of a Rust file, with the bytes between their delimiters.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Macros {
    /// Each `ptx!`.
    pub bodies: Vec<Range<usize>>,
    /// Each `include_ptx!`.
    pub included: Vec<Range<usize>>,
    /// The names of those `ptx!` and `include_ptx!` that are in the rules of a `macro_rules!`: they are no PTX before the macro is expanded.
    pub in_rules: Vec<Range<usize>>,
    /// Modules with bodies, and the bytes of these.
    modules: Vec<(String, Range<usize>)>,
}

impl Macros {
    fn add(&mut self, name: Ident, body: Range<usize>, in_rules: bool, included: bool) {
        match (in_rules, included) {
            (true, _) => self.in_rules.push(name.span().byte_range()),
            (false, true) => self.included.push(body),
            (false, false) => self.bodies.push(body),
        }
    }

    /// The modules around these bytes of the file, the outermost first.
    pub fn modules_around(&self, bytes: &Range<usize>) -> Vec<String> {
        let around = self.modules.iter().filter(|(_, body)| body.start <= bytes.start && bytes.end <= body.end);
        around.map(|(name, _)| name.clone()).collect()
    }
}

/// The macros of a Rust file.
pub fn macros(text: &str) -> Result<Macros, String> {
    let tokens: TokenStream = text.parse().map_err(|e: proc_macro2::LexError| {
        let at = e.span().start();
        format!("this is not Rust: {e} in line {}, column {}", at.line, at.column + 1)
    })?;
    let mut found = Macros::default();
    find(tokens, false, &mut found);
    // the spans of the next file begin at 0 again
    proc_macro2::extra::invalidate_current_thread_spans();
    Ok(found)
}

/// [`Macros::bodies`]
pub fn bodies(text: &str) -> Result<Vec<Range<usize>>, String> {
    Ok(macros(text)?.bodies)
}

/// `in_rules`: in the rules of a `macro_rules!`.
fn find(tokens: TokenStream, in_rules: bool, found: &mut Macros) {
    // the tokens before this one
    let (mut name, mut bang) = (None::<Ident>, false);
    let (mut rules, mut module) = (false, false);
    for token in tokens {
        match token {
            TokenTree::Ident(word) if rules && bang => {
                // the name of the macro that `macro_rules!` defines
                let _ = word;
                continue;
            }
            TokenTree::Ident(word) => {
                module = name.as_ref().is_some_and(|before| before == "mod");
                (name, bang, rules) = (Some(word), false, false);
            }
            TokenTree::Punct(p) if p.as_char() == '!' && name.is_some() => {
                bang = true;
                rules = name.as_ref().is_some_and(|name| name == "macro_rules");
            }
            TokenTree::Group(group) => {
                let bytes = || group.span_open().byte_range().end..group.span_close().byte_range().start;
                match name {
                    Some(name) if bang && name == "ptx" => found.add(name, bytes(), in_rules, false),
                    Some(name) if bang && name == "include_ptx" => found.add(name, bytes(), in_rules, true),
                    Some(name) if bang && name == "macro_rules" => find(group.stream(), true, found),
                    Some(name) if module => {
                        found.modules.push((name.to_string(), bytes()));
                        find(group.stream(), in_rules, found);
                    }
                    _ => find(group.stream(), in_rules, found),
                }
                (name, bang, rules, module) = (None, false, false, false);
            }
            _ => (name, bang, rules, module) = (None, false, false, false),
        }
    }
}

/// A text of the same length without comments in comments, which Rust has and PTX has not.
pub fn without_nested_comments(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    let (mut at, mut depth) = (0, 0);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let opens = rest.starts_with("/*");
        let mark = opens || depth > 0 && rest.starts_with("*/");
        let skipped = match rest.as_bytes()[0] {
            _ if mark => 2,
            b'/' if depth == 0 && rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            b'"' if depth == 0 => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        if mark {
            depth = if opens { depth + 1 } else { depth - 1 };
            if depth > usize::from(opens) {
                out.to_mut().replace_range(at..at + 2, "  ");
            }
        }
        at += skipped;
    }
    out
}

/// A text that has only one body of the Rust file of this name, in its place, and after it the parts that it uses, with the places that
/// these come from; `None` for the expression form and the definition of a part.
///
/// # Errors
/// A part is not found.
pub fn module(
    (file, text): (&str, &str),
    body: Range<usize>,
    parts: &Parts,
) -> Result<Option<(String, Vec<Moved>)>, NotFound> {
    let plain = without_nested_comments(text.get(body.clone()).unwrap_or_default());
    let tokens = lex_rust(&plain).0.tokens;
    if closure::bar(&tokens).is_some() || defines_parts(&tokens) {
        return Ok(None);
    }
    let blank = |part: Option<&str>| -> String {
        part.unwrap_or_default().bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect()
    };
    let mut out = format!("{}{plain}{}", blank(text.get(..body.start)), blank(text.get(body.end..)));
    let (mut moved, mut own) = (Vec::new(), None);
    for (part, alias) in parts.used(&tokens)? {
        out.push('\n');
        let line = 1 + out.bytes().filter(|b| *b == b'\n').count();
        let part = match part {
            Used::Own(range) => {
                let own =
                    own.get_or_insert_with(|| Arc::new(OtherFile { name: file.to_owned(), text: text.to_owned() }));
                Other { file: own.clone(), range }
            }
            Used::Other(other) => other,
        };
        match (alias, part.text().split_once('{')) {
            (Some(alias), Some((head, body))) => {
                out.push_str(&format!("{}as {alias} {{{body}", head.trim_end().to_owned() + " "))
            }
            _ => out.push_str(&part.text()),
        }
        moved.push(Moved { line, file: part.file.name.clone(), from: part.line() });
    }
    Ok(Some((out, moved)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_found_wherever_they_stand() {
        let text = "
            ptx! { a }
            mod m { fn f() { let k = ptx_dsl::ptx!(b); g(ptx![c], ptx, !(d)); } }
            macro_rules! kernel { ($x:ident) => { ptx! { $x } }; }
            vec![ptx! { e }];
            // ptx! { no }
            \"ptx! { no }\";";
        let found: Vec<&str> = bodies(text).unwrap().into_iter().map(|r| text[r].trim()).collect();
        assert_eq!(found, ["a", "b", "c", "e"]);
        let text = "include_ptx!(a); macro_rules! k { () => { ptx! { x } }; (b) => { mod m { include_ptx!(y); } }; }";
        let found = macros(text).unwrap();
        let included: Vec<&str> = found.included.into_iter().map(|r| &text[r]).collect();
        let in_rules: Vec<&str> = found.in_rules.iter().map(|r| &text[r.clone()]).collect();
        assert_eq!((found.bodies.len(), included, in_rules), (0, vec!["a"], vec!["ptx", "include_ptx"]));
        let text = "mod a { pub mod b { ptx! { x } } ptx! { y } } ptx! { z }";
        let found = macros(text).unwrap();
        let modules: Vec<String> = found.bodies.iter().map(|body| found.modules_around(body).join("::")).collect();
        assert_eq!(modules, ["a::b", "a", ""]);
    }

    #[test]
    fn bytes_are_those_of_the_file() {
        for _ in 0..2 {
            let text = "const S: &str = \"€ü\"; ptx! { üé }";
            assert_eq!(bodies(text).map(|found| found.into_iter().map(|r| &text[r]).collect()), Ok(vec![" üé "]));
        }
    }

    #[test]
    fn comments_in_comments_disappear() {
        let text = "a // /* b\n/* c /* d */ */ e \"/* /* f\" /* /* /* g */ */ */ h";
        assert_eq!(without_nested_comments(text), "a // /* b\n/* c    d    */ e \"/* /* f\" /*       g       */ h");
        assert_eq!(without_nested_comments("a /* b /* c */ d"), "a /* b    c    d");
    }

    #[test]
    fn what_is_no_rust_is_an_error() {
        assert_eq!(
            bodies("fn f() {\n  ("),
            Err("this is not Rust: cannot parse string into token stream in line 2, column 3".into())
        );
    }
}
