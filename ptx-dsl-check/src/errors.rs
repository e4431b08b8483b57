//! The catalogue of 02xx and 04xx: the only place with their text. 01xx is in `parse::errors`, 03xx in `errors::version`, 05xx in
//! `errors::kernel`.

use crate::diag::Diagnostic;
use crate::span::Span;
use crate::ty::{Class, Ty};
use ptx_dsl_table::list::List;

mod kernel;
mod version;

pub(crate) use kernel::*;
pub(crate) use version::*;

pub(crate) fn error(code: u16, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, span, message)
}

fn did_you_mean(d: Diagnostic, nearest: Option<&str>) -> Diagnostic {
    match nearest {
        Some(n) => d.help(format!("did you mean `{n}`?")),
        None => d,
    }
}

/// `.a`, `.b` or `.c`; at most eight.
fn one_of<S: AsRef<str>>(words: &[S]) -> String {
    let mut out = String::new();
    let shown = words.len().min(8);
    for (i, w) in words.iter().take(shown).enumerate() {
        if i > 0 {
            out += if i + 1 == words.len() { " or " } else { ", " };
        }
        out += &format!("`{}`", w.as_ref());
    }
    if words.len() > shown {
        out += &format!(" or {} more", words.len() - shown);
    }
    out
}

fn section(d: Diagnostic, rule: &str, section: &str) -> Diagnostic {
    d.note(format!("{rule} (PTX ISA {section})"))
}

// 02xx: opcodes and qualifiers

pub(crate) fn unknown_instruction(span: Span, name: &str, nearest: Option<&str>) -> Diagnostic {
    did_you_mean(error(200, span, format!("unknown instruction `{name}`")), nearest)
}

/// `instead`: what kind of qualifier it is, and those of the kind that the instruction takes.
pub(crate) fn unknown_qualifier(
    span: Span,
    opcode: &str,
    word: &str,
    nearest: Option<&str>,
    instead: Option<(&str, &[String])>,
    sec: &str,
) -> Diagnostic {
    let d = error(201, span, format!("`{opcode}` has no qualifier `.{word}`"));
    match (instead, nearest) {
        (Some((kind, words)), nearest) => {
            let d = section(d, &format!("its {kind} is {}", one_of(words)), sec);
            match nearest {
                Some(n) => d.help(format!("did you mean `.{n}`?")),
                None if words.len() <= 4 => d.help(format!("write {}", one_of(words))),
                None => d.help(format!("write one of these, as in `{}`", words.first().map_or("", String::as_str))),
            }
        }
        (None, Some(n)) => d.help(format!("did you mean `.{n}`?")),
        (None, None) => section(d, &format!("the syntax of `{opcode}` lists what it takes"), sec).help("remove it"),
    }
}

pub(crate) fn missing_qualifier(
    span: Span,
    opcode: &str,
    slot: &str,
    alts: &[&str],
    ty: bool,
    sec: &str,
) -> Diagnostic {
    let what = match slot {
        _ if ty => "a type",
        ".rnd" | ".frnd" | ".irnd" | ".frnd2" | ".frnd3" => "a rounding modifier",
        _ => slot,
    };
    let alts = alts.iter().map(|a| format!(".{a}")).list();
    let what = if alts.len() == 1 {
        format!("`{}`", alts[0])
    } else if what.starts_with('.') {
        format!("`{what}`")
    } else {
        what.to_string()
    };
    let usual = [".u32", ".s32", ".f32", ".b32"].into_iter().find(|u| alts.iter().any(|a| a == u));
    let example = if ty { usual } else { None }.or(alts.first().map(String::as_str)).unwrap_or("").to_string();
    let d = error(202, span, format!("`{opcode}` needs {what}"));
    if alts.len() == 1 {
        return section(d, "the qualifier is not optional here", sec).help(format!("write `{opcode}{example}`"));
    }
    section(d, &format!("it is one of {}", one_of(&alts)), sec).help(format!("add one, as in `{opcode}{example}`"))
}

