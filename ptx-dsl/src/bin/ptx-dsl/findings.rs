//! The findings in a text: a file, or a macro in a Rust file.

use std::io::IsTerminal;
use std::ops::Range;

use annotate_snippets::Renderer;
use ptx_dsl::build::rust_parts::{self, Parts, Used, UsedParts};
use ptx_dsl::build::rust_source;
use ptx_dsl::build::rust_source::Macros;
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::code;
use ptx_dsl_frontend::diag::{self, Diagnostic, Severity};
use ptx_dsl_frontend::levels;
use ptx_dsl_frontend::lex::{Lexed, lex, lex_rust};
use ptx_dsl_frontend::parse::repeat::{expand, repeats};
use ptx_dsl_frontend::parse::{parse, parse_header};
use ptx_dsl_frontend::passes::pieces;
use ptx_dsl_frontend::session::{Input, Session, check_definitions};
use ptx_dsl_frontend::source::closure;
use ptx_dsl_frontend::token::{Tok, Token};

use crate::rust_types;
use crate::shown::{Shown, Sources};
use crate::unchecked;

/// How findings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// With the source, on standard error.
    Human,
    /// An object on each line of standard output.
    Json,
    /// One document of SARIF on standard output.
    Sarif,
}

impl Format {
    /// The format that `--message-format` names.
    pub fn from_name(name: &str) -> Self {
        match name {
            "json" => Format::Json,
            "sarif" => Format::Sarif,
            _ => Format::Human,
        }
    }
}

/// The options.
pub struct Request<'m> {
    pub target: Option<&'m str>,
    pub version: Option<(u32, u32)>,
    pub levels: Vec<(levels::Level, levels::Selector)>,
    pub format: Format,
    pub styled: bool,
    /// Warnings are left out.
    pub quiet: bool,
    /// Only what is about this kernel is shown.
    pub entry: Option<&'m str>,
}

/// The result for a file.
#[derive(Default)]
pub struct Outcome {
    /// The rendered diagnostics.
    pub shown: String,
    pub errors: usize,
    pub warnings: usize,
    /// Does it have an error of the language itself, so that it was not fully typed? Findings whose level can be set do not count.
    pub broken: bool,
    /// The printed modules.
    pub ptx: Vec<String>,
    /// The layouts of tiles, drawn.
    pub layouts: String,
    /// The codes of the diagnostics.
    pub codes: Vec<&'static code::Code>,
    /// The file could not be read.
    pub unreadable: Option<String>,
    /// Macros of Rust in the expression form, which are not printed.
    pub closures: usize,
    /// Modules of Rust that use parts which are not found.
    pub incomplete: usize,
    /// Modules that are not printed, because only rustc knows the values of Rust constants.
    pub unprinted: usize,
}

impl Outcome {
    /// Adds the result for the next module of a Rust file.
    pub fn add(&mut self, next: Outcome) {
        self.shown.push_str(&next.shown);
        self.errors += next.errors;
        self.warnings += next.warnings;
        self.broken |= next.broken;
        self.ptx.extend(next.ptx);
        self.layouts.push_str(&next.layouts);
        self.codes.extend(next.codes);
        self.closures += next.closures;
        self.incomplete += next.incomplete;
        self.unprinted += next.unprinted;
    }
}

/// What the modules of a Rust file see of each other.
#[derive(Default)]
pub struct Seen {
    /// The parts of the file.
    pub parts: Parts,
    /// The macros with parts that have errors. Those are reported there, and not where the parts are used.
    pub broken: Vec<Range<usize>>,
    /// The macros of the file.
    pub macros: Macros,
    /// The modules that the file is in, if they are known.
    pub module: Option<Vec<String>>,
    /// The names of other files that are checked, too. Errors of a part are reported there, and not where the part is used.
    pub checked: Vec<String>,
}

impl Seen {
    /// The modules around a macro, if they are known.
    fn module_of(&self, body: &Range<usize>) -> Option<Vec<String>> {
        let module = self.module.as_ref()?;
        Some(module.iter().cloned().chain(self.macros.modules_around(body)).collect())
    }
}

/// Shows what is wrong with a text, as `check` does; with `entry`, with this kernel and what it calls.
pub fn show(text: &str, name: &str, levels: Vec<(levels::Level, levels::Selector)>, entry: Option<&str>, json: bool) {
    let styled = std::io::stderr().is_terminal();
    let format = if json { Format::Json } else { Format::Human };
    let request = Request { target: None, version: None, levels, format, styled, quiet: false, entry };
    let shown = findings(text, (0..text.len(), &Seen::default()), name, &request).shown;
    if json { crate::write_out(&shown) } else { crate::write_err(&shown) }
}

