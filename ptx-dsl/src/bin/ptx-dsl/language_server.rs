//! `lsp`: the language server, in builds with the feature `lsp`.

#[cfg(feature = "lsp")]
mod lens;

/// Serves an editor on standard input and output until it ends.
#[cfg(feature = "lsp")]
pub fn run() -> Result<(), String> {
    let format = |text: &str| crate::layout::layout_text(text, "", ptx_dsl_frontend::lex::lex);
    let bodies = |text: &str| ptx_dsl::build::rust_source::bodies(text).unwrap_or_default();
    ptx_dsl_lsp::serve(ptx_dsl_lsp::Tools { format, bodies, run: lens::run })
        .map_err(|error| format!("the language server ends: {error}"))
}

/// Says how to get a build with the server.
#[cfg(not(feature = "lsp"))]
pub fn run() -> Result<(), String> {
    Err("this build has no language server; install one with `cargo install ptx-dsl --features lsp`".to_owned())
}
