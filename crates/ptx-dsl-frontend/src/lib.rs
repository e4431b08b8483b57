//! The front end of `ptx-dsl`: [`compile`] takes tokens and gives the findings, the typed module and the printed text. Its stages
//! are crates of their own, which cargo compiles in parallel: `ptx-dsl-syntax` parses, prints and checks with the table of
//! `ptx-dsl-isa`, and `ptx-dsl-lint` has the rules of protocol and flow.
//!
//! Everything here works on plain data and reports findings as [`diag::Diagnostic`]s; nothing panics on any input.

pub mod levels;
pub mod passes;
pub mod session;
pub mod source;
#[cfg(test)]
mod tests;
// The tests of helps name the crate.
#[cfg(test)]
extern crate self as ptx_dsl_frontend;

use diag::{Class, Diagnostic, Severity};
use notes::Notes;
pub use ptx_dsl_catalogue as code;
use ptx_dsl_isa::constant::Constants;
pub use ptx_dsl_isa::{constant, diag, edit, hir, isa, opcode, qualifier, span, table, ty};
pub use ptx_dsl_syntax::{ast, check, lex, lines, notes, parse, print, rust_tokens, token};
use token::Token;

/// The result for a module.
#[derive(Debug, Clone, Default)]
pub struct Compiled {
    /// As written.
    pub ast: ast::Module,
    /// Typed; broken statements are left out.
    pub hir: hir::Module,
    /// Canonical PTX.
    pub ptx: String,
    /// By instruction (`ast::Instr::index`): its line in `ptx`, from 1.
    pub lines: Vec<u32>,
    /// Where the items of `ast` are in `ptx`.
    pub items: print::Items,
    /// All findings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    /// The texts of single kernels.
    pub fn entries(&self) -> print::Entries<'_> {
        print::Entries::new(&self.ast, &self.ptx, &self.items)
    }

    /// Is there an error?
    pub fn failed(&self) -> bool {
        has_error(&self.diagnostics)
    }
}

fn has_error(found: &[Diagnostic]) -> bool {
    found.iter().any(|d| d.severity == Severity::Error)
}

fn keep(found: &mut Vec<Diagnostic>, wanted: &dyn Fn(&Diagnostic) -> bool) {
    found.retain(wanted);
}

/// Parses, checks and prints a module.
pub fn compile(tokens: &[Token]) -> Compiled {
    compile_at(tokens, None, None, &[], Notes::default())
}

/// As [`compile`], for tokens that rustc compiles: they may have Rust constants.
pub fn compile_in_rust(tokens: &[Token], notes: Notes) -> Compiled {
    let (mut ast, diagnostics) = parse::parse(tokens);
    ast.notes = notes;
    let mut compiled = compile_parsed(ast, diagnostics, true);
    print::ranges::shorten(&mut compiled.diagnostics, true);
    compiled
}

/// As [`compile`], with another target or version than the module declares, levels of findings that apply after those of the header, and
/// what is printed beside the module. Platform options of the target stay.
pub fn compile_at(
    tokens: &[Token],
    target: Option<&str>,
    version: Option<(u32, u32)>,
    levels: &[(levels::Level, levels::Selector)],
    notes: Notes,
) -> Compiled {
    let (mut ast, mut diagnostics) = parsed(tokens, target, version, &levels::set(levels));
    ast.notes = notes;
    without_rust(&ast, &mut diagnostics);
    let mut compiled = compile_parsed(ast, diagnostics, true);
    print::ranges::shorten(&mut compiled.diagnostics, false);
    compiled
}

/// Errors at constants, which only rustc evaluates.
fn without_rust(ast: &ast::Module, diagnostics: &mut Vec<Diagnostic>) {
    for constant in &ast.constants.declarations {
        diagnostics.push(parse::unknown_value(constant));
    }
}

/// As [`compile_at`], for the tokens of `ptx!` in a Rust file that nobody compiles: they may have repetitions and Rust constants.
pub fn compile_rust_file(
    tokens: &[Token],
    target: Option<&str>,
    version: Option<(u32, u32)>,
    levels: &[(levels::Level, levels::Selector)],
    notes: Notes,
) -> Compiled {
    let compile = |tokens: &[Token], notes: Notes| {
        let (mut ast, diagnostics) = parsed(tokens, target, version, &levels::set(levels));
        ast.notes = notes;
        let mut compiled = compile_parsed(ast, diagnostics, true);
        print::ranges::shorten(&mut compiled.diagnostics, true);
        compiled
    };
    if !parse::repeat::repeats(tokens) {
        return compile(tokens, notes);
    }
    let free = tokens.iter().map(|token| token.id + 1).max().unwrap_or(0);
    let (expanded, mut notes) = (parse::repeat::expand(tokens, free), notes);
    expanded.place_comments(&expanded.tokens, &mut notes);
    let mut compiled = compile(&expanded.tokens, notes);
    expanded.report(&mut compiled.diagnostics);
    compiled
}

