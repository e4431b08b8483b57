//! `check` and `print`: run the front end on files.

use std::io::IsTerminal;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use annotate_snippets::Renderer;
use clap::ArgMatches;
use ptx_dsl::build::rust_parts::{self, Used};
use ptx_dsl::build::{closure, rust_source};
use ptx_dsl_frontend::diag::{Diagnostic, Severity};
use ptx_dsl_frontend::levels;
use ptx_dsl_frontend::lex::{Lexed, lex, lex_rust};
use ptx_dsl_frontend::lines::Lines;
use ptx_dsl_frontend::parse::parse_header;
use ptx_dsl_frontend::parse::repeat::{beside_part, has_pieces};
use ptx_dsl_frontend::token::Token;
use ptx_dsl_frontend::{Compiled, add_alone, check_parts, compile_at, compile_rust_file, hints, reach};

use crate::arguments::{LEVELS, Named, OwnGroup};
use crate::input::inputs;
use crate::rust_file::{self, Job, Seen, is_text_of_rust, with_included};
use crate::rust_types;
use crate::shown::Shown;

/// The options.
pub struct Request<'m> {
    target: Option<&'m str>,
    version: Option<(u32, u32)>,
    levels: Vec<(levels::Level, levels::Selector)>,
    json: bool,
    styled: bool,
    /// Only what is about this kernel is shown.
    entry: Option<&'m str>,
}

impl<'m> Request<'m> {
    fn new(matches: &'m ArgMatches) -> Result<Self, String> {
        Ok(Request {
            target: matches.get_one::<&'static str>("target").copied(),
            version: matches.get_one::<(u32, u32)>("version").copied(),
            levels: levels(matches)?,
            json: matches.try_get_one::<String>("format").ok().flatten().is_some_and(|f| f == "json"),
            styled: std::io::stderr().is_terminal(),
            entry: None,
        })
    }
}

/// `--allow`, `--warn` and `--deny`, in the order in which they were given.
pub fn levels(matches: &ArgMatches) -> Result<Vec<(levels::Level, levels::Selector)>, String> {
    let groups: Vec<&OwnGroup> = match matches.try_get_many("group") {
        Ok(Some(groups)) => groups.collect(),
        // `print` has none of these arguments.
        _ => Vec::new(),
    };
    let mut all: Vec<(usize, levels::Level, &Named)> = Vec::new();
    for (name, _) in LEVELS {
        let (Some(level), Ok(Some(named))) = (levels::Level::from_name(name), matches.try_get_many::<Named>(name))
        else {
            continue;
        };
        all.extend(matches.indices_of(name).into_iter().flatten().zip(named).map(|(place, n)| (place, level, n)));
    }
    all.sort_by_key(|(place, ..)| *place);
    let mut out = Vec::new();
    for (_, level, named) in all {
        let mut selectors = Vec::new();
        resolve(named, &groups, &mut Vec::new(), &mut selectors)?;
        out.extend(selectors.into_iter().map(|selector| (level, selector)));
    }
    Ok(out)
}

/// Adds the codes and classes of a name. `seen` has the groups that were added before.
fn resolve<'n>(
    named: &'n Named,
    groups: &[&'n OwnGroup],
    seen: &mut Vec<&'n str>,
    out: &mut Vec<levels::Selector>,
) -> Result<(), String> {
    let name = match named {
        Named::Selector(selector) => {
            out.push(*selector);
            return Ok(());
        }
        Named::Group(name) => name,
    };
    let Some(group) = groups.iter().find(|g| g.name == *name) else {
        return Err(format!("there is no group `{name}`; define it with `--group {name}=PTX0605,...`"));
    };
    if !seen.contains(&name.as_str()) {
        seen.push(name);
        for member in &group.members {
            resolve(member, groups, seen, out)?;
        }
    }
    Ok(())
}

/// The result for a file.
#[derive(Default)]
pub struct Outcome {
    /// The rendered diagnostics.
    pub shown: String,
    pub errors: usize,
    pub warnings: usize,
    /// Has it an error of the language itself, so that it was not fully typed? Findings whose level can be set do not count.
    pub broken: bool,
    /// The printed module.
    pub ptx: String,
    /// The file could not be read.
    pub unreadable: Option<String>,
    /// Macros of Rust in the expression form, which are not printed.
    pub closures: usize,
    /// Modules of Rust that use parts of other files.
    pub incomplete: usize,
    /// Macros in the rules of other macros.
    pub in_rules: usize,
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
        self.ptx.push_str(&next.ptx);
        self.closures += next.closures;
        self.incomplete += next.incomplete;
        self.in_rules += next.in_rules;
        self.unprinted += next.unprinted;
    }
}

