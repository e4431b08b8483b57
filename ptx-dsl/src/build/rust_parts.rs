//! Parts of modules in Rust files that nobody compiles. A module sees those of its own file, and of files that are named or found for it.

use std::ops::Range;
use std::sync::Arc;

use ptx_dsl_frontend::lex::lex_rust;
use ptx_dsl_frontend::lines::Lines;
use ptx_dsl_frontend::parse::parse_header;
use ptx_dsl_frontend::token::{Tok, Token, is_at, word_at};

use super::rust_source::without_nested_comments;

/// The parts of a file, and of others.
#[derive(Debug, Default, Clone)]
pub struct Parts {
    all: Vec<Defined>,
}

/// The definition of a part.
#[derive(Debug, Clone)]
struct Defined {
    name: String,
    /// The modules around it, if they are known.
    module: Option<Vec<String>>,
    part: Used,
    uses: Vec<Path>,
}

/// A file with parts that another file uses.
#[derive(Debug, PartialEq, Eq)]
pub struct OtherFile {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A part in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// The file.
    pub file: Arc<OtherFile>,
    /// The bytes from `part` to `}`.
    pub range: Range<usize>,
}

impl Other {
    /// The text of the part, after as many spaces as there are characters before it in its line.
    pub fn text(&self) -> String {
        let (_, column) = Lines::new(&self.file.text).line_column(self.range.start);
        let part = without_nested_comments(self.file.text.get(self.range.clone()).unwrap_or_default());
        format!("{}{part}", " ".repeat(column - 1))
    }

    /// Where it begins in its file, from 1.
    pub fn line(&self) -> usize {
        Lines::new(&self.file.text).line_column(self.range.start).0
    }
}

/// A part that a module uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Used {
    /// The bytes of the file itself.
    Own(Range<usize>),
    /// A part of another file.
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

impl NotFound {
    /// The name of the part.
    pub fn name(&self) -> &str {
        match self {
            NotFound::No(name) | NotFound::Several(name) => name,
        }
    }
}

/// `crate::parts::ring` of `use crate::parts::{ring as other};`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// Its names, without an alias.
    pub names: Vec<String>,
    /// The last name among the tokens.
    pub at: usize,
    /// `other`
    pub alias: Option<String>,
}

impl Path {
    fn name(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }

    /// The names from the root of the crate, as seen from these modules.
    fn resolved(&self, module: &[String]) -> Vec<String> {
        let (mut module, mut rest) = (module.to_vec(), self.names.as_slice());
        while let [first, more @ ..] = rest {
            match first.as_str() {
                "crate" => module.clear(),
                "self" => {}
                "super" => _ = module.pop(),
                _ => break,
            }
            rest = more;
        }
        module.extend_from_slice(rest);
        module
    }
}

/// The parts that a module uses.
#[derive(Debug, Default)]
pub struct UsedParts {
    /// A part stands after those that it uses. Each has the name that the module gives it, if that is another one.
    pub parts: Vec<(Used, Option<String>)>,
    /// The parts that are not found, each with the place of a name among the tokens of the module: its own, or that of the part that uses it.
    pub missing: Vec<(NotFound, usize)>,
}

impl Parts {
    /// The parts that are defined in these bodies.
    pub fn of(text: &str, bodies: &[Range<usize>]) -> Self {
        let mut parts = Parts::default();
        for body in bodies {
            parts.define(text, body, None, &Used::Own);
        }
        parts
    }

    /// Says where in the crate the parts of the file itself are: in these modules, and in `inside(bytes)` of the file.
    pub fn place(&mut self, module: &[String], inside: impl Fn(&Range<usize>) -> Vec<String>) {
        for known in &mut self.all {
            if let Used::Own(range) = &known.part {
                known.module = Some(module.iter().cloned().chain(inside(range)).collect());
            }
        }
    }

    /// Adds the parts of another file, whose modules are not known.
    pub fn add(&mut self, file: &str, text: &str, bodies: &[Range<usize>]) {
        let file = Arc::new(OtherFile { name: file.to_owned(), text: text.to_owned() });
        for body in bodies {
            self.add_body(&file, body, None);
        }
    }

    /// Adds the parts in a body of another file, which is in these modules.
    pub fn add_body(&mut self, file: &Arc<OtherFile>, body: &Range<usize>, module: Option<Vec<String>>) {
        self.define(&file.text, body, module, &|range| Used::Other(Other { file: file.clone(), range }));
    }