pub(crate) fn duplicate_qualifier(span: Span, word: &str, first: Span) -> Diagnostic {
    error(203, span, format!("`.{word}` is given twice"))
        .label(first, format!("the first `.{word}` is here"))
        .help("remove one of them")
}

/// A qualifier that is a part of the opcode to ptxas.
pub(crate) fn misplaced(span: Span, word: &str, behind: &str, sec: &str) -> Diagnostic {
    let d = error(204, span, format!("`.{word}` stands behind `{behind}`"));
    section(d, "most qualifiers come in any order, this one does not", sec).help(format!("write `{behind}.{word}`"))
}

pub(crate) fn not_together(
    span: Span,
    opcode: &str,
    word: &str,
    other: Option<(&str, Span)>,
    line: &str,
    help: Option<String>,
    sec: &str,
) -> Diagnostic {
    let d = match other {
        Some((other, at)) => error(204, span, format!("`.{word}` cannot be combined with `.{other}`"))
            .label(at, format!("`.{other}` is here")),
        None => error(204, span, format!("`.{word}` is not allowed here on `{opcode}`")),
    };
    let d = section(d, &format!("the nearest form is `{line}`"), sec);
    match help {
        Some(h) => d.help(h),
        None => d,
    }
}

pub(crate) fn incomplete_group(
    span: Span,
    word: &str,
    slot: &str,
    word_slot: &str,
    alts: &[&str],
    after: bool,
    sec: &str,
) -> Diagnostic {
    let what = if slot.contains("scope") {
        "a scope".to_string()
    } else if slot.contains("sem") {
        "a memory ordering".to_string()
    } else if alts.len() == 1 {
        format!("`.{}`", alts[0])
    } else {
        format!("`{slot}`")
    };
    let edits: Vec<String> =
        alts.iter().map(|a| if after { format!(".{word}.{a}") } else { format!(".{a}.{word}") }).list();
    let d = error(207, span, format!("`.{word}` needs {what}"));
    let (a, b) = if after { (word_slot, slot) } else { (slot, word_slot) };
    section(d, &format!("`{a}` and `{b}` are given together"), sec).help(format!("write {}", one_of(&edits)))
}

/// A rule of the table. `words`: the two qualifiers that it forbids together, the offending one first; `help`: the edit.
pub(crate) fn rule(
    span: Span,
    words: Option<(&str, (&str, Span))>,
    text: &str,
    help: Option<String>,
    sec: &str,
) -> Diagnostic {
    let d = match words {
        Some((word, (other, at))) => section(
            error(208, span, format!("`.{word}` cannot be combined with `.{other}`"))
                .label(at, format!("`.{other}` is here")),
            text,
            sec,
        ),
        None => error(208, span, text).note(format!("see PTX ISA {sec}")),
    };
    match help {
        Some(h) => d.help(h),
        None => d,
    }
}

// 04xx: names, operands and types

pub(crate) fn undeclared(span: Span, what: &str, name: &str, nearest: Option<&str>) -> Diagnostic {
    let d = did_you_mean(error(401, span, format!("{what} `{name}` is not declared")), nearest);
    match what {
        "label" if nearest.is_none() => d
            .note("a label belongs to the `{ }` it stands in, and can be named in all of it")
            .help(format!("put `{name}:` before an instruction of this function")),
        "function" => d
            .note("a function is declared or defined before it is called (PTX ISA 9.7.12.5)")
            .help(format!("define it above this one, or declare it there, as in `.extern .func {name};`")),
        _ => d,
    }
}

/// `%r8` where there is `%r<8>`: the range, the number behind its prefix.
pub(crate) fn beyond_range(span: Span, what: &str, name: &str, prefix: &str, count: u64, number: &str) -> Diagnostic {
    let need = number.parse::<u64>().unwrap_or(u64::MAX).saturating_add(1);
    let last = count.saturating_sub(1);
    undeclared(span, what, name, None)
        .note(format!("`{prefix}<{count}>` ends at `{prefix}{last}` (PTX ISA 5.4.6)"))
        .help(format!("declare `{prefix}<{need}>`"))
}

