//! The catalogue of 05xx: directives, declarations, linkage, calls. Codes of warnings are listed in `levels`.

use crate::diag::{Constant, Diagnostic};
use crate::span::Span;
use ptx_dsl_isa::isa::Ptx;

use super::*;

pub(crate) fn entry_returns(span: Span) -> Diagnostic {
    explained_error(
        code::KERNEL_RETURNS,
        span,
        format_args!("an `.entry` has no return parameters"),
        format_args!("a kernel returns nothing (PTX ISA 11.2.1)"),
        format_args!("remove the list before the name, and store the result to global memory"),
    )
}

pub(crate) fn param_bytes(span: Span, have: u64, limit: u32) -> Diagnostic {
    explained_error(
        code::PARAMETERS_TOO_LARGE,
        span,
        format_args!("the parameters take {have} bytes, but at most {limit} are allowed"),
        format_args!("32764 bytes from PTX ISA 8.1 on `sm_70`, 4352 before (PTX ISA 11.2.1)"),
        format_args!("put the data in global memory, and pass its address"),
    )
}

/// The section of a directive: performance tuning, clusters, the rest.
pub(crate) fn directive_section(name: &str) -> &'static str {
    match name {
        ".reqnctapercluster" | ".explicitcluster" | ".maxclusterrank" => "11.7",
        ".blocksareclusters" | ".language" => "11.8",
        ".alias" => "11.2.3",
        ".pragma" => "11.4.7",
        ".attribute" => "5.4.8",
        ".extern" | ".visible" | ".weak" | ".common" => "11.6",
        ".loc" | ".loc_intermediate" | ".file" | ".section" | "@@DWARF" => "11.5",
        ".branchtargets" | ".calltargets" | ".callprototype" => "11.3",
        _ => "11.4",
    }
}

pub(crate) fn directives_exclude(span: Span, a: &str, b: &str, at: Span) -> Diagnostic {
    explained_error(
        code::EXCLUSIVE_DIRECTIVES,
        span,
        format_args!("`{a}` cannot be combined with `{b}`"),
        format_args!("the two exclude each other (PTX ISA {})", directive_section(a)),
        format_args!("remove `{a}` or `{b}`"),
    )
    .label(at, format!("`{b}` is here"))
}

pub(crate) fn directive_value(span: Span, name: &str, rule: &str, help: impl Into<Help>) -> Diagnostic {
    explained_error(
        code::DIRECTIVE_ARGUMENT,
        span,
        format_args!("`{name}` {rule}"),
        format_args!("see PTX ISA {}", directive_section(name)),
        help,
    )
    .wants(Constant::Value, true)
}

/// `value`: the required one, for a help.
pub(crate) fn directive_needs(span: Span, name: &str, needs: &str, value: &str) -> Diagnostic {
    explained_error(
        code::DIRECTIVE_DEPENDENCE,
        span,
        format_args!("`{name}` needs `{needs}`"),
        format_args!("the directive has no meaning without `{needs}` (PTX ISA {})", directive_section(name)),
        format_args!("add `{needs}{value}`, or remove `{name}`"),
    )
}

/// `what`: return values or parameters; `word`: what a call writes for them.
pub(crate) fn call_count(span: Span, what: &str, func: &str, want: usize, have: usize) -> Diagnostic {
    let counted = if want == 1 { what.trim_end_matches('s') } else { what };
    let d = noted_error(
        code::CALL_MISMATCH,
        span,
        format_args!("`{func}` has {want} {counted}, but {have} {} given", if have == 1 { "is" } else { "are" }),
        format_args!("a call has one for each in the signature of the function (PTX ISA 9.7.12.5)"),
    );
    let place = if what == "return values" { "before the function's name" } else { "after the function's name" };
    match (want, have) {
        (0, _) => d.help(format!("remove the list {place}")),
        (_, 0) => d.help(format!("write a list of {want} in `( )` {place}")),
        (w, h) if h < w => d.help(format!("add {} to the list {place}", w - h)),
        (w, h) => d.help(format!("remove {} from the list {place}", h - w)),
    }
}

/// `declare`: a suitable `.param` variable or register named `x`.
pub(crate) fn call_type(span: Span, what: &str, have: &str, want: &str, declare: &str, x: &str) -> Diagnostic {
    explained_error(
        code::CALL_MISMATCH,
        span,
        format_args!("{what} is {have}, but {want} is expected"),
        format_args!("an argument has the type and size of the parameter (PTX ISA 9.7.12.5)"),
        format_args!("put `{declare};` before it, and write `{x}`"),
    )
}

