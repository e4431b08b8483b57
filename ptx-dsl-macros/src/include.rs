//! `include_ptx!("file.ptx")`: the same as `ptx!` for a file, relative to the file that includes it. A file has no header, so
//! levels of findings stand behind its name: `include_ptx!("file.ptx", allow(PTX0516))`.

use crate::expand::Expansion;
use crate::report;
use crate::report::Problem;
use crate::rust_type::string;
use crate::tokens::Source;
use proc_macro::{Span, TokenStream};
use ptx_dsl_syntax::levels;
use ptx_dsl_syntax::lex::lex;
use ptx_dsl_syntax::lines::Lines;
use ptx_dsl_syntax::parse::parse_levels;

/// Expands the macro.
pub fn include(input: TokenStream) -> TokenStream {
    let fail = |message: String, span: Span| {
        let help = Some("write `include_ptx!(\"kernel.ptx\")`, relative to this file".into());
        report::problem(&Problem { code: 152, message, first: span, last: span, help })
    };
    let mut input = input.into_iter();
    let (name, span) = match string(input.next().into_iter().collect()) {
        Ok(found) => found,
        Err(span) => return fail("`include_ptx!` takes a string, the path of a file".into(), span),
    };
    let rest = Source::new(input.collect());
    let (levels, mut wrong) = parse_levels(&rest.tokens);
    let here = span.local_file().and_then(|f| f.parent().map(std::path::Path::to_owned)).unwrap_or_default();
    let path = here.join(&name);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) => return fail(format!("cannot read `{}`: {e}", path.display()), span),
    };
    let (lexed, mut diagnostics) = lex(&text);
    let mut compiled = ptx_dsl_syntax::compile(&lexed.tokens);
    diagnostics.append(&mut compiled.diagnostics);
    wrong.extend(levels::apply(&levels, &mut diagnostics));
    compiled.diagnostics = diagnostics;
    let mut out = report::items(&wrong, &|s| rest.span(s), &|_| None);
    let lines = Lines::new(&text);
    let at = |s: ptx_dsl_syntax::span::Span| lines.line_column(lexed.bytes(s).start);
    let place = |s: ptx_dsl_syntax::span::Span| {
        let (line, column) = at(s);
        let shown = lines.text(line.saturating_sub(1)).trim_end();
        Some(format!("{name}:{line}:{column}\n  | {shown}"))
    };
    let line = |s| at(s).0 as u32;
    let spans = |_| (span, span);
    let rust = |s| text.get(lexed.bytes(s)).and_then(|t| t.parse().ok()).unwrap_or_default();
    let expansion = Expansion { line: &line, spans: &spans, rust: &rust, file: Some(name.clone()), place: &place };
    let (items, _) = expansion.run(&compiled);
    // rustc rebuilds when the file changes.
    let absolute = std::path::absolute(&path).unwrap_or(path);
    let absolute = absolute.to_string_lossy();
    out.extend(items);
    let rebuild = format!("const _: &[u8] = ::core::include_bytes!({absolute:?});");
    out.extend(rebuild.parse::<TokenStream>());
    out
}