    fn define(
        &mut self,
        text: &str,
        body: &Range<usize>,
        module: Option<Vec<String>>,
        used: &dyn Fn(Range<usize>) -> Used,
    ) {
        let Some(plain) = text.get(body.clone()) else { return };
        let lexed = lex_rust(&without_nested_comments(plain)).0;
        let definitions = definitions(&lexed.tokens);
        if definitions.is_empty() {
            return;
        }
        let uses = uses(&lexed.tokens);
        for (name, tokens) in definitions {
            let bytes = |at: usize| lexed.ranges[lexed.tokens[at].id as usize].clone();
            let range = body.start + bytes(tokens.start).start..body.start + bytes(tokens.end - 1).end;
            let (module, uses) = (module.clone(), uses.clone());
            self.all.push(Defined { name, module, part: used(range), uses });
        }
    }

    /// The part that a path names, as seen from these modules: the one at that place in the crate; else the only one with that name, in the
    /// file itself or in others.
    fn lookup(&self, path: &Path, module: Option<&[String]>) -> Result<&Defined, NotFound> {
        let named: Vec<&Defined> = self.all.iter().filter(|known| known.name == path.name()).collect();
        let place = module.map(|module| path.resolved(module));
        let modules = place.as_deref().and_then(<[String]>::split_last).map(|(_, modules)| modules);
        let is_there = |known: &&&Defined| modules.is_some() && known.module.as_deref() == modules;
        let is_own = |known: &&&Defined| matches!(known.part, Used::Own(_));
        let choices: [Vec<&Defined>; 3] = [
            named.iter().filter(is_there).copied().collect(),
            named.iter().filter(is_own).copied().collect(),
            named.clone(),
        ];
        match choices.into_iter().find(|found| !found.is_empty()).as_deref() {
            Some([only]) => Ok(only),
            Some(_) => Err(NotFound::Several(path.name().to_owned())),
            None => Err(NotFound::No(path.name().to_owned())),
        }
    }

    /// The parts that a module uses, and those that they use. `module`: the modules around it, if they are known.
    pub fn found(&self, tokens: &[Token], module: Option<&[String]>) -> UsedParts {
        let own = |path: Path| (path.clone(), module.map(<[String]>::to_vec), path.at);
        let mut paths: Vec<(Path, Option<Vec<String>>, usize)> = uses(tokens).into_iter().map(own).collect();
        let mut all = UsedParts::default();
        let mut at = 0;
        while let Some((path, from, place)) = paths.get(at).cloned() {
            at += 1;
            match self.lookup(&path, from.as_deref()) {
                Ok(known) if !all.parts.iter().any(|(part, alias)| (part, alias) == (&known.part, &path.alias)) => {
                    paths.extend(known.uses.iter().map(|path| (path.clone(), known.module.clone(), place)));
                    all.parts.push((known.part.clone(), path.alias));
                }
                Ok(_) => {}
                Err(missing) if all.missing.iter().any(|(known, _)| *known == missing) => {}
                Err(missing) => all.missing.push((missing, place)),
            }
        }
        all.parts.reverse();
        all
    }

