//! Rust files: their modules, what these see of each other, and the files of PTX that they include.

use ptx_dsl_frontend::code;
use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ptx_dsl::build::rust_parts;
use ptx_dsl::build::rust_source;
use ptx_dsl_frontend::diag::Diagnostic;
use ptx_dsl_frontend::levels;
use ptx_dsl_frontend::lex::{Lexed, lex, lex_rust};
use ptx_dsl_frontend::parse::parse_file_options;
use ptx_dsl_frontend::span::Span;
use ptx_dsl_frontend::token::{Tok, Token};

use crate::findings::{Outcome, Request, findings, rendered};
use crate::input::{Input, is_rust};
use crate::library::Library;
use crate::shown::Sources;
use crate::unchecked;

/// The findings in the macros of a Rust file.
pub fn outcome(file: &Input, text: &str, library: &Library, request: &Request) -> Outcome {
    let macros = match rust_source::macros(text) {
        Ok(macros) => macros,
        Err(reason) => {
            let unreadable = Some(format!("cannot read `{}`: {reason}", file.name()));
            return Outcome { unreadable, ..Outcome::default() };
        }
    };
    let (bodies, included, in_rules) = (macros.bodies.clone(), macros.included.clone(), macros.in_rules.clone());
    let mut seen = library.seen(file, text, macros);
    let defines = |body: &Range<usize>| {
        let body = rust_source::without_nested_comments(text.get(body.clone()).unwrap_or_default());
        rust_parts::defines_parts(&lex_rust(&body).0.tokens)
    };
    let (parts, others): (Vec<_>, Vec<_>) = bodies.into_iter().partition(defines);
    let mut outcomes = Vec::new();
    for body in parts {
        let outcome = findings(text, (body.clone(), &seen), &file.name(), request);
        if outcome.errors > 0 {
            seen.broken.push(body.clone());
        }
        outcomes.push((body.start, outcome));
    }
    outcomes.extend(others.into_iter().map(|body| (body.start, findings(text, (body, &seen), &file.name(), request))));
    if let Input::File(path) = file {
        let included = included.into_iter().filter_map(|arguments| Included::new(path, text, arguments));
        outcomes.extend(included.filter_map(|file| {
            let found = file.unreadable()?;
            Some((file.at.start, at_bytes(found, file.at, (&path.display().to_string(), text), request)))
        }));
    }
    outcomes.extend(in_rules.into_iter().map(|at| {
        let found = unchecked::in_rules(Span::token(0));
        (at.start, at_bytes(found, at, (&file.name(), text), request))
    }));
    outcomes.sort_by_key(|(start, _)| *start);
    let mut all = Outcome::default();
    outcomes.into_iter().for_each(|(_, outcome)| all.add(outcome));
    all
}

/// A finding about these bytes of a file.
fn at_bytes(found: Diagnostic, at: Range<usize>, (name, text): (&str, &str), request: &Request) -> Outcome {
    let lexed = Lexed { ranges: vec![at], ..Lexed::default() };
    let mut found = vec![Diagnostic { span: Span::token(0), ..found }];
    levels::apply(&levels::set(&request.levels), &mut found);
    rendered(found, Outcome::default(), (&Sources::new(name, text), &lexed), request)
}

/// A file to check, with the levels of the macro that includes it.
pub struct Job {
    pub file: Input,
    pub levels: Vec<(levels::Level, levels::Selector)>,
}

impl From<Input> for Job {
    fn from(file: Input) -> Self {
        Job { file, levels: Vec::new() }
    }
}

/// The files, and those that the Rust files among them include, each once.
pub fn with_included(files: Vec<Input>) -> Vec<Job> {
    let path = |file: &Input| match file {
        Input::File(path) => path.canonicalize().ok(),
        Input::Stdin => None,
    };
    let mut known: HashSet<PathBuf> = files.iter().filter_map(path).collect();
    let mut jobs = Vec::new();
    for file in files {
        let included = match &file {
            Input::File(path) if rust_source::is_rust(path) => Included::of(path),
            _ => Vec::new(),
        };
        jobs.push(Job::from(file));
        for Included { path, levels, .. } in included {
            if path.canonicalize().is_ok_and(|path| known.insert(path)) {
                jobs.push(Job { file: Input::File(path), levels });
            }
        }
    }
    jobs
}

/// `include_ptx!("kernel.ptx", deny(protocol))`
struct Included {
    path: PathBuf,
    /// The bytes of the name.
    at: Range<usize>,
    levels: Vec<(levels::Level, levels::Selector)>,
}

impl Included {
    /// All of a Rust file. One that cannot be read is reported when it is checked.
    fn of(path: &Path) -> Vec<Included> {
        let Ok(text) = Input::File(path.to_owned()).read() else { return Vec::new() };
        let included = rust_source::macros(&text).map(|macros| macros.included).unwrap_or_default();
        included.into_iter().filter_map(|arguments| Included::new(path, &text, arguments)).collect()
    }

    /// `None` without a string: a name that another macro makes.
    fn new(rust: &Path, text: &str, arguments: Range<usize>) -> Option<Included> {
        let lexed = lex(text.get(arguments.clone())?).0;
        let raw = usize::from(matches!(&lexed.tokens.first()?.kind, Tok::Word(word) if word == "r"));
        let name = lexed.tokens.get(raw)?;
        let Tok::Str(file) = &name.kind else { return None };
        let bytes = lexed.ranges.get(name.id as usize)?;
        let levels = parse_file_options(&without_signatures(&lexed.tokens[raw + 1..])).0.levels;
        Some(Included {
            path: rust.with_file_name(file),
            at: arguments.start + bytes.start..arguments.start + bytes.end,
            levels: levels.into_iter().map(|set| (set.level, set.of)).collect(),
        })
    }

    fn unreadable(&self) -> Option<Diagnostic> {
        let error = std::fs::File::open(&self.path).err()?;
        let message = format!("cannot read `{}`: {error}", self.path.display());
        let help = "write `include_ptx!(\"kernel.ptx\")`, relative to this file";
        Some(Diagnostic::error(code::NO_INCLUDED_FILE, Span::token(0), message).help(help))
    }
}

/// The tokens without `, fn k(x: &mut [f32])`.
fn without_signatures(tokens: &[Token]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let (mut depth, mut signature) = (0i32, false);
    for (at, token) in tokens.iter().enumerate() {
        match &token.kind {
            Tok::Punct('(' | '[' | '{') => depth += 1,
            Tok::Punct(')' | ']' | '}') => depth -= 1,
            Tok::Punct(',') if depth == 0 => {
                signature = matches!(tokens.get(at + 1), Some(Token { kind: Tok::Word(word), .. }) if word == "fn");
            }
            _ => {}
        }
        if !signature {
            out.push(token.clone());
        }
    }
    out
}

/// Is this text of standard input Rust?
pub fn is_text_of_rust(file: &Input, text: &str) -> bool {
    let begins_ptx =
        || lex(text).0.tokens.first().is_none_or(|first| matches!(first.kind, Tok::Punct('.' | '<' | '@')));
    is_rust(file) || matches!(file, Input::Stdin) && !begins_ptx() && rust_source::macros(text).is_ok()
}
