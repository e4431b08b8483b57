//! Errors of repetitions: 0157, of pieces: 0159, and of their uses: 0160.

use crate::code;
use crate::diag::{Constant, Diagnostic};
use crate::edit::Help;
use crate::span::Span;

fn error(span: Span, message: impl Into<String>, help: impl Into<Help>) -> Diagnostic {
    Diagnostic::error(code::MALFORMED_REPETITION, span, message).help(help)
}

pub(super) fn no_body(span: Span, example: &str) -> Diagnostic {
    error(span, "a repetition or a condition needs a body", format!("write `{example} {{ ... }}`"))
}

pub(super) fn no_in(span: Span) -> Diagnostic {
    error(span, "a repetition needs a loop variable, and `in` after it", "write `@for I in 0..4 { ... }`")
}

pub(super) fn no_condition(span: Span) -> Diagnostic {
    error(span, "`@if` has no condition", "write `@if N > 1 { ... }`, with a constant `N`")
}

pub(super) fn register_in_condition(span: Span) -> Diagnostic {
    error(
        span,
        "a register has no value when the macro runs, and `@if` keeps one of its bodies then",
        "write `if` without `@`, which branches when the kernel runs",
    )
}

pub(super) fn guarded_else(span: Span) -> Diagnostic {
    error(span, "`else` is written without `@`", "write `else { ... }`")
}

pub(super) fn unknown_part(span: Span, name: &str) -> Diagnostic {
    error(
        span,
        format!("`{name}` is neither a constant nor the variable of an enclosing repetition"),
        format!("put the statement into `@for {name} in 0..4 {{ ... }}`, or name a constant"),
    )
    .wants(Constant::Name, true)
}

pub(super) fn too_large(span: Span, what: &str, value: i128) -> Diagnostic {
    error(span, format!("{what} is {value}, which is too large"), "write a number that fits in `i64`")
}

pub(super) fn no_kernel_body(span: Span) -> Diagnostic {
    error(span, "a kernel whose const parameters have lists needs a body", "write `{ ... }` after its parameters")
}

pub(super) fn unclosed(span: Span) -> Diagnostic {
    error(span, "this body is never closed", "add a `}` after it")
}

pub(super) fn no_range(span: Span, of: &str) -> Diagnostic {
    error(span, format!("{of} takes a range or a list of integers"), "write `0..4`, `0..=3` or `[1, 2, 4]` after `in`")
}

pub(super) fn reversed(span: Span, (first, last): (i64, i64), included: bool, repeated: bool) -> Diagnostic {
    let down =
        if repeated { format!(", and in the body what counts down, such as `{first} - I`") } else { String::new() };
    let dots = if included { "..=" } else { ".." };
    error(
        span,
        format!("the range `{first}{dots}{last}` is empty, because {first} is greater than {last}"),
        format!("write `{last}{dots}{first}`{down}"),
    )
}

pub(super) fn no_step(span: Span, step: i64) -> Diagnostic {
    error(span, format!("a range cannot have steps of {step}"), "write a number over 0")
}

pub(super) fn other_change(span: Span) -> Diagnostic {
    error(span, "a range has only `.rev()` and `.step_by(N)`", "write `(0..8).rev()` or `(0..64).step_by(16)`")
}

pub(super) fn bad_array(span: Span) -> Diagnostic {
    error(span, "an array of constants has integers that the macro knows", "write `const ROWS: [u32; 3] = [0, 8, 4];`")
}

pub(super) fn array_length(span: Span, length: i64, values: usize) -> Diagnostic {
    error(span, format!("the array has {length} elements, and there are {values} values"), "write as many values")
}

pub(super) fn no_element(span: Span, name: &str, index: i64, length: usize) -> Diagnostic {
    error(
        span,
        format!("`{name}` has {length} elements, and none with the number {index}"),
        "the first one is number 0",
    )
}

