//! What `check` cannot check: a finding, because a file without findings counts as right.

use ptx_dsl::build::rust_parts::NotFound;
use ptx_dsl_frontend::code;
use ptx_dsl_frontend::diag::Diagnostic;
use ptx_dsl_frontend::span::Span;

/// A part that is not found.
pub fn part(missing: &NotFound, span: Span) -> Diagnostic {
    let name = missing.name();
    let (message, help) = match missing {
        NotFound::No(_) => (
            format!("the part `{name}` is not found, and what depends on it is not checked"),
            format!("give the Rust file with `pub part {name}`, too, or use `cargo check`"),
        ),
        NotFound::Several(_) => (
            format!("there are several parts `{name}`, and what depends on them is not checked"),
            "give only one file that has it, or use `cargo check`".to_owned(),
        ),
    };
    Diagnostic::error(code::NOT_CHECKED, span, message)
        .note("parts are found in the file itself, in the other files that are given, and in the modules of the crate")
        .help(help)
}

/// A macro in the rules of another one.
pub fn in_rules(span: Span) -> Diagnostic {
    Diagnostic::error(code::NOT_CHECKED, span, "a `ptx!` in the rules of a `macro_rules!` is not checked")
        .note("it is no PTX before rustc expands the macro")
        .help("use `cargo check`, and `--allow PTX0170` here")
}