pub(crate) fn duplicate(span: Span, name: &str, first: Span) -> Diagnostic {
    error(402, span, format!("`{name}` is declared twice in this scope"))
        .label(first, format!("the first `{name}` is here"))
        .note("a name is declared once in each `{ }`, and hides that of an outer one")
        .help("rename one of them")
}

pub(crate) fn wrong_name(span: Span, name: &str, is: &str, want: &str) -> Diagnostic {
    error(403, span, format!("`{name}` is {is}, and {want} is expected here")).help(format!("name {want}"))
}

/// Lists of branch and call targets and prototypes.
pub(crate) fn list_below(span: Span, name: &str) -> Diagnostic {
    error(403, span, format!("`{name}` is declared only below"))
        .note("a list of targets and a prototype stand before the instruction that names them (PTX ISA 11.3)")
        .help(format!("move `{name}: ...;` above this instruction"))
}

pub(crate) fn operand_count(
    span: Span,
    opcode: &str,
    low: usize,
    high: usize,
    have: usize,
    line: &str,
    sec: &str,
) -> Diagnostic {
    let want = if low == high { low.to_string() } else { format!("{low} to {high}") };
    let s = if high == 1 { "" } else { "s" };
    let verb = if have == 1 { "is" } else { "are" };
    section(
        error(404, span, format!("`{opcode}` takes {want} operand{s}, and {have} {verb} given")),
        &format!("its form is `{line}`"),
        sec,
    )
}

pub(crate) fn wrong_shape(span: Span, operand: &str, want: &str) -> Diagnostic {
    let d = error(405, span, format!("operand `{operand}` must be {want}"))
        .note("the kinds of operands are described in PTX ISA 6");
    if want.starts_with("an address in") { d } else { d.help(format!("write {want}")) }
}

pub(crate) fn must_be_sink(span: Span, operand: &str, line: &str, sec: &str) -> Diagnostic {
    let what = if operand == "_" { "the result".to_string() } else { format!("operand `{operand}`") };
    section(error(406, span, format!("{what} must be `_` here")), &format!("the form is `{line}`"), sec)
        .help("write `_`")
}

pub(crate) fn no_sink(span: Span, operand: &str) -> Diagnostic {
    error(406, span, format!("operand `{operand}` cannot be `_`"))
        .note("`_` stands only where the syntax of an instruction shows it (PTX ISA 9.2)")
        .help("write a register")
}

pub(crate) fn all_sinks(span: Span) -> Diagnostic {
    error(406, span, "nothing is left of this result")
        .note("`_` leaves out a part of a result, never all of it (PTX ISA 6.4.3)")
        .help("write a register for one part")
}

pub(crate) fn register_type(span: Span, reg: &str, have: Ty, want: Ty, wider: bool) -> Diagnostic {
    let d =
        error(407, span, format!("`{reg}` is a `.{}` register, and `.{}` is needed here", have.name(), want.name()));
    let bits = if wider { want.bits().max(16) } else { want.bits() };
    let integer = matches!(want.class(), Class::Unsigned | Class::Signed);
    let d = if have == Ty::Pred {
        d.help(format!("make a number of it: `selp.b{} d, 1, 0, {reg}`", bits.clamp(16, 64)))
    } else if integer && have.class() == Class::Float {
        d.help(format!(
            "convert the value with `cvt.rzi.{}.{}`, or copy its bits with `mov.b{}`",
            want.name(),
            have.name(),
            have.bits()
        ))
    } else if integer && have.bits() != want.bits() && have.bits() < 128 && have.class() != Class::Float {
        let from = format!("{}{}", &want.name()[..1], have.bits());
        d.help(format!("convert it first: `cvt.{}.{from}`", want.name()))
    } else {
        let ty =
            if want.bits() < 16 || want.class() == Class::Packed { format!("b{bits}") } else { want.name().into() };
        d.help(format!("declare a register for it: `.reg .{ty} x;`"))
    };
    match want.class() {
        Class::Pred => d.note("a predicate register is declared with `.reg .pred` (PTX ISA 5.2.1)"),
        Class::Unsigned | Class::Signed if wider => {
            d.note(format!("an integer or `.b` register of at least {bits} bits fits (PTX ISA 9.4.1)"))
        }
        Class::Unsigned | Class::Signed => {
            d.note(format!("`.u{bits}`, `.s{bits}` and `.b{bits}` registers fit (PTX ISA 9.4)"))
        }
        Class::Bits if wider => d.note(format!("any register of at least {bits} bits fits (PTX ISA 9.4.1)")),
        Class::Bits => d.note(format!("any register of {bits} bits fits (PTX ISA 9.4)")),
        Class::Float => d.note(format!("`.{}` and `.b{bits}` registers fit (PTX ISA 9.4)", want.name())),
        Class::Packed => d.note(format!("packed types live in `.b{bits}` registers (PTX ISA 5.2.5)")),
        Class::Opaque => d,
    }
}

