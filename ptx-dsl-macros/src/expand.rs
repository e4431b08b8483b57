//! From a compiled module to Rust items: the findings, then an item for each kernel.

use crate::report;
use crate::report::Problem;
use crate::rust_type::rust_type;
use crate::tokens::Source;
use proc_macro2::{Ident, Span, TokenStream};
use ptx_dsl_codegen as emit;
use ptx_dsl_frontend::Compiled;
use ptx_dsl_frontend::hir::FuncId;
use quote::ToTokens;
use std::cell::RefCell;

/// The items of all kernels and findings, and the Rust names of the kernels.
pub fn kernels(source: &Source, compiled: &Compiled) -> (TokenStream, Vec<Ident>) {
    let line = |s| source.line(s);
    let rust = |s| source.rust(s);
    let spans = |s| source.span(s);
    Expansion { line: &line, spans: &spans, rust: &rust, file: None, place: &|_| None }.run(compiled)
}

/// The source of a module: PTX tokens in Rust, or PTX in a file.
pub struct Expansion<'a> {
    pub line: &'a dyn Fn(ptx_dsl_frontend::span::Span) -> u32,
    pub spans: &'a dyn Fn(ptx_dsl_frontend::span::Span) -> (Span, Span),
    /// The Rust tokens of a parameter's type.
    pub rust: &'a dyn Fn(ptx_dsl_frontend::span::Span) -> TokenStream,
    pub file: Option<String>,
    /// `file:line:column` and the source line, for places that rustc cannot show.
    pub place: &'a dyn Fn(ptx_dsl_frontend::span::Span) -> Option<String>,
}

impl Expansion<'_> {
    /// Findings first, then an item per kernel. If there are errors, the items are stubs, so that rustc goes on.
    pub fn run(self, compiled: &Compiled) -> (TokenStream, Vec<Ident>) {
        let problems = RefCell::new(Vec::new());
        let source = emit::Source {
            line: self.line,
            name: &|name, s| self.ident(name, s),
            rust_type: &|s| Some(rust_type((self.rust)(s))?.map(ToTokens::into_token_stream)),
            file: self.file.clone(),
            problems: &problems,
        };
        let broken = compiled.failed();
        let mut out = report::items(&compiled.diagnostics, self.spans, self.place);
        let mut entries = Vec::new();
        for (i, f) in compiled.hir.functions.iter().enumerate() {
            if f.entry && f.defined {
                entries.push((FuncId(i as u32), emit::rust_name(&f.name), f.span));
            }
        }
        if let Some((_, first, _)) = entries.first() {
            let text = emit::Text::new(&compiled.ptx, &compiled.lines, first);
            out.extend(text.item());
            for (entry, ..) in &entries {
                for part in emit::kernel(&compiled.hir, *entry, &source, &text, broken) {
                    out.extend(part);
                }
            }
        }
        for (message, at) in problems.into_inner() {
            let (first, last) = (self.spans)(at);
            let help = Some("a slice needs a `.u64` parameter, a scalar a parameter of its size".into());
            out.extend(report::problem(&Problem { code: 153, message, first, last, help }));
        }
        let mut names = Vec::new();
        for (_, name, at) in &entries {
            names.push(self.ident(name, *at));
        }
        (out, names)
    }

    /// The same name with the span of the user's.
    fn ident(&self, name: &Ident, at: ptx_dsl_frontend::span::Span) -> Ident {
        let mut name = name.clone();
        name.set_span((self.spans)(at).0);
        name
    }
}
