//! The catalogue of 04xx: names, operands and types.

use crate::diag::{Constant, Diagnostic, Subject, Wanted};
use crate::span::Span;
use ptx_dsl_isa::isa::{Multiple, Remedy, Violation};
use ptx_dsl_isa::qualifier::Qualifier;
use ptx_dsl_isa::ty::{Class, Ty};

use super::*;

pub(crate) fn undeclared(span: Span, wanted: Wanted, name: &str, nearest: Option<&str>) -> Diagnostic {
    let what = wanted.text();
    let d = did_you_mean(error(code::UNDECLARED, span, format!("{what} `{name}` is not declared")), nearest)
        .wants(Constant::Value, matches!(wanted, Wanted::Register | Wanted::Name))
        .about(Subject::Undeclared { name: name.to_owned(), wanted, declares: None });
    match wanted {
        Wanted::Label if nearest.is_none() => d
            .note("a label belongs to the block `{ }` that it is in, and can be named anywhere in that block")
            .help(format!("put `{name}:` before an instruction of this function")),
        Wanted::Function => d.note("a function is declared or defined before it is called (PTX ISA 9.7.12.5)"),
        _ => d,
    }
}

/// A function or variable of the module. `plain`: `.func name();` above the function at `span` declares it.
pub(crate) fn declared_below(span: Span, what: &str, name: &str, plain: bool) -> Diagnostic {
    let note = match what {
        "variable" => "a variable is declared before it is named (PTX ISA 5.4)",
        _ => "a function is declared or defined before it is named (PTX ISA 9.7.12.5)",
    };
    let d = error(code::UNDECLARED, span, format!("{what} `{name}` is used before it is declared")).note(note);
    match what {
        _ if plain => d.help(format!("put `.func {name}();` above this function")),
        "variable" => d.help("move its declaration above the first use"),
        _ => d.help("repeat its signature above the first use, with `;` in place of the body"),
    }
}

/// `%r8` with `%r<8>`: the range, and the number after its prefix.
pub(crate) fn beyond_range(
    span: Span,
    wanted: Wanted,
    name: &str,
    prefix: &str,
    count: u64,
    number: &str,
) -> Diagnostic {
    let need = number.parse::<u64>().unwrap_or(u64::MAX).saturating_add(1);
    let last = count.saturating_sub(1);
    undeclared(span, wanted, name, None)
        .note(format!("`{prefix}<{count}>` ends at `{prefix}{last}` (PTX ISA 5.4.6)"))
        .help(format!("declare `{prefix}<{need}>`"))
}

pub(crate) fn duplicate(span: Span, name: &str, first: Span) -> Diagnostic {
    explained_error(
        code::DECLARED_TWICE,
        span,
        format_args!("`{name}` is declared twice in this scope"),
        format_args!("a name is declared once in each block `{{ }}`, and hides the same name of an outer block"),
        format_args!("rename one of them"),
    )
    .label(first, format!("the first `{name}` is here"))
}

pub(crate) fn wrong_name(span: Span, name: &str, is: &str, want: &str) -> Diagnostic {
    helped_error(
        code::OTHER_KIND_OF_NAME,
        span,
        format_args!("`{name}` is {is}, but {want} is expected here"),
        format_args!("name {want}"),
    )
}

/// Lists of branch and call targets and prototypes.
pub(crate) fn list_below(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::OTHER_KIND_OF_NAME,
        span,
        format_args!("`{name}` is used before it is declared"),
        format_args!("a list of targets or a prototype comes before the instruction that names it (PTX ISA 11.3)"),
        format_args!("move its declaration above this instruction"),
    )
}

/// `list`: a free name.
pub(crate) fn label_for_list(span: Span, label: &str, list: &str) -> Diagnostic {
    let mut d = wrong_name(span, label, "a label", "a list of branch targets");
    d.helps = vec![declare_list(label, list)];
    d
}

/// The same for several labels.
pub(crate) fn labels_for_list(span: Span, labels: &str, list: &str) -> Diagnostic {
    explained_error(
        code::OPERAND_SHAPE,
        span,
        format_args!("operand `tlist` must be the name of a list of branch targets"),
        format_args!("`.branchtargets` declares the list before the branch (PTX ISA 11.3.1)"),
        format_args!("{}", declare_list(labels, list)),
    )
}

fn declare_list(labels: &str, list: &str) -> String {
    format!("put `{list}: .branchtargets {labels};` before it, and write `{list}`")
}

