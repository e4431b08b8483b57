//! One session from tokens to findings: the macros in their three forms, modules at run time, build scripts and the command line differ
//! only in what they tell it.

use crate::diag::{self, Diagnostic, show_uses};
use crate::levels::{self, SetLevel};
use crate::notes::Notes;
use crate::parse::repeat::{Expanded, beside_part, has_pieces};
use crate::passes::{captures, hints, pieces, reach};
use crate::print::ranges;
use crate::token::Token;
use crate::{Compiled, ast, compile_parsed, parsed, without_rust};
use std::ops::Range;

/// Finds mistakes in the Rust types of a module that was checked.
pub type TypePass<'s> = &'s dyn Fn(&Compiled) -> Vec<Diagnostic>;

/// Removes findings.
pub type Filter<'s> = &'s dyn Fn(&mut Vec<Diagnostic>);

/// What a session knows beside the tokens. The default is a file of PTX.
#[derive(Clone, Copy, Default)]
pub struct Session<'s> {
    /// Is the module in Rust? Then rustc computes its constants, and helps may use what only the macros have.
    pub in_rust: bool,
    /// A target in place of that of the module; the platform options of the module stay.
    pub target: Option<&'s str>,
    /// A version in place of that of the module.
    pub version: Option<(u32, u32)>,
    /// Levels that apply after those of the header.
    pub levels: &'s [SetLevel],
    /// The only kernel that findings are about.
    pub entry: Option<&'s str>,
    /// Changes the module before it is checked.
    pub change: Option<&'s dyn Fn(&mut ast::Module)>,
    /// Finds mistakes in the Rust types of parameters.
    pub types: Option<TypePass<'s>>,
    /// Does nobody read the findings? Then the rules of 06xx are not applied.
    pub unread: bool,
    /// Removes the findings that are reported elsewhere, such as those in a part with errors.
    pub elsewhere: Option<Filter<'s>>,
}

/// The tokens of a module.
#[derive(Default)]
pub struct Input<'t> {
    /// The tokens to compile.
    pub tokens: &'t [Token],
    /// The expansion that made the tokens, if the module repeats something.
    pub expanded: Option<&'t Expanded>,
    /// Was it in expression form?
    pub is_closure: bool,
    /// What is printed beside the module.
    pub notes: Notes,
    /// The tokens as written that are not those of parts; `None` if its pieces are not checked by themselves.
    pub own: Option<Range<usize>>,
    /// Tokens that rustc does not show.
    pub hidden: Vec<Range<u32>>,
    /// The findings of the lexer, and of the reader of the expression form.
    pub found: Vec<Diagnostic>,
}

impl Session<'_> {
    /// Compiles a module and runs all passes over its findings.
    pub fn compile(&self, input: Input<'_>) -> Compiled {
        let Input { tokens, expanded, is_closure, notes, own, hidden, mut found } = input;
        let (mut ast, mut of_parser) = parsed(tokens, self.target, self.version, self.levels);
        ast.notes = notes;
        if let Some(change) = self.change {
            change(&mut ast);
        }
        if !self.in_rust {
            without_rust(&ast, &mut of_parser);
        }
        // parse, check, lint, levels, origins
        let mut compiled = compile_parsed(ast, of_parser, !self.unread);
        ranges::shorten(&mut compiled.diagnostics, self.in_rust);
        if is_closure {
            captures::explain(tokens, &mut compiled.diagnostics);
        }
        self.check_types(&mut compiled);
        let written = expanded.map_or(tokens, |expanded| &expanded.written);
        let all = &mut compiled.diagnostics;
        if let Some(expanded) = expanded {
            expanded.report(all);
        }
        if let Some(entry) = self.entry {
            reach::retain(&compiled.hir, entry, all);
        }
        if let Some(elsewhere) = self.elsewhere {
            elsewhere(all);
        }
        let alone = match own.filter(|own| has_pieces(&written[own.clone()])) {
            Some(own) => pieces::check(written, own, hidden),
            None => Vec::new(),
        };
        if !alone.is_empty() {
            pieces::add_alone(&alone, all);
        }
        if self.in_rust {
            hints::constants(written, is_closure, all);
        }
        show_uses(&alone, all);
        all.append(&mut found);
        diag::sort(all);
        compiled
    }

    /// Adds mistakes in the Rust types of parameters, with their levels. What is wrong with the levels themselves was reported before.
    fn check_types(&self, compiled: &mut Compiled) {
        let Some(types) = self.types else { return };
        let mut found = types(compiled);
        levels::apply(&compiled.ast.levels, &mut found);
        compiled.diagnostics.append(&mut found);
    }
}

/// The errors in a module that defines parts. `beside`: its own tokens. `tokens`: the same with the parts that it uses, of which those in
/// `own` are checked here.
pub fn check_definitions(
    beside: &[Token],
    tokens: &[Token],
    own: Range<usize>,
    hidden: Vec<Range<u32>>,
) -> Vec<Diagnostic> {
    let mut found = beside_part(beside);
    found.extend(pieces::check(tokens, own, hidden));
    hints::constants(tokens, false, &mut found);
    found
}