pub(super) fn no_loop(span: Span) -> Diagnostic {
    error(
        span,
        "`@peel` and a name stand before a loop",
        "write `@peel FIRST while %x < %n { ... }`, or `loop { ... }`",
    )
}

pub(super) fn no_list(span: Span) -> Diagnostic {
    error(
        span,
        "if one const parameter of a kernel lists its values, all must",
        "write `const N: u32 in [2, 4]` or `const N: u32 in 2..=4`",
    )
}

pub(super) fn empty_list(span: Span) -> Diagnostic {
    error(span, "this const parameter has no value", "add the values that kernels are used with")
}

pub(super) fn listed_twice(span: Span, value: i64) -> Diagnostic {
    error(span, format!("{value} is listed twice"), "remove one of them")
}

pub(super) fn list_range(span: Span, value: i64, ty: &str) -> Diagnostic {
    error(span, format!("{value} is out of range for `{ty}`"), format!("write numbers that fit in `{ty}`"))
}

pub(super) fn no_integer(span: Span, what: &str) -> Diagnostic {
    error(span, format!("{what} is a constant integer"), "write a number, or declare `const N: u32 = 4;` before it")
        .wants(Constant::Known, true)
}

pub(super) fn too_long(span: Span, limit: usize) -> Diagnostic {
    error(span, format!("the repetition makes more than {limit} tokens"), "write a loop of PTX instead")
}

pub(super) fn no_last_register(span: Span) -> Diagnostic {
    error(span, "a range of registers ends with a register", "write both: `{%d0..=%d31}`")
}

pub(super) fn no_number(span: Span, first: &str, last: &str) -> Diagnostic {
    let name = if first.ends_with(|c: char| c.is_ascii_digit()) { last } else { first };
    error(
        span,
        format!("registers of a range are numbered, and `{name}` does not end with a number without leading zeros"),
        "declare them together, for example `.reg .f32 %d<32>;`, and write `{%d0..=%d31}`",
    )
}

pub(super) fn register_range(span: Span, stem: &str, first: u32, last: u32) -> Diagnostic {
    error(
        span,
        "a range of registers has the first one, `..=` and the last one, which have the same name but for the number",
        format!("write `{stem}{first}..={stem}{last}`"),
    )
}

fn definition(span: Span, message: impl Into<String>, help: impl Into<Help>) -> Diagnostic {
    Diagnostic::error(code::MALFORMED_PART, span, message).help(help)
}

pub(super) fn no_piece(span: Span, layout: bool) -> Diagnostic {
    match layout {
        true => definition(
            span,
            "a layout has a name, the names that it declares in parentheses, and a body",
            "write `.layout ring(full, empty, const N: u32) { ... }`",
        ),
        false => definition(
            span,
            "an inline piece has a name, parameters in parentheses, and a body",
            "write `.inline wait(.reg .b32 %bar, .b32 %parity) { ... }`",
        ),
    }
}

pub(super) fn bad_parameter(span: Span, layout: bool) -> Diagnostic {
    match layout {
        true => definition(
            span,
            "a parameter of a layout is the name of a variable, or a constant integer",
            "write `full` or `const N: u32`",
        ),
        false => definition(
            span,
            "a parameter of a piece is a register, a value, an address, a constant integer or a label",
            "write `.reg .b32 %r`, `.reg .b32 %r<4>`, `.b32 %value`, `.shared .b64 address`, `const N: u32` or `label done`",
        ),
    }
}

pub(super) fn bad_default(span: Span, name: &str) -> Diagnostic {
    definition(
        span,
        format!("`{name}` cannot have this default value"),
        "a constant has one, `const N: u32 = 4`, and so has a value, `.b32 parity = 0`",
    )
}

pub(super) fn default_before(span: Span, name: &str, before: Span) -> Diagnostic {
    definition(
        span,
        format!("`{name}` has no default value, but the parameter before it has one"),
        "put parameters with default values last",
    )
    .label(before, "a use can leave out this one")
}