/// `declare`: a suitable `.param` variable named `x`.
pub(crate) fn call_align(span: Span, what: &str, have: u32, want: u32, declare: &str, x: &str) -> Diagnostic {
    explained_error(
        code::CALL_MISMATCH,
        span,
        format_args!("{what} is aligned to {have} bytes, but the parameter to {want}"),
        format_args!("an argument is aligned as its parameter is (PTX ISA 9.7.12.5)"),
        format_args!("put `{declare};` before it, and write `{x}`"),
    )
}

pub(crate) fn call_form(span: Span, text: &str, help: impl Into<Help>) -> Diagnostic {
    explained_error(code::CALL_MISMATCH, span, format_args!("{text}"), format_args!("see PTX ISA 9.7.12.5"), help)
}

pub(crate) fn shared_size(span: Span, kernel: &str, have: u64, limit: u64) -> Diagnostic {
    helped_error(
        code::TOO_MUCH_SHARED,
        span,
        format_args!("`{kernel}` has {have} bytes of static shared memory, but at most {limit} are allowed"),
        format_args!("make an array `.extern` and leave its size open, and give the size at launch"),
    )
}

pub(crate) fn initialiser(span: Span, text: &str, help: impl Into<Help>) -> Diagnostic {
    explained_error(code::INITIAL_VALUE, span, format_args!("{text}"), format_args!("see PTX ISA 5.4.4"), help)
}

/// A warning: the values after a list that is not full move up; `next` is the first, which becomes element `at`.
pub(crate) fn short_list(span: Span, given: usize, room: u64, next: Span, at: usize) -> Diagnostic {
    Diagnostic::warning(
        code::SHORT_INITIAL_LIST,
        span,
        format!("this list has {given} of {room} values, and the values after it move up"),
    )
    .label(next, format!("this one is element {at} of the array, counted from 0 through all dimensions"))
    .note("ptxas and the driver put the values of all lists one after another (PTX ISA 5.4.4 does not say so)")
    .help("write zeros for the missing values")
}

/// A warning: `.ptr .shared` or `.ptr .local` of a kernel's parameter.
pub(crate) fn pointer_to_own_memory(span: Span, space: &str) -> Diagnostic {
    Diagnostic::warning(code::POINTER_TO_OWN_SPACE, span, format!("the CUDA driver refuses a module whose kernel takes a pointer to `{space}`"))
        .note(
            "ptxas accepts it, because OpenCL passes the size of a `__local` buffer so; driver 580 refuses the whole module \
             (PTX ISA 5.1.6.3)",
        )
        .help("pass an offset, such as one into dynamic shared memory, as a plain number")
}

pub(crate) fn variable(span: Span, text: &str, section: &str, help: impl Into<Help>) -> Diagnostic {
    explained_error(code::MALFORMED_VARIABLE, span, format_args!("{text}"), format_args!("see PTX ISA {section}"), help)
}

/// `.reg` and `.local` at module scope: an error, or a warning in old PTX.
pub(crate) fn module_scope(span: Span, space: &str, old: bool) -> Diagnostic {
    let what = if space == ".reg" { "a register" } else { "a `.local` variable" };
    let help = "move it into the function that needs it";
    if old {
        return Diagnostic::warning(
            code::MODULE_REGISTER,
            span,
            format!("{what} at module scope, which PTX ISA 3.0 removed"),
        )
        .note("ptxas then compiles the whole module without its ABI (PTX ISA 5.1)")
        .help(help);
    }
    explained_error(
        code::MALFORMED_VARIABLE,
        span,
        format_args!("{what} is declared in a function"),
        format_args!("only PTX ISA 1 and 2 have `{space}` at module scope (PTX ISA 5.1)"),
        help,
    )
}

/// ptxas accepts any size.
pub(crate) fn large_variable(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning(
        code::LIMIT_TOO_HIGH,
        span,
        format!("`{name}` is larger than the 64 MiB that the host machine has for variables"),
    )
    .note("a launch that accesses more is a fault")
    .help("allocate it in the host program, and pass its address")
}

pub(crate) fn alias(span: Span, text: &str, help: impl Into<Help>) -> Diagnostic {
    explained_error(
        code::ALIAS,
        span,
        format_args!("{text}"),
        format_args!("an alias is another name of a defined function with the same signature (PTX ISA 11.2.3)"),
        help,
    )
}

