//! The expression form: `<sm_90, ptx 8.0> |x: &[f32], n: u32| .maxntid 256 { ... }`. The parameters of the closure become kernel
//! parameters; performance directives follow them.

use crate::hash::Hash;
use crate::tokens::Source;
use ptx_dsl_frontend::diag::Diagnostic;
use ptx_dsl_frontend::source::closure::{as_module, bar};
use ptx_dsl_frontend::span::Span;
use ptx_dsl_frontend::token::{Tok, Token};

/// The kernel as an item with the errors in its parameters, if these tokens are a closure.
#[allow(clippy::type_complexity)]
pub fn read(source: &Source) -> Option<Result<(Vec<Token>, Vec<Diagnostic>), Vec<Diagnostic>>> {
    let bar = bar(&source.tokens)?;
    Some(as_module(&source.tokens, &entry_name(source, source.tokens[bar].span())))
}

/// A name that no other closure has, so that several texts can be combined into one module: line, column, and a hash of the file
/// name and the tokens.
fn entry_name(source: &Source, at: Span) -> String {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let span = source.span(at).0.unwrap();
    let file = span.file();
    // The same wherever the package lies.
    let file = file.strip_prefix(&variable("CARGO_MANIFEST_DIR")).unwrap_or(&file);
    let mut hash = Hash::default();
    hash.add(&variable("CARGO_PKG_NAME"));
    hash.add(file);
    for token in &source.tokens {
        match &token.kind {
            Tok::Word(text) | Tok::Number(text) | Tok::Str(text) => hash.add(text),
            Tok::Punct(c) => hash.add(c.encode_utf8(&mut [0; 4])),
        }
    }
    let hash = hash.value();
    format!("kernel_{}_{}_{:08x}", span.line(), span.column(), hash as u32 ^ (hash >> 32) as u32)
}