    /// As [`Parts::found`], for a module whose place in the crate is not known.
    ///
    /// # Errors
    /// One is not found.
    pub fn used(&self, tokens: &[Token]) -> Result<Vec<(Used, Option<String>)>, NotFound> {
        let UsedParts { parts, missing } = self.found(tokens, None);
        match missing.into_iter().next() {
            Some((missing, _)) => Err(missing),
            None => Ok(parts),
        }
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

/// The tokens of each `use ...;`.
fn use_items(tokens: &[Token]) -> impl Iterator<Item = Range<usize>> {
    outside(tokens).filter_map(|at| {
        let item = at == 0 || [';', '}', '>'].iter().any(|c| is_at(tokens, at - 1, *c));
        let end = || (at..tokens.len()).find(|end| is_at(tokens, *end, ';')).map_or(tokens.len(), |end| end + 1);
        (word_at(tokens, at) == Some("use") && item).then(|| at..end())
    })
}

/// The paths in `use`.
pub fn uses(tokens: &[Token]) -> Vec<Path> {
    let mut found = Vec::new();
    for item in use_items(tokens) {
        let end = if is_at(tokens, item.end - 1, ';') { item.end - 1 } else { item.end };
        use_tree(&tokens[..end], item.start + 1, &mut found);
    }
    found
}

/// The tokens without each `use ...;`.
pub fn without_uses(tokens: &[Token]) -> Vec<Token> {
    let items: Vec<Range<usize>> = use_items(tokens).collect();
    let kept = tokens.iter().enumerate().filter(|(at, _)| !items.iter().any(|item| item.contains(at)));
    kept.map(|(_, token)| token.clone()).collect()
}

/// The paths of a tree, which ends where the tokens end.
fn use_tree(tokens: &[Token], from: usize, found: &mut Vec<Path>) {
    // the names before each `{` that is open
    let mut outer: Vec<Vec<String>> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let (mut last, mut alias) = (None, None);
    for at in from..=tokens.len() {
        let ends = at == tokens.len() || is_at(tokens, at, ',') || is_at(tokens, at, '}');
        if ends {
            if let Some(last) = last.take() {
                found.push(Path { names: std::mem::take(&mut names), at: last, alias: alias.take() });
            }
            if is_at(tokens, at, '}') {
                outer.pop();
            }
            names = outer.last().cloned().unwrap_or_default();
        } else if is_at(tokens, at, '{') {
            outer.push(names.clone());
            last = None;
        } else if let Some(name) = word_at(tokens, at) {
            if at > from && word_at(tokens, at - 1) == Some("as") {
                alias = Some(name.to_owned());
            } else if name != "as" {
                names.push(name.to_owned());
                last = Some(at);
            }
        }
    }
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
        let own = |(part, alias): (Used, Option<String>)| match part {
            Used::Own(range) => (&text[range], alias.unwrap_or_default()),
            Used::Other(_) => ("", String::new()),
        };
        let shown: Vec<(&str, String)> = used(2).unwrap().into_iter().map(own).collect();
        let wanted = [("part b { /* /* } */ */ }", ""), ("part a { .inline f() { } }", "d")];
        assert_eq!(shown, wanted.map(|(part, alias)| (part, alias.to_owned())));
        assert_eq!(used(3), Err(NotFound::No("c".to_owned())));
        let (mut with, other) = (Parts::of(&text, &ranges), "part c { } part a { }");
        with.add("o.rs", other, &[0..10, 11..other.len()]);
        let found = with.used(&lex_rust(bodies[3]).0.tokens).unwrap();
        let file = |name: &str, text: &str| Arc::new(OtherFile { name: name.into(), text: text.into() });
        let c = Other { file: file("o.rs", other), range: 0..10 };
        let d = Other { file: file("f", "\n  part d { }"), range: 3..13 };
        assert_eq!((d.text().as_str(), d.line()), ("  part d { }", 2));
        assert!(found.contains(&(Used::Other(c), None)) && found.contains(&(with.all[0].part.clone(), None)));
        with.add("p.rs", other, std::slice::from_ref(&(0..10)));
        assert_eq!(with.used(&lex_rust(bodies[3]).0.tokens), Err(NotFound::Several("c".to_owned())));
        assert!(defines_parts(&lex_rust(bodies[0]).0.tokens) && !defines_parts(&lex_rust(bodies[2]).0.tokens));
    }

    #[test]
    fn paths_are_followed_from_the_module() {
        let bodies = ["use a::{b as c, d::{e, f as g}, super::h};", "<sm_90, ptx 8.0> part ring { }"];
        let shown: Vec<String> = uses(&lex_rust(bodies[0]).0.tokens).iter().map(|path| path.names.join("::")).collect();
        assert_eq!(shown, ["a::b", "a::d::e", "a::d::f", "a::super::h"]);
        // two files with parts of one name, at known places
        let (mut parts, body) = (Parts::default(), 0..bodies[1].len());
        let modules = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
        for module in ["hopper::parts", "hopper::old"] {
            let file = Arc::new(OtherFile { name: module.into(), text: bodies[1].into() });
            parts.add_body(&file, &body, Some(modules(module)));
        }
        for (path, from, wanted) in [
            ("crate::hopper::parts::ring", "hopper::k", Some("hopper::parts")),
            ("super::old::ring", "hopper::k", Some("hopper::old")),
            ("super::super::hopper::old::ring", "hopper::k", Some("hopper::old")),
            ("self::parts::ring", "hopper", Some("hopper::parts")),
            ("old::ring", "hopper", Some("hopper::old")),
            ("crate::ring", "hopper", None),
        ] {
            let tokens = lex_rust(&format!("<sm_90, ptx 8.0> use {path};")).0.tokens;
            let found = parts.found(&tokens, Some(&modules(from)));
            let files: Vec<&str> = found
                .parts
                .iter()
                .map(|(part, _)| if let Used::Other(other) = part { other.file.name.as_str() } else { "" })
                .collect();
            assert_eq!(files, wanted.into_iter().collect::<Vec<_>>(), "{path}");
            assert_eq!(found.missing.len(), usize::from(wanted.is_none()), "{path}");
        }
    }
}
