//! The front end of `ptx-dsl`: [`compile`] is all of it, from tokens to what is found. Its stages are crates of their own, for
//! cargo to compile side by side: `ptx-dsl-parse` reads and prints, `ptx-dsl-check` makes the typed module with the table of
//! `ptx-dsl-table`, `ptx-dsl-flow` has the rules of protocol and flow.
//!
//! Everything here works on plain data and reports findings as [`diag::Diagnostic`]s; nothing panics on any input.

pub mod explain;
pub mod levels;
#[cfg(test)]
mod tests;

pub use ptx_dsl_check as check;
pub use ptx_dsl_parse::{ast, lex, lines, parse, print, token};
pub use ptx_dsl_table::{diag, hir, isa, span, ty};
use token::Token;

/// What comes of a module.
#[derive(Debug, Clone, Default)]
pub struct Compiled {
    /// As written.
    pub ast: ast::Module,
    /// Typed; what was broken is left out.
    pub hir: hir::Module,
    /// Canonical PTX.
    pub ptx: String,
    /// By instruction (`ast::Instr::index`): its line in `ptx`, from 1.
    pub lines: Vec<u32>,
    /// Everything found, in the order of the source.
    pub diagnostics: Vec<diag::Diagnostic>,
}

impl Compiled {
    /// Is there an error?
    pub fn failed(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == diag::Severity::Error)
    }
}

/// Parses, checks and prints a module.
pub fn compile(tokens: &[Token]) -> Compiled {
    compile_for(tokens, None, None)
}

/// As [`compile`], with another target or version than the module declares; platform options of the target stay.
pub fn compile_for(tokens: &[Token], target: Option<&str>, version: Option<(u32, u32)>) -> Compiled {
    compile_at(tokens, target, version, &[])
}

/// As [`compile_for`], with levels of findings that count after those of the header.
pub fn compile_at(
    tokens: &[Token],
    target: Option<&str>,
    version: Option<(u32, u32)>,
    levels: &[(levels::Level, u16)],
) -> Compiled {
    let (mut ast, mut diagnostics) = parse::parse(tokens);
    let set = |&(level, code)| levels::SetLevel { level, code, span: span::Span::default() };
    ast.levels.extend(levels.iter().map(set));
    if let Some(name) = target {
        ast.target.retain(|w| isa::target::option(&w.text).is_some());
        ast.target.insert(0, ast::Word { text: name.to_string(), span: span::Span::default() });
    }
    if let Some((major, minor)) = version {
        ast.version = Some(ast::Version { major, minor, span: span::Span::default() });
    }
    let mut compiled = compile_ast(ast);
    // What the header lacks was said where it stands (PTX0131), or its item is broken (PTX0130).
    if diagnostics.iter().any(|d| matches!(d.code, 130 | 131)) {
        compiled.diagnostics.retain(|d| !matches!(d.code, 304 | 305));
    }
    // The parser leaves out what it cannot read: how the rest flows says nothing then.
    if diagnostics.iter().any(|d| d.severity == diag::Severity::Error) {
        compiled.diagnostics.retain(|d| !(600..700).contains(&d.code));
    }
    diagnostics.append(&mut compiled.diagnostics);
    diag::sort(&mut diagnostics);
    compiled.diagnostics = diagnostics;
    compiled
}

/// Checks and prints a module that was parsed before, or put together by the caller.
pub fn compile_ast(ast: ast::Module) -> Compiled {
    let check::Checked { hir, whole, mut diagnostics } = check::check(&ast, &check::Options::default());
    // Calls are followed, so that all functions must be known first.
    diagnostics.append(&mut ptx_dsl_flow::check(&hir, &whole));
    diag::sort(&mut diagnostics);
    diagnostics.dedup();
    // `nvcc -G` inlines nothing, not even what loads from Tensor Memory for its caller, stores each result at once, and leaves
    // in what an optimiser takes out.
    if ast.target.iter().any(|word| word.text == "debug") {
        diagnostics.retain(|d| !matches!(d.code, 605 | 620 | 622));
    }
    let wrong = levels::apply(&ast.levels, &mut diagnostics);
    diagnostics.extend(wrong);
    // Hints about the flow wait until the module is right.
    let flow = |d: &diag::Diagnostic| (600..700).contains(&d.code);
    if diagnostics.iter().any(|d| d.severity == diag::Severity::Error && !flow(d)) {
        diagnostics.retain(|d| d.severity == diag::Severity::Error || !flow(d));
    }
    let (ptx, lines) = print::print_with_lines(&ast, &|i| hir.spelling.get(i.index as usize).cloned().flatten());
    Compiled { ast, hir, ptx, lines, diagnostics }
}