/// `ptx-dsl check`
pub fn run(matches: &ArgMatches) -> Result<bool, String> {
    let request = Request::new(matches)?;
    let files = with_included(inputs(matches)?);
    let (mut errors, mut warnings, mut wrong, mut incomplete, mut in_rules) = (0, 0, 0, 0, 0);
    let mut readable = true;
    each(&files, &request, |outcome| {
        if let Some(reason) = outcome.unreadable {
            readable = false;
            crate::write_err(&format!("error: {reason}\n"));
        }
        if request.json {
            crate::write_out(&outcome.shown);
        } else {
            crate::write_err(&outcome.shown);
        }
        errors += outcome.errors;
        warnings += outcome.warnings;
        wrong += usize::from(outcome.errors > 0);
        incomplete += outcome.incomplete;
        in_rules += outcome.in_rules;
    });
    if !request.json {
        say_what_is_left_out(incomplete, in_rules);
    }
    if !request.json && errors + warnings > 0 {
        let (e, w) = (count(errors, "error"), count(warnings, "warning"));
        let counts = match (errors, warnings) {
            (_, 0) => e,
            (0, _) => w,
            _ => format!("{e} and {w}"),
        };
        crate::write_err(&format!("{counts}; {} checked, {wrong} with errors\n", count(files.len(), "file")));
    }
    if readable { Ok(errors == 0) } else { Err(UNREADABLE.into()) }
}

/// `ptx-dsl print`. Findings of 06xx are reported and do not stop it: the text is legal.
pub fn print(matches: &ArgMatches) -> Result<bool, String> {
    let request = Request::new(matches)?;
    let (mut good, mut readable) = (true, true);
    let (mut closures, mut incomplete, mut unprinted, mut in_rules) = (0, 0, 0, 0);
    let files: Vec<Job> = inputs(matches)?.into_iter().map(Job::from).collect();
    each(&files, &request, |outcome| {
        closures += outcome.closures;
        incomplete += outcome.incomplete;
        unprinted += outcome.unprinted;
        in_rules += outcome.in_rules;
        good &= !outcome.broken;
        crate::write_err(&outcome.shown);
        match outcome.unreadable {
            Some(reason) => {
                readable = false;
                crate::write_err(&format!("error: {reason}\n"));
            }
            None if !outcome.broken => crate::write_out(&outcome.ptx),
            None => {}
        }
    });
    say_what_is_left_out(incomplete, in_rules);
    if closures > 0 {
        let kernels = count(closures, "kernel");
        crate::write_err(&format!("{kernels} in expression form not printed: rustc makes the names\n"));
    }
    if unprinted > 0 {
        let modules = count(unprinted, "module");
        crate::write_err(&format!("{modules} not printed: only rustc knows the values of their constants\n"));
    }
    if readable { Ok(good) } else { Err(UNREADABLE.into()) }
}

/// Parts of other files are found by paths of Rust, and other macros are expanded by rustc.
fn say_what_is_left_out(incomplete: usize, in_rules: usize) {
    if in_rules > 0 {
        crate::write_err(&format!("{in_rules} `ptx!` in `macro_rules!` not checked: `cargo check` does\n"));
    }
    if incomplete > 0 {
        let modules = count(incomplete, "module");
        crate::write_err(&format!("{modules} with parts of other files not checked: `cargo check` does\n"));
    }
}