/// A help for several registers.
pub(crate) const OTHER_REGISTERS: &str = "name registers of that type, or convert these before it";

/// A help about further operands of an instruction.
pub(crate) const TOO_MUCH: &str = "remove the extra operands";

pub(crate) fn operand_count(
    span: Span,
    opcode: &str,
    low: usize,
    high: usize,
    have: usize,
    line: &str,
    sec: &str,
) -> Diagnostic {
    let s = if high == 1 { "" } else { "s" };
    let verb = if have == 1 { "is" } else { "are" };
    let note = format_args!("its form is `{line}` (PTX ISA {sec})");
    if low == high {
        return noted_error(
            code::OPERAND_COUNT,
            span,
            format_args!("`{opcode}` takes {low} operand{s}, but {have} {verb} given"),
            note,
        );
    }
    let to = if low + 1 == high { "or" } else { "to" };
    noted_error(
        code::OPERAND_COUNT,
        span,
        format_args!("`{opcode}` takes {low} {to} {high} operand{s}, but {have} {verb} given"),
        note,
    )
}

/// An operand that the form has not; it and its section are `form`.
pub(crate) fn superfluous(span: Span, operand: &str, form: (&str, &str)) -> Diagnostic {
    noted_error(
        code::OPERAND_COUNT,
        span,
        format_args!("`{operand}` is one operand too many"),
        format_args!("the form is `{}` (PTX ISA {})", form.0, form.1),
    )
}

/// Operands of another order or in other brackets than those of the form; it and its section are `form`.
pub(crate) fn misshapen(span: Span, form: (&str, &str)) -> Diagnostic {
    noted_error(
        code::OPERAND_SHAPE,
        span,
        format_args!("these operands have another order, or other brackets, than those of the form"),
        format_args!("the form is `{}` (PTX ISA {})", form.0, form.1),
    )
}

/// Operands that are missing. `place`: where, after or before which one.
pub(crate) fn lacks(span: Span, names: &[String], place: &str, form: (&str, &str)) -> Diagnostic {
    let (s, verb) = if names.len() > 1 { ("s", "are") } else { ("", "is") };
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    explained_error(
        code::OPERAND_COUNT,
        span,
        format_args!("operand{s} {names} {verb} missing"),
        format_args!("the form is `{}` (PTX ISA {})", form.0, form.1),
        format_args!("add operand{s} {names} {place}"),
    )
}

pub(crate) fn wrong_shape(span: Span, operand: &str, want: &str) -> Diagnostic {
    let d = noted_error(
        code::OPERAND_SHAPE,
        span,
        format_args!("operand `{operand}` must be {want}"),
        format_args!("the kinds of operands are described in PTX ISA 6"),
    );
    if want.starts_with("a pair") {
        d.help("put two here, with `|` between them")
    } else {
        d.help(format!("put {want} here"))
    }
}

pub(crate) fn must_be_sink(span: Span, operand: &str, line: &str, sec: &str) -> Diagnostic {
    let note = format_args!("the form is `{line}` (PTX ISA {sec})");
    let help = Help::write("_");
    match operand {
        "_" => explained_error(code::SINK, span, format_args!("the result must be `_` here"), note, help),
        _ => explained_error(code::SINK, span, format_args!("operand `{operand}` must be `_` here"), note, help),
    }
}

pub(crate) fn no_sink(span: Span, operand: &str) -> Diagnostic {
    explained_error(
        code::SINK,
        span,
        format_args!("operand `{operand}` cannot be `_`"),
        format_args!("`_` is allowed only where the syntax of an instruction shows it (PTX ISA 9.2)"),
        format_args!("name a register"),
    )
}

pub(crate) fn all_sinks(span: Span) -> Diagnostic {
    explained_error(
        code::SINK,
        span,
        format_args!("no part of this result is kept"),
        format_args!("`_` leaves out a part of a result, never all of it (PTX ISA 6.4.3)"),
        format_args!("name a register for one part"),
    )
}