pub(super) fn bad_words(span: Span) -> Diagnostic {
    definition(
        span,
        "a piece lists the words that can stand for a name: types, qualifiers or opcodes",
        "write `<OP: add | max, T: f32 | s32>`; constants are parameters in the parentheses",
    )
}

pub(super) fn no_such_register(span: Span, name: &str, family: &str, length: usize) -> Diagnostic {
    let message = format!("`{name}` is not one of the {length} registers of the parameter `{family}`");
    Diagnostic::error(code::UNDECLARED, span, message)
        .help(format!("name one of `{family}0` to `{family}{}`", length.saturating_sub(1)))
}

pub(super) fn parameter_twice(span: Span, name: &str, first: Span) -> Diagnostic {
    definition(span, format!("there are two parameters `{name}`"), "give one of them another name")
        .label(first, "the first one is here")
}

pub(super) fn defined_twice(span: Span, name: &str, first: Span) -> Diagnostic {
    definition(span, format!("there are two pieces `{name}`"), "give one of them another name")
        .label(first, "the first one is here")
}

pub(super) fn not_named(span: Span, name: &str) -> Diagnostic {
    definition(
        span,
        format!("a layout declares the names that it is given, but `{name}` is not one of its parameters"),
        format!("add `{name}` to the parameters"),
    )
}

pub(super) fn beside_part(span: Span, kernel: bool) -> Diagnostic {
    let help = match kernel {
        true => "move the kernel into a `ptx!` of its own, with `use` and the path of the part",
        false => "move it into the braces of the part, or into a `ptx!` of its own",
    };
    definition(span, "a `ptx!` that defines a part can contain nothing else", help)
}

pub(super) fn second_part(span: Span) -> Diagnostic {
    definition(
        span,
        "a `ptx!` can define only one part",
        "move it into a `ptx!` of its own, which may `use` the first one",
    )
}

pub(super) fn kernel_in_part(span: Span) -> Diagnostic {
    definition(
        span,
        "a part cannot contain kernels",
        "move the kernel into a `ptx!` of its own, with `use` and the path of the part",
    )
}

fn of_use(span: Span, message: impl Into<String>, help: impl Into<Help>) -> Diagnostic {
    Diagnostic::error(code::PIECE_USE, span, message).help(help)
}

pub(super) fn unclosed_use(span: Span) -> Diagnostic {
    of_use(span, "the arguments are never closed", "add `)` and `;` after them")
}

pub(super) fn no_semicolon(span: Span) -> Diagnostic {
    of_use(span, "a use of a piece must end in `;`", "add `;` after the `)`")
}

/// `guard`: its predicate, with the `!`.
pub(super) fn guarded(span: Span, name: &str, guard: Option<(&str, bool)>) -> Diagnostic {
    let help = match guard {
        Some((predicate, negated)) => {
            let not = if negated { "" } else { "!" };
            format!("branch around it: `@{not}{predicate} bra over; {name}!(...); over:`")
        }
        None => "remove the guard".to_owned(),
    };
    of_use(span, format!("a use of `{name}` cannot have a guard, because a piece is not one instruction"), help)
}

pub(super) fn no_bang(span: Span, name: &str) -> Diagnostic {
    of_use(span, format!("a use of the piece `{name}` needs a `!` after the name"), format!("write `{name}!(...)`"))
}

/// `same`: a piece of this name in a part; `near`: one of a similar name.
pub(super) fn unknown_piece(span: Span, name: &str, same: Option<&str>, near: Option<&str>) -> Diagnostic {
    let help = match (same, near) {
        (Some(same), _) => format!("write `{same}!(...)`"),
        (None, Some(near)) => format!("did you mean `{near}!(...)`?"),
        (None, None) => {
            format!("define `.inline {name}(...) {{ ... }}`, or put `use` with the path of its part after the header")
        }
    };
    of_use(span, format!("there is no piece `{name}` in this module"), help)
}