const UNREADABLE: &str = "not every file could be read";

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Compiles the files, several at a time, and passes on the results in their order.
fn each(files: &[Job], request: &Request, mut done: impl FnMut(Outcome)) {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    if workers < 2 {
        files.iter().for_each(|f| done(outcome(f, request)));
        return;
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..workers {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(n) else { return };
                    if send.send((n, outcome(file, request))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        // Those that are ready before their turn wait here.
        let mut waiting = std::collections::BTreeMap::new();
        let mut turn = 0;
        for (n, outcome) in receive {
            waiting.insert(n, outcome);
            while let Some(outcome) = waiting.remove(&turn) {
                done(outcome);
                turn += 1;
            }
        }
    });
}

fn outcome(Job { file, levels }: &Job, request: &Request) -> Outcome {
    let levels = levels.iter().chain(&request.levels).copied().collect();
    let request = Request { levels, ..*request };
    let text = match file.read() {
        Ok(text) => text,
        Err(reason) => return Outcome { unreadable: Some(reason), ..Outcome::default() },
    };
    if is_text_of_rust(file, &text) {
        return rust_file::outcome(file, &text, &request);
    }
    findings(&text, (0..text.len(), &Seen::default()), &file.name(), &request)
}

/// Shows what is wrong with a text on standard error; with `entry`, with this kernel and what it calls.
pub fn show(text: &str, name: &str, levels: Vec<(levels::Level, levels::Selector)>, entry: Option<&str>) {
    let styled = std::io::stderr().is_terminal();
    let request = Request { target: None, version: None, levels, json: false, styled, entry };
    crate::write_err(&findings(text, (0..text.len(), &Seen::default()), name, &request).shown);
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
        match closure::as_module(&lexed.tokens) {
            Ok((module, mut found)) => {
                lexed.tokens = module;
                diagnostics.append(&mut found);
            }
            Err(mut found) => {
                diagnostics.append(&mut found);
                let out = Outcome { closures: 1, ..Outcome::default() };
                return rendered(diagnostics, out, (text, &lexed, name), request);
            }
        }
    }
    let own = lexed.tokens.len();
    let mut notes = lexed.notes();
    if of_rust && parse_header(&lexed.tokens).0.is_some_and(|header| header.lines) {
        notes.places = Some(lexed.places(name, text));
    }
    if of_rust {
        match seen.parts.used(&lexed.tokens) {
            Ok(used) => used.into_iter().for_each(|part| {
                // no other files are named here
                if let Used::Own(part) = part {
                    append(&mut lexed, text, part);
                }
            }),
            Err(_) => return Outcome { incomplete: 1, ..Outcome::default() },
        }
    }
    let compile = if of_rust { compile_rust_file } else { compile_at };
    let mut compiled = if of_rust && rust_parts::defines_parts(&lexed.tokens[..own]) {
        // what the part uses stands before it, as in the macro, and is checked where it is defined
        let header = parse_header(&lexed.tokens).1;
        let used = lexed.tokens.len() - own;
        let mut tokens = lexed.tokens.clone();
        tokens[header..].rotate_right(used);
        diagnostics.append(&mut beside_part(&lexed.tokens[..own]));
        Compiled { diagnostics: check_parts(&tokens, header + used..tokens.len(), Vec::new()), ..Compiled::default() }
    } else {
        compile(&lexed.tokens, request.target, request.version, &request.levels, notes)
    };
    if let Some(entry) = request.entry {
        reach::retain(&compiled.hir, entry, &mut compiled.diagnostics);
    }
    if of_rust && !rust_parts::defines_parts(&lexed.tokens[..own]) {
        if !closure {
            let text = |span| text.get(lexed.bytes(span)).unwrap_or_default().to_owned();
            rust_types::check(&mut compiled, &text);
        }
        let in_broken = |at: usize| seen.broken.iter().any(|part| part.contains(&at));
        compiled.diagnostics.retain(|d| !in_broken(lexed.bytes(d.span).start));
        if has_pieces(&lexed.tokens[..own]) {
            add_alone(&check_parts(&lexed.tokens, 0..own, Vec::new()), &mut compiled.diagnostics);
        }
    }
    if of_rust {
        hints::constants(&lexed.tokens, closure, &mut compiled.diagnostics);
    }
    diagnostics.append(&mut compiled.diagnostics);
    let out = match compiled.hir.constants.is_empty() {
        // it has no name without rustc
        true if closure => Outcome { closures: 1, ..Outcome::default() },
        true => Outcome { ptx: compiled.ptx, ..Outcome::default() },
        false => Outcome { unprinted: 1, ..Outcome::default() },
    };
    rendered(diagnostics, out, (text, &lexed, name), request)
}

/// Adds findings to an outcome.
pub fn rendered(
    mut diagnostics: Vec<Diagnostic>,
    mut out: Outcome,
    (text, lexed, name): (&str, &Lexed, &str),
    request: &Request,
) -> Outcome {
    diagnostics.sort_by_key(|d| (d.span.first, d.span.last, d.code));
    if diagnostics.is_empty() {
        return out;
    }
    let lines = Lines::new(text);
    let shown = Shown { text, lexed, lines: &lines, name };
    let renderer = if request.styled { Renderer::styled() } else { Renderer::plain() };
    for d in &diagnostics {
        match d.severity {
            Severity::Error => {
                out.errors += 1;
                out.broken |= !levels::is_lint(d.code);
            }
            Severity::Warning => out.warnings += 1,
        }
        if request.json { shown.json(d, &mut out.shown) } else { shown.human(d, &renderer, &mut out.shown) }
    }
    out
}

/// Adds the tokens of a part.
fn append(lexed: &mut Lexed, text: &str, part: Range<usize>) {
    let more = lex_rust(&rust_source::without_nested_comments(text.get(part.clone()).unwrap_or(""))).0;
    let first = lexed.ranges.len() as u32;
    lexed.tokens.extend(more.tokens.into_iter().map(|token| Token { id: token.id + first, ..token }));
    lexed.ranges.extend(more.ranges.into_iter().map(|range| range.start + part.start..range.end + part.start));
}
