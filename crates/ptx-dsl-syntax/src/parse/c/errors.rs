//! Errors about statements, functions and declarations of C, with the PTX for them.

use crate::code;
use crate::diag::Diagnostic;
use crate::edit::Help;
use crate::parse::errors::{explained_error, helped_error, noted_error};
use crate::parse::foreign;
use crate::span::Span;

/// `__syncthreads();`: a statement of C. `args`: the text in the parentheses.
pub(crate) fn called(span: Span, name: &str, args: &str) -> Diagnostic {
    let d = noted_error(
        code::C_STATEMENT,
        span,
        format_args!("`{name}(...)` is a C call"),
        format_args!(
            "operands follow the opcode without parentheses; functions are called with `call` (PTX ISA 4.3.2)"
        ),
    );
    if let Some(advice) = foreign::advice(name) {
        return d.help(advice);
    }
    match foreign::instructions(name).first() {
        Some(own) if args.is_empty() && foreign::is_statement(own) => d.help(Help::write(*own)),
        Some(own) => d.help(in_words(own)),
        None if args.is_empty() && matches!(name, "ret" | "exit" | "trap" | "brkpt") => {
            d.help(Help::write(format!("{name};")))
        }
        None if args.is_empty() => d.help(Help::write(format!("call {name};")).then(" if it is a function")),
        None => d.help(Help::write(format!("call {name}, ({args});")).then(" if it is a function")),
    }
}

/// The PTX for an instruction of another language, which has other operands.
fn in_words(own: &str) -> String {
    let (opcode, qualifiers) = own.split_once('.').unwrap_or((own, ""));
    let mut text = format!("PTX has `{opcode}`");
    for (i, word) in qualifiers.split('.').filter(|w| !w.is_empty()).enumerate() {
        text += if i == 0 { " with " } else { " and " };
        text += &format!("`.{word}`");
    }
    text
}

/// `if (p) ...`, `for (...)`; `guard`: the guard for the condition. `in_rust`: there are repetitions.
pub(crate) fn keyword(span: Span, word: &str, guard: Option<String>, in_rust: bool) -> Diagnostic {
    let d = noted_error(
        code::C_STATEMENT,
        span,
        format_args!("`{word}` is a C keyword"),
        format_args!(
            "an instruction runs under a guard, and a loop is a label and a guarded branch to it (PTX ISA 9.3)"
        ),
    );
    match guard {
        Some(guard) => d.help(Help::write(guard)),
        None if in_rust && word == "for" => d.help(
            "write `@for I in 0..4 { ... }` to repeat code when it is compiled; a loop at run time is `while %i < %n { ... }`",
        ),
        None if in_rust && matches!(word, "if" | "else") => {
            d.help("a body stands in braces: `if %x < %n { ... } else { ... }`, or `@if` over constants")
        }
        None => d.help("compare with `setp`, and put the predicate before the instruction as its guard"),
    }
}

/// `asm volatile("...");`
pub(crate) fn inline_assembly(span: Span, word: &str) -> Diagnostic {
    helped_error(
        code::C_STATEMENT,
        span,
        format_args!("`{word}` is a C keyword"),
        format_args!("put the instructions here without it and without quotes"),
    )
}

/// `__global__ void k() { ... }`
pub(crate) fn c_function(span: Span, word: &str) -> Diagnostic {
    helped_error(
        code::C_STATEMENT,
        span,
        format_args!("`{word}` begins a C function"),
        format_args!(
            "begin a kernel with `.entry` and another function with `.func`, and declare parameters with `.param`"
        ),
    )
}

/// `%r1 = %r2 + %r3;` `own`: the instruction for it.
pub(crate) fn assignment(span: Span, sign: &str, own: &str) -> Diagnostic {
    explained_error(
        code::C_STATEMENT,
        span,
        format_args!("`{sign}` is a C assignment"),
        format_args!(
            "an instruction names its operation first, then the destination, then the sources (PTX ISA 4.3.2)"
        ),
        format_args!("use `{own}`: the destination comes first, then the sources"),
    )
}

/// `int x`: the words, and the PTX for them.
pub(crate) fn c_declaration(span: Span, words: &str, own: &str) -> Diagnostic {
    explained_error(
        code::C_STATEMENT,
        span,
        format_args!("`{words}` begins a C declaration"),
        format_args!("a declaration begins with a state space and a type (PTX ISA 5.4)"),
        Help::write(own),
    )
}

/// `extern __shared__ float x[];` in a function.
pub(crate) fn c_extern(span: Span, words: &str) -> Diagnostic {
    explained_error(
        code::C_STATEMENT,
        span,
        format_args!("`{words}` begins a C declaration"),
        format_args!("what is `.extern` is declared at module scope (PTX ISA 11.6.1)"),
        format_args!("move it above this function"),
    )
}