pub(crate) fn constant_type(span: Span, have: &str, want: Ty, help: Option<String>) -> Diagnostic {
    let d = error(408, span, format!("{have} cannot be a `.{}` operand", want.name()))
        .note("constants are not converted between integer and floating point (PTX ISA 4.5)");
    d.help(help.unwrap_or_else(|| "put the value into a register first".to_string()))
}

pub(crate) fn not_constant(span: Span) -> Diagnostic {
    error(408, span, "this is not a constant expression")
        .note("constant expressions have integers or floating-point numbers, not both, and never divide by zero (PTX ISA 4.5)")
        .help("write the value as one number")
}

pub(crate) fn range(span: Span, operand: &str, value: i64, low: i64, high: i64, sec: &str) -> Diagnostic {
    section(
        error(409, span, format!("`{value}` is out of range for operand `{operand}`")),
        &format!("it lies between {low} and {high}"),
        sec,
    )
    .help(format!("the nearest that is allowed is `{}`", value.clamp(low, high.max(low))))
}

pub(crate) fn not_predicate(span: Span, name: &str) -> Diagnostic {
    error(410, span, format!("`{name}` is not a predicate register"))
        .note("guards are `@p` and `@!p` with a `.pred` register (PTX ISA 9.3)")
        .help(format!("compare `{name}` with `setp` first, and guard with the predicate that it writes"))
}

pub(crate) fn special_register(span: Span, name: &str, opcode: &str) -> Diagnostic {
    error(411, span, format!("the special register `{name}` cannot be an operand of `{opcode}`"))
        .note("special registers are read with `mov` or `cvt` (PTX ISA 10)")
        .help(format!("`mov` `{name}` into a register first"))
}

pub(crate) fn read_only(span: Span, name: &str) -> Diagnostic {
    error(411, span, format!("the special register `{name}` is read-only"))
        .note("no instruction writes a special register (PTX ISA 10)")
        .help("write to a register declared with `.reg`")
}

pub(crate) fn whole_vector_sreg(span: Span, name: &str) -> Diagnostic {
    error(414, span, format!("`{name}` is a vector")).help(format!("write `{name}.x`, `{name}.y` or `{name}.z`"))
}

pub(crate) fn misaligned(span: Span, name: &str, offset: i64, align: u32) -> Diagnostic {
    let step = i64::from(align);
    let rest = offset.rem_euclid(step);
    error(412, span, format!("`{name}` plus {offset} is not a multiple of {align} bytes"))
        .note(format!("this access must be aligned to {align} bytes (PTX ISA 6.4.1)"))
        .help(format!("the nearest aligned offsets are {} and {}", offset - rest, offset.saturating_add(step - rest)))
}