pub(crate) fn redefined(span: Span, name: &str, first: Span) -> Diagnostic {
    helped_error(
        code::DEFINED_TWICE,
        span,
        format_args!("function `{name}` is defined twice"),
        format_args!("rename one of them"),
    )
    .label(first, "it is first defined here")
}

pub(crate) fn prototype(span: Span, name: &str, first: Span) -> Diagnostic {
    explained_error(
        code::DECLARATION_MISMATCH,
        span,
        format_args!("`{name}` differs from its declaration"),
        format_args!("a prototype and its definition agree in parameters (PTX ISA 11.2.2)"),
        format_args!("give both the same parameters"),
    )
    .label(first, "it is declared here")
}

pub(crate) fn attribute(span: Span, text: &str, help: impl Into<Help>) -> Diagnostic {
    explained_error(
        code::MISPLACED_ATTRIBUTE,
        span,
        format_args!("{text}"),
        format_args!(
            "`.managed` is for `.global` variables, `.unified(a, b)` for these and for `.func` (PTX ISA 5.4.8)"
        ),
        help,
    )
}

pub(crate) fn linkage(span: Span, text: &str, help: impl Into<Help>) -> Diagnostic {
    explained_error(
        code::LINKING,
        span,
        format_args!("{text}"),
        format_args!("linking directives are described in PTX ISA 11.6"),
        help,
    )
}

pub(crate) fn pragma(span: Span, text: &str, help: impl Into<Help>) -> Diagnostic {
    explained_error(
        code::MALFORMED_PRAGMA,
        span,
        format_args!("{text}"),
        format_args!("see PTX ISA 11.4.7 and the chapter on `.pragma` strings"),
        help,
    )
}

/// `inlined_at` a place without a `.loc` before it.
pub(crate) fn inlined_at(span: Span, caller: &str) -> Diagnostic {
    explained_error(
        code::MALFORMED_PRAGMA,
        span,
        format_args!("no `.loc {caller}` precedes the code that is inlined at that place"),
        format_args!("see PTX ISA 11.5.4"),
        format_args!("put `.loc {caller}` before it, or leave `inlined_at` out"),
    )
}

/// The label of `function_name` is in no section.
pub(crate) fn function_name(span: Span, label: &str) -> Diagnostic {
    explained_error(
        code::MALFORMED_PRAGMA,
        span,
        format_args!("no section has the label `{label}` for the name of the inlined function"),
        format_args!("see PTX ISA 11.5.4"),
        format_args!(
            "put `.section .debug_str {{ {label}: .b8 102,0 }}` above this function, with the characters of the name"
        ),
    )
}

/// A warning: ptxas ignores it too.
pub(crate) fn no_effect(span: Span, text: &str, help: impl Into<Help>) -> Diagnostic {
    Diagnostic::warning(code::DIRECTIVE_WITHOUT_EFFECT, span, text).help(help)
}

/// A warning: the last one counts.
pub(crate) fn overridden(span: Span, name: &str, last: Span) -> Diagnostic {
    Diagnostic::warning(
        code::DIRECTIVE_WITHOUT_EFFECT,
        span,
        format!("`{name}` is given twice, and this one has no effect"),
    )
    .label(last, format!("the last `{name}` counts"))
    .help("remove one of them")
}

/// A warning: more than any target has.
pub(crate) fn over_limit(span: Span, name: &str, have: u64, unit: &str, limit: u64) -> Diagnostic {
    Diagnostic::warning(
        code::LIMIT_TOO_HIGH,
        span,
        format!("`{name}` allows {have} {unit}, and no target has more than {limit}"),
    )
    .note(format!("see PTX ISA {}", directive_section(name)))
    .help(format!("write at most {limit}"))
}

pub(crate) fn directive_gone(span: Span, name: &str, since: Ptx, instead: &str) -> Diagnostic {
    helped_error(
        code::REMOVED_INSTRUCTION,
        span,
        format_args!("`{name}` is gone since PTX ISA {}.{}", since.0, since.1),
        format_args!("{instead}"),
    )
}

pub(crate) fn two_cta_groups(span: Span, have: &str, first: &str, at: Span) -> Diagnostic {
    explained_error(
        code::CTA_GROUP_SIZES,
        span,
        format_args!("`.{have}` in a kernel of `.{first}`"),
        format_args!("all tcgen05 instructions of a kernel have the same `.cta_group` (PTX ISA 9.7.16.5.1)"),
        Help::write(format!(".{first}")),
    )
    .label(at, format!("`.{first}` is here"))
}