pub(super) fn recursive(span: Span, name: &str) -> Diagnostic {
    of_use(span, format!("`{name}` uses itself"), "write a loop, or a `.func` that calls itself")
}

pub(super) fn outside(span: Span, name: &str) -> Diagnostic {
    of_use(span, format!("`{name}` is code, and belongs in the body of a function"), "move it into a body")
}

/// `counts`: how many arguments there are, and how many there may be.
pub(super) fn wrong_count(
    span: Span,
    name: &str,
    (given, wanted): (usize, std::ops::RangeInclusive<usize>),
    parameters: &str,
    declared: Span,
) -> Diagnostic {
    let (least, most) = wanted.into_inner();
    let plural = if most == 1 { "" } else { "s" };
    let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let message = format!("`{name}` takes {count} argument{plural}, and this use gives {given}");
    of_use(span, message, format!("write `{name}!(...)` with `{parameters}`"))
        .label(declared, format!("`{name}` is defined here"))
}

pub(super) fn other_word(span: Span, word: &str, name: &str, listed: &str, declared: Span) -> Diagnostic {
    of_use(span, format!("`{word}` is not one of the words for `{name}`"), format!("write one of {listed}"))
        .label(declared, format!("`{name}` is declared here"))
}

pub(super) fn no_word(span: Span, piece: &str, name: &str, listed: &str, declared: Span) -> Diagnostic {
    of_use(
        span,
        format!("this use of `{piece}` has no word for `{name}`"),
        format!("write one of {listed} after a dot, before the `!`"),
    )
    .label(declared, format!("`{name}` is declared here"))
}

pub(super) fn one_word_more(span: Span, word: &str, piece: &str, declared: Span) -> Diagnostic {
    of_use(span, format!("`{piece}` takes no word `{word}`"), Help::remove())
        .label(declared, format!("`{piece}` is defined here"))
}

pub(super) fn no_registers(span: Span, parameter: &str, declared: Span) -> Diagnostic {
    let message = format!("the argument `{parameter}` is a list of registers");
    let help = "write `{%d0..=%d31}`, or `%d<32>` for the first registers of `.reg .f32 %d<64>`";
    declared_here(of_use(span, message, help), parameter, declared)
}

pub(super) fn wrong_length(span: Span, parameter: &str, wanted: i64, given: usize, declared: Span) -> Diagnostic {
    let plural = if wanted == 1 { "" } else { "s" };
    let message = format!("the argument `{parameter}` is {wanted} register{plural}, and this use gives {given}");
    declared_here(of_use(span, message, format!("give {wanted} register{plural}")), parameter, declared)
}

/// Where the parameter of an argument is declared.
fn declared_here(d: Diagnostic, parameter: &str, declared: Span) -> Diagnostic {
    d.label(declared, format!("the parameter `{parameter}` is declared here"))
}

pub(super) fn nothing_given(span: Span, parameter: &str, declared: Span) -> Diagnostic {
    let message = format!("the argument `{parameter}` is empty");
    declared_here(of_use(span, message, "write an argument without `@if` and `@for`"), parameter, declared)
}

pub(super) fn argument_range(span: Span, value: i128, parameter: &str, ty: &str, declared: Span) -> Diagnostic {
    let message = format!("{value} is out of range for `{parameter}`, a `{ty}`");
    declared_here(of_use(span, message, format!("write a number that fits in `{ty}`")), parameter, declared)
}

pub(super) fn no_constant(span: Span, parameter: &str, declared: Span) -> Diagnostic {
    let message = format!("the argument `{parameter}` is a constant integer");
    declared_here(of_use(span, message, "write a number, or a constant that is declared before"), parameter, declared)
}

pub(super) fn no_name(span: Span, parameter: &str, label: bool, declared: Span) -> Diagnostic {
    let what = if label { "a label" } else { "a name for the variable" };
    let d = of_use(span, format!("the argument `{parameter}` is {what}"), format!("write {what}, and nothing else"));
    declared_here(d, parameter, declared)
}