pub(crate) fn space_mismatch(span: Span, name: &str, is: &str, want: &str) -> Diagnostic {
    error(413, span, format!("`{name}` is a `.{is}` variable, and the instruction accesses `.{want}`"))
        .note("a variable is accessed in the state space it is declared in, or by a generic address (PTX ISA 5.1)")
        .help(format!("write `.{is}` in place of `.{want}`"))
}

pub(crate) fn generic_space(span: Span, name: &str, is: &str) -> Diagnostic {
    error(413, span, format!("`{name}` is a `.{is}` variable, and a generic address cannot name it"))
        .help(format!("give the state space: `.{is}`"))
}

pub(crate) fn no_vector(span: Span, operand: &str) -> Diagnostic {
    error(414, span, format!("operand `{operand}` is one value, and braces are around it"))
        .note("a vector is an operand only with `.v2`, `.v4` or `.v8` (PTX ISA 6.4.3)")
        .help("remove the braces")
}

pub(crate) fn arity(span: Span, operand: &str, want: u32, have: usize) -> Diagnostic {
    let elements = want;
    let note = match want {
        1 => "a vector is an operand only with `.v2`, `.v4` or `.v8` (PTX ISA 6.4.3)".to_string(),
        n => format!("the vector qualifier asks for {n} elements (PTX ISA 6.4.3)"),
    };
    let want = if want == 1 { "one register".into() } else { format!("a vector of {want}") };
    let help = match have {
        2 | 4 | 8 if elements > 1 => Some(format!("write `.v{have}`, or give {elements} elements")),
        _ if elements > 1 => Some(format!("give {elements} elements in `{{ }}`")),
        _ => None,
    };
    let have = if have == 1 { "one value".into() } else { format!("{have} values") };
    let d = error(
        414,
        span,
        format!("operand `{operand}` is {want}, and {have} {} given", if have == "one value" { "is" } else { "are" }),
    )
    .note(note);
    match help {
        Some(h) => d.help(h),
        None => d,
    }
}

pub(crate) fn uneven_vector(span: Span) -> Diagnostic {
    error(414, span, "the registers of this vector differ in width")
        .note("the elements of a vector have the same size (PTX ISA 6.4.3)")
        .help("declare all of them with one type")
}

/// `by`: the qualifiers that give the number.
pub(crate) fn how_many(span: Span, operand: &str, want: u32, have: usize, by: &[&str], sec: &str) -> Diagnostic {
    let plural = |n: usize| if n == 1 { "1 register".to_string() } else { format!("{n} registers") };
    let have = if have == 0 { "it is no vector".to_string() } else { format!("{} given", have) };
    let d = error(414, span, format!("operand `{operand}` takes {} in `{{ }}`, {have}", plural(want as usize)));
    let why = if by.is_empty() { "the smallest count".to_string() } else { format!("`{}`", by.join("` and `")) };
    section(d, &format!("that is what {why} asks for"), sec)
        .help(format!("write a vector of {}", plural(want as usize)))
}

pub(crate) fn mixed_kinds(span: Span) -> Diagnostic {
    error(414, span, "this vector mixes floating-point and integer registers")
        .note("the elements of a vector have the same type, and `.b32` goes with each (PTX ISA 6.4.3)")
        .help("use `.b32` registers")
}

pub(crate) fn mixed_vector(span: Span) -> Diagnostic {
    error(414, span, "the elements of this vector together do not have the width of the type")
        .note("packing and unpacking take two or four equal parts (PTX ISA 9.7.9.4)")
        .help("give two or four registers that are together as wide, as in `mov.b64 %rd, {%r1, %r2}`")
}

pub(crate) fn needs_register(span: Span, operand: &str) -> Diagnostic {
    error(415, span, format!("operand `{operand}` must be a register"))
        .note("a destination, and what is not marked as a constant, is a register (PTX ISA 6.3)")
        .help("write a register declared with `.reg`")
}

pub(crate) fn needs_constant(span: Span, operand: &str, sec: &str) -> Diagnostic {
    error(415, span, format!("operand `{operand}` must be a constant"))
        .note(format!("see PTX ISA {sec}"))
        .help("write a number")
}