/// `helps`: ways to get a suitable register.
pub(crate) fn register_type(span: Span, reg: &str, have: Ty, want: Ty, wider: bool, helps: Vec<String>) -> Diagnostic {
    let bits = if wider { want.bits().max(16) } else { want.bits() };
    let message = format!("`{reg}` is a `.{}` register, but `.{}` is needed here", have.name(), want.name());
    let mut d = error(code::REGISTER_TYPE, span, message).about(Subject::RegisterType { have, want });
    d.helps = helps;
    let note = match want.class() {
        Class::Pred => "a predicate register is declared with `.reg .pred` (PTX ISA 5.2.1)".to_string(),
        Class::Unsigned | Class::Signed if wider => {
            format!("an integer or `.b` register of at least {bits} bits fits (PTX ISA 9.4.1)")
        }
        Class::Unsigned | Class::Signed => {
            format!("`.u{bits}`, `.s{bits}` and `.b{bits}` registers fit (PTX ISA 9.4)")
        }
        Class::Bits if wider => format!("any register of at least {bits} bits fits (PTX ISA 9.4.1)"),
        Class::Bits => format!("any register of {bits} bits fits (PTX ISA 9.4)"),
        Class::Float => format!("`.{}` and `.b{bits}` registers fit (PTX ISA 9.4)", want.name()),
        Class::Packed => format!("packed types live in `.b{bits}` registers (PTX ISA 5.2.5)"),
        Class::Opaque => return d,
    };
    d.note(note)
}

/// The type of a register for values of a type; `wider`: a 16-bit register holds a byte.
fn register_of(ty: Ty, wider: bool) -> String {
    let least = if wider { 16 } else { 8 };
    match ty {
        _ if ty.class() == Class::Packed
            || matches!(ty, Ty::Bf16 | Ty::Tf32)
            || ty.bits() < least && ty != Ty::Pred =>
        {
            format!("b{}", ty.bits().max(least))
        }
        _ => ty.name().to_string(),
    }
}

/// Adds a help that declares the register of this name.
pub(crate) fn with_declaration(mut d: Diagnostic, name: &str, ty: Ty) -> Diagnostic {
    if let Subject::Undeclared { declares, .. } = &mut d.subject {
        *declares = Some(ty);
    }
    d.help(declare_register(name, ty))
}

/// A register of this name.
fn declare_register(name: &str, ty: Ty) -> String {
    let register = register_of(ty, true);
    match name.split_once('.') {
        None => format!("put `.reg .{register} {name};` before it"),
        Some((vector, _)) if ty.bits() > 32 => format!("put `.reg .v2 .{register} {vector};` before it"),
        Some((vector, _)) => format!("put `.reg .v4 .{register} {vector};` before it"),
    }
}

/// A register of the type, for a result; `wider`: one with more bits is accepted.
pub(crate) fn another_register(ty: Ty, wider: bool, x: &str) -> String {
    format!("put `.reg .{} {x};` before it, and write `{x}`", register_of(ty, wider))
}

/// Statements that make a register `x` of the type `want` from `given`, each with what it keeps.
pub(crate) fn conversions(given: &str, have: Ty, want: Ty, x: &str) -> Vec<(&'static str, String)> {
    let (from, to) = (have.name(), want.name());
    let number = |ty: Ty| matches!(ty, Ty::F16 | Ty::F32 | Ty::F64);
    let integer = |ty: Ty| matches!(ty.class(), Class::Unsigned | Class::Signed | Class::Bits);
    let plain = |bits: u32| matches!(bits, 16 | 32 | 64);
    let reg = format!(".reg .{} {x};", register_of(want, true));
    let mut out = Vec::new();
    match () {
        _ if have == Ty::Pred && integer(want) && want.bits() <= 64 => {
            let bits = want.bits().max(16);
            out.push(("", format!(".reg .b{bits} {x}; selp.b{bits} {x}, 1, 0, {given};")));
        }
        _ if have == Ty::Pred && matches!(want, Ty::F32 | Ty::F64) => {
            out.push(("", format!("{reg} selp.{to} {x}, 1.0, 0.0, {given};")));
        }
        _ if want == Ty::Pred && integer(have) && plain(have.bits()) => {
            out.push(("", format!("{reg} setp.ne.b{} {x}, {given}, 0;", have.bits())));
        }
        _ if want == Ty::Pred && matches!(have, Ty::F32 | Ty::F64) => {
            out.push(("", format!("{reg} setp.neu.{from} {x}, {given}, 0.0;")));
        }
        _ if number(have) && integer(want) && plain(want.bits()) && want.class() != Class::Bits => {
            out.push(("for its value, ", format!("{reg} cvt.rzi.{to}.{from} {x}, {given};")));
        }
        _ if number(want) && matches!(have.class(), Class::Unsigned | Class::Signed) && plain(have.bits()) => {
            out.push(("for its value, ", format!("{reg} cvt.rn.{to}.{from} {x}, {given};")));
        }
        _ if number(have) && number(want) => {
            let round = if have.bits() > want.bits() { "rn." } else { "" };
            out.push(("", format!("{reg} cvt.{round}{to}.{from} {x}, {given};")));
        }
        _ if integer(have)
            && integer(want)
            && have.bits() != want.bits()
            && plain(have.bits())
            && plain(want.bits()) =>
        {
            let sign = if want.class() == Class::Signed { "s" } else { "u" };
            let (w, h) = (want.bits(), have.bits());
            out.push(("", format!("{reg} cvt.{sign}{w}.{sign}{h} {x}, {given};")));
        }
        _ => {}
    }
    if want.bits() == have.bits() && plain(want.bits()) {
        let purpose = if out.is_empty() { "" } else { "for its bits, " };
        out.push((purpose, format!(".reg .b{0} {x}; mov.b{0} {x}, {given};", want.bits())));
    }
    out
}

