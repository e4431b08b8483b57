//! From the macro's input to its output, for both forms.

use crate::closure;
use crate::report;
use crate::tokens::Source;
use proc_macro2::{Span, TokenStream};
use ptx_dsl_emit as emit;
use ptx_dsl_syntax::Compiled;
use ptx_dsl_syntax::diag::Severity;
use ptx_dsl_syntax::hir::FuncId;
use ptx_dsl_syntax::parse::parse_header;
use ptx_dsl_syntax::token::Tok;
use quote::quote;
use std::cell::RefCell;

/// `ptx!`
pub fn ptx(input: TokenStream) -> TokenStream {
    let source = Source::new(input);
    let (_, used, _) = parse_header(&source.tokens);
    if source.tokens.get(used).is_some_and(|t| t.kind == Tok::Punct('|')) {
        return closure::closure(&source, used);
    }
    let compiled = ptx_dsl_syntax::compile(&source.tokens);
    let (items, _) = kernels(&source, &compiled);
    items
}

/// The items of all kernels and all findings; and the Rust names of the kernels.
pub fn kernels(source: &Source, compiled: &Compiled) -> (TokenStream, Vec<proc_macro2::Ident>) {
    let line = |s| source.line(s);
    let rust_type = |s| source.rust(s);
    let spans = |s| source.span(s);
    Expansion { line: &line, spans: &spans, rust_type: &rust_type, file: None, place: &|_| None }.run(compiled)
}

/// What differs between PTX tokens in Rust and PTX in a file.
pub struct Expansion<'a> {
    pub line: &'a dyn Fn(ptx_dsl_syntax::span::Span) -> u32,
    pub spans: &'a dyn Fn(ptx_dsl_syntax::span::Span) -> (Span, Span),
    pub rust_type: &'a dyn Fn(ptx_dsl_syntax::span::Span) -> TokenStream,
    pub file: Option<String>,
    /// `file:line:column` and the line itself, where rustc cannot show it.
    pub place: &'a dyn Fn(ptx_dsl_syntax::span::Span) -> Option<String>,
}

impl Expansion<'_> {
    /// Findings first, then an item per kernel; where there are errors the items are stubs, so that rustc goes on.
    pub fn run(self, compiled: &Compiled) -> (TokenStream, Vec<proc_macro2::Ident>) {
        let problems = RefCell::new(Vec::<emit::Problem>::new());
        let span = |s| (self.spans)(s).0;
        let source = emit::Source {
            line: self.line,
            span: &span,
            rust_type: self.rust_type,
            file: self.file,
            problems: &problems,
        };
        let broken = compiled.diagnostics.iter().any(|d| d.severity == Severity::Error);
        let mut out = report::items(&compiled.diagnostics, self.spans, self.place);
        let entries: Vec<_> = compiled.hir.functions.iter().enumerate().filter(|(_, f)| f.entry && f.defined).collect();
        let names: Vec<_> = entries.iter().map(|(_, f)| emit::rust_name(&f.name, span(f.span))).collect();
        if let Some(first) = names.first() {
            let text = emit::Text::new(&compiled.ptx, &compiled.lines, first);
            out.extend(text.item());
            for (i, _) in entries {
                out.extend(emit::kernel(&compiled.hir, FuncId(i as u32), &source, &text, broken));
            }
        }
        let mut said = Vec::new();
        for p in problems.into_inner() {
            if !said.contains(&p.message) {
                out.extend(report::problem(&p));
                said.push(p.message);
            }
        }
        if out.is_empty() {
            out = quote!();
        }
        (out, names)
    }
}