/// The findings in a piece of a text: a file, or the body of a macro in a Rust file, with the parts of that file.
pub fn findings(text: &str, (part, seen): (Range<usize>, &Seen), name: &str, request: &Request) -> Outcome {
    let of_rust = part.len() < text.len();
    let plain = text.get(part.clone()).unwrap_or("");
    let (mut lexed, mut diagnostics) =
        if of_rust { lex_rust(&rust_source::without_nested_comments(plain)) } else { lex(plain) };
    for range in &mut lexed.ranges {
        *range = range.start + part.start..range.end + part.start;
    }
    let closure = of_rust && closure::bar(&lexed.tokens).is_some();
    if closure {
        match closure::as_module(&lexed.tokens, "kernel") {
            Ok((module, mut found)) => {
                lexed.tokens = module;
                diagnostics.append(&mut found);
            }
            Err(mut found) => {
                diagnostics.append(&mut found);
                let out = Outcome { closures: 1, ..Outcome::default() };
                return rendered(diagnostics, out, (&Sources::new(name, text), &lexed), request);
            }
        }
    }
    let used = match of_rust {
        true => seen.parts.found(&lexed.tokens, seen.module_of(&part).as_deref()),
        false => UsedParts::default(),
    };
    let missing: Vec<Diagnostic> =
        used.missing.iter().map(|(part, at)| unchecked::part(part, lexed.tokens[*at].span())).collect();
    if !missing.is_empty() && used.parts.is_empty() {
        // nothing else reads them
        lexed.tokens = rust_parts::without_uses(&lexed.tokens);
    }
    let mut sources = Sources::new(name, text);
    let mut notes = lexed.notes();
    if of_rust && parse_header(&lexed.tokens).0.is_some_and(|header| header.lines) {
        notes.places = Some(lexed.places(name, text));
    }
    let own = lexed.tokens.len();
    for (part, alias) in &used.parts {
        let begin = lexed.tokens.len();
        match part {
            Used::Own(part) => append(&mut lexed, text, part.clone(), 0),
            Used::Other(other) => {
                let first = sources.add(&other.file.name, &other.file.text);
                append(&mut lexed, &other.file.text, other.range.clone(), first);
            }
        }
        if let Some(alias) = alias {
            rename(&mut lexed.tokens, begin, alias);
        }
    }
    let compiled = if of_rust && rust_parts::defines_parts(&lexed.tokens[..own]) {
        // what the part uses stands before it, as in the macro, and is checked where it is defined
        let header = parse_header(&lexed.tokens).1;
        let used = lexed.tokens.len() - own;
        let mut tokens = lexed.tokens.clone();
        tokens[header..].rotate_right(used);
        let found = check_definitions(&lexed.tokens[..own], &tokens, header + used..tokens.len(), Vec::new());
        diagnostics.extend(found);
        Compiled::default()
    } else {
        let levels = levels::set(&request.levels);
        let text = |span| sources.text(lexed.bytes(span)).to_owned();
        let types = |compiled: &Compiled| rust_types::check(compiled, &text);
        let in_broken = |at: usize| seen.broken.iter().any(|part| part.contains(&at));
        let elsewhere = |found: &mut Vec<Diagnostic>| {
            found.retain(|d| !in_broken(lexed.bytes(d.span).start));
            errors_of_other_files(found, (&lexed, own), &sources, &seen.checked);
        };
        let session = Session {
            in_rust: of_rust,
            target: request.target,
            version: request.version,
            levels: &levels,
            entry: request.entry,
            types: (of_rust && !closure).then_some(&types as _),
            elsewhere: of_rust.then_some(&elsewhere as _),
            ..Session::default()
        };
        let expanded = (of_rust && repeats(&lexed.tokens)).then(|| expand(&lexed.tokens, lexed.ranges.len() as u32));
        if let Some(expanded) = &expanded {
            expanded.place_comments(&expanded.tokens, &mut notes);
        }
        let mut compiled = session.compile(Input {
            tokens: expanded.as_ref().map_or(&lexed.tokens, |expanded| &expanded.tokens),
            expanded: expanded.as_ref(),
            is_closure: closure,
            notes,
            own: of_rust.then_some(0..own),
            hidden: Vec::new(),
            found: std::mem::take(&mut diagnostics),
        });
        diagnostics = std::mem::take(&mut compiled.diagnostics);
        compiled
    };
    if !missing.is_empty() {
        diagnostics.retain(does_not_depend_on_parts);
        diagnostics.extend(missing);
        levels::apply(&levels::set(&request.levels), &mut diagnostics);
        let out = Outcome { incomplete: 1, broken: true, ..Outcome::default() };
        return rendered(diagnostics, out, (&sources, &lexed), request);
    }
    let layouts = layouts(&lexed);
    let mut out = match compiled.hir.constants.is_empty() {
        // it has no name without rustc
        true if closure => Outcome { closures: 1, ..Outcome::default() },
        true => Outcome { ptx: vec![compiled.ptx], ..Outcome::default() },
        false => Outcome { unprinted: 1, ..Outcome::default() },
    };
    out.layouts = layouts;
    rendered(diagnostics, out, (&sources, &lexed), request)
}