pub(crate) fn constant_type(span: Span, have: &str, want: Ty, help: Option<Help>) -> Diagnostic {
    let d = noted_error(
        code::CONSTANT_TYPE,
        span,
        format_args!("{have} cannot be a `.{}` operand", want.name()),
        format_args!("constants are not converted between integer and floating point (PTX ISA 4.5)"),
    );
    with_help(d, help)
}

pub(crate) fn not_constant(span: Span) -> Diagnostic {
    explained_error(
        code::CONSTANT_TYPE,
        span,
        format_args!("this is not a constant expression"),
        format_args!(
            "constant expressions have integers or floating-point numbers, not both, and never divide by zero (PTX ISA 4.5)"
        ),
        format_args!("put the value here as one number"),
    )
    .wants(Constant::Value, true)
}

pub(crate) fn range(span: Span, operand: &str, value: i64, low: i64, high: i64, sec: &str) -> Diagnostic {
    let message = format_args!("`{value}` is out of range for operand `{operand}`");
    if low == high {
        let (note, help) = (format_args!("it must be {low} (PTX ISA {sec})"), Help::write(low.to_string()));
        return explained_error(code::CONSTANT_RANGE, span, message, note, help);
    }
    explained_error(
        code::CONSTANT_RANGE,
        span,
        message,
        format_args!("it must be between {low} and {high} (PTX ISA {sec})"),
        format_args!("the nearest allowed value is `{}`", value.clamp(low, high.max(low))),
    )
}

pub(crate) fn not_predicate(span: Span, name: &str, helps: Vec<String>) -> Diagnostic {
    let mut d = noted_error(
        code::GUARD_TYPE,
        span,
        format_args!("`{name}` is not a predicate register"),
        format_args!("guards are `@p` and `@!p` with a `.pred` register (PTX ISA 9.3)"),
    );
    d.helps = helps;
    d
}

/// `x`: a free name.
pub(crate) fn special_register(span: Span, name: &str, ty: Ty, opcode: &str, x: &str) -> Diagnostic {
    let ty = ty.name();
    explained_error(
        code::SPECIAL_REGISTER,
        span,
        format_args!("the special register `{name}` cannot be an operand of `{opcode}`"),
        format_args!("special registers are read with `mov` or `cvt` (PTX ISA 10)"),
        format_args!("put `.reg .{ty} {x}; mov.{ty} {x}, {name};` before it, and write `{x}`"),
    )
}

pub(crate) fn read_only(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::SPECIAL_REGISTER,
        span,
        format_args!("the special register `{name}` is read-only"),
        format_args!("no instruction writes a special register (PTX ISA 10)"),
        format_args!("name a register declared with `.reg`"),
    )
}

pub(crate) fn whole_vector_sreg(span: Span, name: &str) -> Diagnostic {
    helped_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("`{name}` is a vector"),
        Help::write_one_of(&[".x", ".y", ".z"].map(|part| format!("{name}{part}"))),
    )
}

pub(crate) fn no_vector(span: Span, operand: &str) -> Diagnostic {
    explained_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("operand `{operand}` is one value, but it is in braces"),
        format_args!("a vector is an operand only with `.v2`, `.v4` or `.v8` (PTX ISA 6.4.3)"),
        format_args!("remove the braces"),
    )
}

