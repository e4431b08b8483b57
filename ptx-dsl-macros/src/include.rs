//! `include_ptx!("file.ptx")`: the same as `ptx!` for a file, relative to the file that includes it.

use crate::expand::Expansion;
use crate::report::{self, Problem};
use proc_macro2::{Span, TokenStream};
use ptx_dsl_syntax::lex::{lex, line_col};
use quote::quote;

/// Expands the macro.
pub fn include(input: TokenStream) -> TokenStream {
    let fail = |message: String, span: Span| {
        let help = Some("write `include_ptx!(\"kernel.ptx\")`, relative to this file".into());
        report::problem(&Problem { code: 152, message, first: span, last: span, help })
    };
    let literal = match syn::parse2::<syn::LitStr>(input) {
        Ok(l) => l,
        Err(e) => return fail("`include_ptx!` takes one string, the path of a file".into(), e.span()),
    };
    let span = literal.span();
    let here = span.unwrap().local_file().and_then(|f| f.parent().map(std::path::Path::to_owned)).unwrap_or_default();
    let path = here.join(literal.value());
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) => return fail(format!("cannot read `{}`: {e}", path.display()), span),
    };
    let (lexed, mut diagnostics) = lex(&text);
    let mut compiled = ptx_dsl_syntax::compile(&lexed.tokens);
    diagnostics.append(&mut compiled.diagnostics);
    compiled.diagnostics = diagnostics;
    let at = |s: ptx_dsl_syntax::span::Span| line_col(&text, lexed.bytes(s).start);
    let name = literal.value();
    let place = |d: &ptx_dsl_syntax::diag::Diagnostic| {
        let (line, column) = at(d.span);
        let shown = text.lines().nth(line.saturating_sub(1)).unwrap_or("").trim_end();
        Some(format!("{name}:{line}:{column}\n  | {shown}"))
    };
    let line = |s| at(s).0 as u32;
    let spans = |_| (span, span);
    let rust_type = |s| text.get(lexed.bytes(s)).and_then(|t| t.parse().ok()).unwrap_or_default();
    let expansion =
        Expansion { line: &line, spans: &spans, rust_type: &rust_type, file: Some(name.clone()), place: &place };
    let (items, _) = expansion.run(&compiled);
    // rustc rebuilds when the file changes.
    let absolute = std::path::absolute(&path).unwrap_or(path);
    let absolute = absolute.to_string_lossy();
    quote!(#items const _: &[u8] = ::core::include_bytes!(#absolute);)
}