/// The layouts that a module or a part declares, drawn.
fn layouts(lexed: &Lexed) -> String {
    if !lexed.tokens.iter().any(|token| token.word() == Some("layout")) {
        return String::new();
    }
    let all = parse(&expand(&lexed.tokens, lexed.ranges.len() as u32).tokens).0.layouts;
    all.iter().map(|named| format!("{}: {}, {}\n", named.name.text, named.element, named.layout)).collect()
}

/// Adds findings to an outcome.
pub fn rendered(
    mut diagnostics: Vec<Diagnostic>,
    mut out: Outcome,
    (sources, lexed): (&Sources, &Lexed),
    request: &Request,
) -> Outcome {
    diagnostics.retain(|d| !request.quiet || d.severity == Severity::Error);
    diag::sort(&mut diagnostics);
    if diagnostics.is_empty() {
        return out;
    }
    let shown = Shown::new(sources, lexed);
    let renderer = if request.styled { Renderer::styled() } else { Renderer::plain() };
    for d in &diagnostics {
        match d.severity {
            Severity::Error => {
                out.errors += 1;
                out.broken |= !d.code.has_level();
            }
            Severity::Warning => out.warnings += 1,
        }
        match request.format {
            Format::Human => shown.human(d, &renderer, &mut out.shown),
            Format::Json => shown.json(d, &mut out.shown),
            Format::Sarif => shown.sarif(d, &mut out.shown),
        }
        out.codes.push(d.code);
    }
    out
}

/// Errors in the parts of other files do not depend on their uses if the part by itself has them. If the other file is checked, they are
/// reported there; otherwise here, once. `own`: so many tokens are those of the module.
fn errors_of_other_files(
    found: &mut Vec<Diagnostic>,
    (lexed, own): (&Lexed, usize),
    sources: &Sources,
    checked: &[String],
) {
    let other = |d: &Diagnostic| sources.other(lexed.bytes(d.span).start);
    if !found.iter().any(|d| other(d).is_some()) {
        return;
    }
    let mut alone = pieces::check(&lexed.tokens, own..lexed.tokens.len(), Vec::new());
    alone.retain(|d| other(d).is_some());
    pieces::add_alone(&alone, found);
    found.retain(|d| {
        let same = |known: &Diagnostic| (known.code, known.span) == (d.code, d.span);
        !other(d).is_some_and(|file| checked.iter().any(|name| name == file)) || !alone.iter().any(same)
    });
}

/// Is it an error whatever a missing part has? It may have pieces, constants, variables and labels.
fn does_not_depend_on_parts(d: &Diagnostic) -> bool {
    let of_names = [
        code::UNKNOWN_CONSTANT_VALUE,
        code::MALFORMED_REPETITION,
        code::MALFORMED_PART,
        code::PIECE_USE,
        code::UNDECLARED,
    ];
    d.severity == Severity::Error && !d.code.is_flow() && d.constant.is_none() && !d.code.is_one_of(&of_names)
}

/// Gives a part another name, as the macro does: `part ring as other { ... }`.
fn rename(tokens: &mut Vec<Token>, begin: usize, alias: &str) {
    if let Some(name) = tokens.get(begin + 1).cloned() {
        let word = |text: &str| Token { kind: Tok::Word(text.to_owned()), glued: false, ..name.clone() };
        let words = [word("as"), word(alias)];
        tokens.splice(begin + 2..begin + 2, words);
    }
}

/// Adds the tokens of a part in a file whose first byte has this number.
fn append(lexed: &mut Lexed, text: &str, part: Range<usize>, file: usize) {
    let more = lex_rust(&rust_source::without_nested_comments(text.get(part.clone()).unwrap_or(""))).0;
    let (first, start) = (lexed.ranges.len() as u32, file + part.start);
    lexed.tokens.extend(more.tokens.into_iter().map(|token| Token { id: token.id + first, ..token }));
    lexed.ranges.extend(more.ranges.into_iter().map(|range| range.start + start..range.end + start));
}