pub(crate) fn arity(span: Span, operand: &str, want: u32, have: usize) -> Diagnostic {
    let given = match have {
        1 => "one value is given".to_string(),
        n => format!("{n} values are given"),
    };
    if want == 1 {
        return noted_error(
            code::ELEMENT_COUNT,
            span,
            format_args!("operand `{operand}` is one register, but {given}"),
            format_args!("a vector is an operand only with `.v2`, `.v4` or `.v8` (PTX ISA 6.4.3)"),
        )
        .about(Subject::OneRegister);
    }
    let d = noted_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("operand `{operand}` is a vector of {want}, but {given}"),
        format_args!("the vector qualifier asks for {want} elements (PTX ISA 6.4.3)"),
    );
    match have {
        _ if want == 0 => d,
        2 | 4 | 8 => d.help(format!("write `.v{have}` in place of `.v{want}`, or give {want} elements")),
        _ => d.help(format!("give {want} elements in `{{ }}`")),
    }
}

pub(crate) fn uneven_vector(span: Span) -> Diagnostic {
    explained_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("the registers of this vector differ in width"),
        format_args!("the elements of a vector have the same size (PTX ISA 6.4.3)"),
        format_args!("declare all of them with one type"),
    )
}

/// `by`: the qualifiers that determine the number.
pub(crate) fn how_many(span: Span, operand: &str, want: u32, have: usize, by: &[&str], sec: &str) -> Diagnostic {
    let s = if want == 1 { "" } else { "s" };
    let given = match have {
        0 => "this is not a vector".to_string(),
        1 => "1 is given".to_string(),
        n => format!("{n} are given"),
    };
    let mut why = String::new();
    for (i, q) in by.iter().enumerate() {
        why += if i > 0 { "` and `" } else { "`" };
        why += q;
    }
    why += if by.is_empty() { "the smallest count" } else { "`" };
    why += if by.len() > 1 { " ask for" } else { " asks for" };
    explained_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("operand `{operand}` takes {want} register{s} in `{{ }}`, but {given}"),
        format_args!("that is what {why} (PTX ISA {sec})"),
        format_args!("put a vector of {want} register{s} here"),
    )
}

pub(crate) fn mixed_kinds(span: Span) -> Diagnostic {
    explained_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("this vector mixes floating-point and integer registers"),
        format_args!("the elements of a vector have the same type, and `.b32` goes with each (PTX ISA 6.4.3)"),
        format_args!("declare them with one type, or as bits, such as `.b32`"),
    )
}

pub(crate) fn mixed_vector(span: Span) -> Diagnostic {
    explained_error(
        code::ELEMENT_COUNT,
        span,
        format_args!("the widths of these elements do not add up to the width of the type"),
        format_args!("packing and unpacking take two or four equal parts (PTX ISA 9.7.9.4)"),
        format_args!("give two or four registers whose widths add up to it"),
    )
}

/// `help`: how to get one.
pub(crate) fn needs_register(span: Span, operand: &str, help: Option<String>) -> Diagnostic {
    let d = noted_error(
        code::REGISTER_OR_CONSTANT,
        span,
        format_args!("operand `{operand}` must be a register"),
        format_args!(
            "destinations, and operands that the syntax does not mark as constants, are registers (PTX ISA 6.3)"
        ),
    );
    d.help(help.unwrap_or_else(|| "name a register declared with `.reg`".to_string()))
}

pub(crate) fn needs_constant(span: Span, operand: &str, sec: &str) -> Diagnostic {
    explained_error(
        code::REGISTER_OR_CONSTANT,
        span,
        format_args!("operand `{operand}` must be a constant"),
        format_args!("see PTX ISA {sec}"),
        format_args!("put a number here"),
    )
}

/// `bits`: of its address; `x`: a free name.
pub(crate) fn variable_operand(span: Span, name: &str, opcode: &str, bits: u32, x: &str) -> Diagnostic {
    explained_error(
        code::REGISTER_OR_CONSTANT,
        span,
        format_args!("the address of `{name}` cannot be an operand of `{opcode}`"),
        format_args!("the address of a variable is taken with `mov` or `cvta` (PTX ISA 6.4.2)"),
        format_args!("put `.reg .u{bits} {x}; mov.u{bits} {x}, {name};` before it, and write `{x}`"),
    )
}

pub(crate) fn tensor_memory_register(span: Span, name: &str, ty: Ty) -> Diagnostic {
    let want = if ty.bits() == 32 { "is without a type here" } else { "has 32 bits" };
    explained_error(
        code::MALFORMED_ADDRESS,
        span,
        format_args!("`{name}` is a `.{}` register, but an address in Tensor Memory {want}", ty.name()),
        format_args!("it is a lane in the upper and a column in the lower half (PTX ISA 9.7.16.1.1)"),
        format_args!("use the `.b32` register that holds what `tcgen05.alloc` wrote"),
    )
}