/// A module with this target, version and these levels.
fn parsed(
    tokens: &[Token],
    target: Option<&str>,
    version: Option<(u32, u32)>,
    levels: &[levels::SetLevel],
) -> (ast::Module, Vec<Diagnostic>) {
    let (mut ast, diagnostics) = parse::parse(tokens);
    ast.levels.extend_from_slice(levels);
    if let Some(name) = target {
        ast.target.retain(|w| isa::target::option(&w.text).is_some());
        ast.target.insert(0, ast::Word { text: name.to_string(), span: span::Span::default() });
    }
    if let Some((major, minor)) = version {
        ast.version = Some(ast::Version { major, minor, span: span::Span::default() });
    }
    (ast, diagnostics)
}

/// `rules`: with the findings of 06xx.
fn compile_parsed(ast: ast::Module, mut diagnostics: Vec<Diagnostic>, rules: bool) -> Compiled {
    let mut compiled = compile_ast(ast, rules);
    // What the header lacks was said where it stands (PTX0131), or its item is broken (PTX0130).
    let mut header = false;
    for d in &diagnostics {
        header |= d.code.is_one_of(&[code::UNKNOWN_HEADER_ITEM, code::INCOMPLETE_HEADER]);
    }
    if header {
        keep(&mut compiled.diagnostics, &|d| !d.code.is_one_of(&[code::NO_VERSION, code::NO_TARGET]));
    }
    // The parser leaves out what it cannot read: how the rest flows says nothing then.
    if has_error(&diagnostics) {
        keep(&mut compiled.diagnostics, &|d| !d.code.is_flow());
    }
    diagnostics.append(&mut compiled.diagnostics);
    diag::sort(&mut diagnostics);
    compiled.diagnostics = diagnostics;
    compiled
}

/// Texts that name expressions of Rust constants show them as written.
fn show_constants(constants: &Constants, found: &mut [Diagnostic]) {
    for d in found {
        let edits = d.edits.iter_mut().map(|edit| &mut edit.text);
        let texts =
            d.notes.iter_mut().chain(&mut d.helps).chain(d.labels.iter_mut().map(|(_, text)| text)).chain(edits);
        for text in texts.chain([&mut d.message]) {
            *text = constants.shown(text);
        }
    }
}

/// Does `nvcc -G` write this into right code?
fn comes_from_debug_build(d: &Diagnostic) -> bool {
    let early_read = d.code == code::TMEM_LOAD_INCOMPLETE && d.class == Class::Protocol;
    early_read || d.code.is_one_of(&[code::UNINITIALISED_REGISTER, code::GUARD_NEVER_HOLDS])
}

/// Checks and prints a module that was parsed before, or built by the caller.
fn compile_ast(ast: ast::Module, rules: bool) -> Compiled {
    let check::Checked { hir, whole, mut diagnostics } = check::check(&ast, &check::Options::default());
    // Calls are followed, so that all functions must be known first.
    if rules {
        diagnostics.append(&mut ptx_dsl_lint::check(&hir, &whole));
    }
    if rules && levels::ask_for_performance(&ast.levels) && !has_error(&diagnostics) {
        diagnostics.append(&mut ptx_dsl_lint::check_performance(&hir, &whole));
    }
    diag::sort(&mut diagnostics);
    diagnostics.dedup();
    // `nvcc -G` inlines nothing, not even what loads from Tensor Memory for its caller, stores each result at once, and leaves
    // in what an optimiser takes out.
    let mut debug = false;
    for word in &ast.target {
        debug |= word.text == "debug";
    }
    if debug {
        keep(&mut diagnostics, &|d| !comes_from_debug_build(d));
    }
    let mut wrong = levels::apply(&ast.levels, &mut diagnostics);
    diagnostics.append(&mut wrong);
    // Hints about the flow wait until the module is right.
    let mut broken = false;
    for d in &diagnostics {
        broken |= d.severity == Severity::Error && !d.code.is_flow();
    }
    if broken {
        keep(&mut diagnostics, &|d| d.severity == Severity::Error || !d.code.is_flow());
    }
    if !hir.constants.is_empty() {
        show_constants(&hir.constants, &mut diagnostics);
    }
    passes::origins::note(&hir, &mut diagnostics);
    let print::Printed { text: ptx, lines, items } =
        print::print_with_lines(&ast, &|i| hir.spelling.get(i.index as usize)?.clone());
    Compiled { ast, hir, ptx, lines, items, diagnostics }
}
