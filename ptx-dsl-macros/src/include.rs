//! `include_ptx!("file.ptx")`: the same as `ptx!` for a file, relative to the file in which the path is written, as
//! `include_str!` has it. A file has no header, so levels of findings stand behind its name:
//! `include_ptx!("file.ptx", allow(PTX0516))`.

mod search;

use crate::expand::Expansion;
use crate::report;
use crate::report::Problem;
use crate::rust_type::string;
use crate::tokens::Source;
use crate::trees;
use proc_macro::{Span, TokenStream, TokenTree};
use ptx_dsl_frontend::levels;
use ptx_dsl_frontend::lex::lex;
use ptx_dsl_frontend::lines::Lines;
use ptx_dsl_frontend::parse::parse_levels;
use std::path::{Path, PathBuf};

/// Expands the macro.
pub fn include(input: TokenStream) -> Vec<TokenTree> {
    let input = trees::list(input);
    let (name, span) = match string(input.first()) {
        Ok(found) => found,
        Err(span) => return fail("`include_ptx!` takes a string, the path of a file".to_owned(), span),
    };
    let rest = Source::new(&input[1..]);
    let path = path(&name, span);
    match std::fs::read_to_string(&path) {
        Ok(text) => expand(&name, span, &text, &path, &rest),
        Err(e) => fail(format!("cannot read `{}`: {e}", path.display()), span),
    }
}

/// The file of that name. Where nobody says in which file the macro stands, it is looked for in the package.
fn path(name: &str, span: Span) -> PathBuf {
    if let Some(mut path) = span.local_file() {
        path.pop();
        path.push(name);
        return path;
    }
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(".".into());
    search::search(Path::new(&package), name).unwrap_or(name.into())
}

fn fail(message: String, span: Span) -> Vec<TokenTree> {
    let help = Some("write `include_ptx!(\"kernel.ptx\")`, relative to this file".to_owned());
    let mut out = Vec::new();
    report::problem(&Problem { code: 152, message, first: span, last: span, help }, &mut out);
    out
}

/// What is made of the file's text; `rest` is what stands behind its name.
fn expand(name: &str, span: Span, text: &str, path: &Path, rest: &Source) -> Vec<TokenTree> {
    let (levels, mut wrong) = parse_levels(&rest.tokens);
    let (lexed, mut diagnostics) = lex(text);
    let mut compiled = ptx_dsl_frontend::compile(&lexed.tokens);
    diagnostics.append(&mut compiled.diagnostics);
    wrong.append(&mut levels::apply(&levels, &mut diagnostics));
    compiled.diagnostics = diagnostics;
    let mut out = report::items(&wrong, &|s| rest.span(s), &|_| None);
    let lines = Lines::new(text);
    let at = |s: ptx_dsl_frontend::span::Span| lines.line_column(lexed.bytes(s).start);
    let place = |s: ptx_dsl_frontend::span::Span| {
        let (line, column) = at(s);
        let shown = lines.text(line.saturating_sub(1)).trim_end();
        Some(format!("{name}:{line}:{column}\n  | {shown}"))
    };
    let line = |s| at(s).0 as u32;
    let spans = |_| (span, span);
    let rust = |s| match text.get(lexed.bytes(s)) {
        Some(written) => trees::read(written),
        None => TokenStream::new(),
    };
    let expansion = Expansion { line: &line, spans: &spans, rust: &rust, file: Some(name.to_owned()), place: &place };
    let (mut items, _) = expansion.run(&compiled);
    out.append(&mut items);
    // rustc rebuilds when the file changes.
    let absolute = std::path::absolute(path);
    let absolute = absolute.as_deref().unwrap_or(path).to_string_lossy();
    trees::add(trees::read(&format!("const _: &[u8] = ::core::include_bytes!({absolute:?});")), &mut out);
    out
}