pub(crate) fn tensor_memory_variable(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::MALFORMED_ADDRESS,
        span,
        format_args!("`{name}` is a variable, but an address in Tensor Memory is needed here"),
        format_args!("no variable lives in Tensor Memory (PTX ISA 9.7.16.1)"),
        format_args!("load what `tcgen05.alloc` wrote into a `.b32` register, and name that"),
    )
}

pub(crate) fn goes_with(span: Span, operand: &str, qualifier: &str, operand_given: bool) -> Diagnostic {
    let d = if operand_given {
        error(code::OPERAND_DEPENDENCE, span, format!("operand `{operand}` needs the qualifier `{qualifier}`"))
    } else {
        error(code::OPERAND_DEPENDENCE, span, format!("`{qualifier}` needs the operand `{operand}`"))
    };
    let help = match operand_given {
        true => Help::remove().worded(format!("add `{qualifier}`, or remove it")),
        false => Help::remove().worded("add the operand, or remove it"),
    };
    d.help(help).note(format!("`{qualifier}` and `{operand}` are given together"))
}

/// A value or a form that an operand cannot have here.
pub(crate) fn operand_value(span: Span, text: &str, sec: &str) -> Diagnostic {
    noted_error(code::OPERAND_VALUE, span, format_args!("{text}"), format_args!("see PTX ISA {sec}"))
}

pub(crate) fn vector_of_one(span: Span, sec: &str) -> Diagnostic {
    operand_value(span, "a vector of one `.u16` register is read as the register itself", sec).help("declare it `.b16`")
}

/// A rule of the table that is a function. `place`: where a qualifier is written.
pub(crate) fn violation(
    span: Span,
    violation: Violation,
    place: impl Fn(Qualifier) -> Option<Span>,
    sec: &str,
) -> Diagnostic {
    let Violation { text, remedy, .. } = violation;
    let d = operand_value(span, &text, sec);
    let Some(remedy) = remedy else { return d };
    d.help(match remedy {
        Remedy::Write(texts, then) => Help::write_one_of(&texts).then(then),
        Remedy::Spell(opcode) => Help::write(opcode).whole_opcode(),
        Remedy::Replace(old, new, then) => {
            let new: Vec<&str> = new.iter().map(|q| q.text()).collect();
            let help = Help::write_one_of(&new).then(&format!(" in place of `{old}`{then}"));
            match place(old) {
                Some(at) => help.at(at),
                None => Help::from(help.text),
            }
        }
        Remedy::Remove(qualifier) => match place(qualifier) {
            Some(at) => Help::remove_word(qualifier.text(), at),
            None => format!("remove `{qualifier}`").into(),
        },
        Remedy::Rewrite(text) => text.into(),
    })
}

pub(crate) fn multiple(span: Span, rule: &Multiple, value: u64, sec: &str) -> Diagnostic {
    let Multiple { what, unit, of, .. } = rule;
    let near = value.checked_next_multiple_of(*of).unwrap_or(*of);
    let text = format!("{what} is {value}, but must be a multiple of {unit}");
    operand_value(span, &text, sec).help(Help::write(near.to_string()))
}

/// `help`: code that negates it.
pub(crate) fn no_negation(span: Span, operand: &str, help: Option<String>) -> Diagnostic {
    let d = noted_error(
        code::NEGATION,
        span,
        format_args!("operand `{operand}` cannot be negated with `!`"),
        format_args!("`!` negates only predicates that are read (PTX ISA 9.3)"),
    );
    d.help(help.unwrap_or_else(|| "remove the `!`".to_string()))
}

pub(crate) fn param_write(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::PARAMETER_ACCESS,
        span,
        format_args!("`{name}` is an input parameter and cannot be written"),
        format_args!("input parameters are read with `ld.param` only (PTX ISA 5.1.6)"),
        format_args!("keep the value in a register, or in a `.local` variable"),
    )
}

/// `help`: the instruction that computes it.
pub(crate) fn bad_operand_expression(span: Span, help: Option<String>) -> Diagnostic {
    noted_error(
        code::CONSTANT_TYPE,
        span,
        format_args!("an expression cannot contain a register"),
        format_args!("only an address adds a constant to a register"),
    )
    .help(help.unwrap_or_else(|| "compute it with an instruction first".to_string()))
    .wants(Constant::Value, true)
}