pub(crate) fn variable_operand(span: Span, name: &str, opcode: &str) -> Diagnostic {
    error(415, span, format!("the address of `{name}` cannot be an operand of `{opcode}`"))
        .help(format!("`mov` `{name}` into a register first"))
}

pub(crate) fn address_register(span: Span, name: &str, ty: Ty) -> Diagnostic {
    error(
        416,
        span,
        format!("`{name}` is a `.{}` register, and an address needs 32 or 64 bits of integer or bits", ty.name()),
    )
    .note("see PTX ISA 6.4.1")
    .help("keep the address in a `.b64` or `.u64` register")
}

pub(crate) fn tensor_memory_register(span: Span, name: &str, ty: Ty) -> Diagnostic {
    let want = if ty.bits() == 32 { "is without a type here" } else { "has 32 bits" };
    error(416, span, format!("`{name}` is a `.{}` register, and an address in Tensor Memory {want}", ty.name()))
        .note("it is a lane in the upper and a column in the lower half (PTX ISA 9.7.16.1.1)")
        .help("use the `.b32` register that holds what `tcgen05.alloc` wrote")
}

pub(crate) fn tensor_memory_variable(span: Span, name: &str) -> Diagnostic {
    error(416, span, format!("`{name}` is a variable, and an address in Tensor Memory is needed here"))
        .note("no variable lives in Tensor Memory (PTX ISA 9.7.16.1)")
        .help("load what `tcgen05.alloc` wrote into a `.b32` register, and write `[reg]`")
}

pub(crate) fn bad_address(span: Span) -> Diagnostic {
    error(416, span, "this is not an address")
        .note("an address is `[reg]`, `[reg+imm]`, `[var]` or `[var+imm]` (PTX ISA 6.4.1)")
        .help("subtract with `[reg+-imm]`; add two registers with `add` first")
}

pub(crate) fn absolute_address(span: Span) -> Diagnostic {
    error(416, span, "a constant address is allowed in `.local` only")
        .note("see PTX ISA 6.4.1")
        .help("`mov` it into a register first")
}

pub(crate) fn goes_with(span: Span, operand: &str, qualifier: &str, operand_given: bool) -> Diagnostic {
    let d = if operand_given {
        error(417, span, format!("operand `{operand}` needs the qualifier `{qualifier}`"))
    } else {
        error(417, span, format!("`{qualifier}` needs the operand `{operand}`"))
    };
    d.help("write both, or neither").note(format!("`{qualifier}` and `{operand}` are given together"))
}

/// A rule of the table that is a function: behind a line break its text gives the edit.
pub(crate) fn custom(span: Span, text: &str, sec: &str) -> Diagnostic {
    let (text, help) = text.split_once('\n').map_or((text, None), |(t, h)| (t, Some(h)));
    let d = error(418, span, text).note(format!("see PTX ISA {sec}"));
    match help {
        Some(h) => d.help(h),
        None => d,
    }
}

pub(crate) fn no_negation(span: Span, operand: &str) -> Diagnostic {
    error(419, span, format!("operand `{operand}` cannot be negated with `!`"))
        .note("only a predicate whose place shows `{!}` is negated in place (PTX ISA 9.3)")
        .help("negate it first: `not.pred`")
}

pub(crate) fn param_write(span: Span, name: &str) -> Diagnostic {
    error(420, span, format!("`{name}` is an input parameter and cannot be written"))
        .note("input parameters are read with `ld.param` only (PTX ISA 5.1.6)")
        .help("keep the value in a register, or in a `.local` variable")
}

pub(crate) fn bad_operand_expression(span: Span) -> Diagnostic {
    error(408, span, "registers take part in no expression")
        .note("only addresses add a constant to a register")
        .help("compute it with an instruction first")
}

pub(crate) fn offset_form(span: Span, name: &str) -> Diagnostic {
    error(416, span, format!("an offset is added behind the name `{name}`"))
        .help(format!("write `{name}+4` or `{name}+-4`"))
}
