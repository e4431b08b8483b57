//! The catalogue of 02xx: opcodes and qualifiers.

use super::*;
use crate::edit::Extent;

/// `same`: the opcodes that begin with the same word.
pub(crate) fn unknown_instruction(span: Span, name: &str, nearest: Option<&str>, same: &[&str]) -> Diagnostic {
    let d = error(code::UNKNOWN_INSTRUCTION, span, format!("unknown instruction `{name}`"));
    // An opcode stands for the words that are wrong, or for all of them.
    let whole = |help: Help, opcodes: &[&str]| {
        opcodes.iter().take(8).fold(help, |help, opcode| help.or(span, Extent::Opcode, *opcode))
    };
    match (nearest, same) {
        (None, [_, ..]) => {
            let there = Help::write_one_of(same).worded(format!("there are {}", one_of(same)));
            d.help(whole(there, same))
        }
        (Some(near), _) => d.help(whole(Help::did_you_mean(near), &[near])),
        (None, []) => d,
    }
}

/// An instruction of CUDA C++ or of another assembler.
pub(crate) fn foreign_instruction(span: Span, name: &str, help: impl Into<Help>) -> Diagnostic {
    helped_error(code::UNKNOWN_INSTRUCTION, span, format_args!("unknown instruction `{name}`"), help)
}

/// `instead`: the kind of the qualifier, and those of the kind that the instruction accepts.
pub(crate) fn unknown_qualifier(
    span: Span,
    opcode: &str,
    word: &str,
    help: Option<Help>,
    instead: Option<(&str, &[String])>,
    sec: &str,
) -> Diagnostic {
    let dot = if word.starts_with("::") { "" } else { "." };
    let message = format_args!("`{opcode}` has no qualifier `{dot}{word}`");
    let d = match instead {
        Some((kind, words)) => noted_error(
            code::UNKNOWN_QUALIFIER,
            span,
            message,
            format_args!("its {kind} is {} (PTX ISA {sec})", one_of(words)),
        ),
        None => noted_error(
            code::UNKNOWN_QUALIFIER,
            span,
            message,
            format_args!("the syntax of `{opcode}` lists what it takes (PTX ISA {sec})"),
        ),
    };
    with_help(d, help)
}

/// Several at once; `list`: in words.
pub(crate) fn unknown_qualifiers(span: Span, opcode: &str, list: &str, help: Option<Help>, sec: &str) -> Diagnostic {
    let note = format_args!("the syntax of `{opcode}` lists what it takes (PTX ISA {sec})");
    with_help(
        noted_error(code::UNKNOWN_QUALIFIER, span, format_args!("`{opcode}` has no qualifiers {list}"), note),
        help,
    )
}

/// Two qualifiers of a kind that keeps its order; `right`: the opcode.
pub(crate) fn exchanged(span: Span, word: &str, first: &str, at: Span, right: &str, sec: &str) -> Diagnostic {
    explained_error(
        code::QUALIFIER_COMBINATION,
        span,
        format_args!("`.{word}` must come before `.{first}`"),
        format_args!("types, state spaces and layouts keep the order of the form (PTX ISA {sec})"),
        Help::write(right).whole_opcode(),
    )
    .label(at, format!("`.{first}` is here"))
}

/// The missing qualifiers, in words: a type, a rounding modifier, a few qualifiers, or the manual's name for many.
pub(crate) fn kind_of_qualifier(slot: &str, alts: &[&str], ty: bool) -> String {
    match slot {
        _ if alts.len() == 1 => format!("`{}`", dotted(alts)[0]),
        _ if ty => "a type".to_string(),
        ".rnd" | ".frnd" | ".irnd" | ".frnd2" | ".frnd3" => "a rounding modifier".to_string(),
        _ if alts.len() <= 3 => one_of(&dotted(alts)),
        _ if slot.starts_with('.') => format!("`{slot}`"),
        _ => "a qualifier".to_string(),
    }
}

/// The same with the words, if they are not in it already.
pub(crate) fn alternatives(slot: &str, alts: &[&str], ty: bool) -> Option<String> {
    let kind = kind_of_qualifier(slot, alts, ty);
    (!kind.contains(alts[0])).then(|| format!("{kind} is {}", one_of(&dotted(alts))))
}

/// `what`: the missing qualifiers, all of them or `either`; `spellings`: opcodes that have them.
pub(crate) fn missing_qualifiers(
    span: Span,
    opcode: &str,
    what: &[String],
    either: bool,
    notes: &[String],
    spellings: &[String],
    sec: &str,
) -> Diagnostic {
    let list = if either {
        // "`.L1` or `.L2`" may be one of them
        let all: Vec<&str> = what.iter().flat_map(|w| w.split(" or ")).flat_map(|w| w.split(", ")).collect();
        enumeration(&all, "or")
    } else {
        enumeration(what, "and")
    };
    let mut d = error(code::MISSING_QUALIFIER, span, format!("`{opcode}` needs {list}"));
    for note in notes {
        d.notes.push(format!("{note} (PTX ISA {sec})"));
    }
    if notes.is_empty() {
        d.notes.push(format!("the syntax requires this (PTX ISA {sec})"));
    }
    if !spellings.is_empty() {
        d.add_help(Help::write_one_of(spellings).whole_opcode());
    }
    d
}

/// Adds their dots.
pub(crate) fn dotted(words: &[&str]) -> Vec<String> {
    let mut out = Vec::with_capacity(words.len());
    for w in words {
        out.push(if w.starts_with("::") { w.to_string() } else { format!(".{w}") });
    }
    out
}

pub(crate) fn duplicate_qualifier(span: Span, word: &str, first: Span) -> Diagnostic {
    helped_error(
        code::REPEATED_QUALIFIER,
        span,
        format_args!("`.{word}` is given twice"),
        format_args!("remove one of them"),
    )
    .label(first, format!("the first `.{word}` is here"))
}

/// A qualifier that ptxas reads as a part of the opcode.
pub(crate) fn misplaced(span: Span, word: &str, behind: &str, right: &str, sec: &str) -> Diagnostic {
    explained_error(
        code::QUALIFIER_COMBINATION,
        span,
        format_args!("`.{word}` must come directly after `{behind}`"),
        format_args!("most qualifiers come in any order, this one does not (PTX ISA {sec})"),
        Help::write(right).whole_opcode(),
    )
}

pub(crate) fn not_together(
    span: Span,
    opcode: &str,
    word: &str,
    other: Option<(&str, Span)>,
    line: &str,
    help: Option<Help>,
    sec: &str,
) -> Diagnostic {
    let note = format_args!("the nearest form is `{line}` (PTX ISA {sec})");
    let d = match other {
        Some((other, at)) => noted_error(
            code::QUALIFIER_COMBINATION,
            span,
            format_args!("`.{word}` cannot be combined with `.{other}`"),
            note,
        )
        .label(at, format!("`.{other}` is here")),
        None => noted_error(
            code::QUALIFIER_COMBINATION,
            span,
            format_args!("`.{word}` is not allowed here on `{opcode}`"),
            note,
        ),
    };
    with_help(d, help)
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
    let (quote, what) = match alts {
        _ if slot.contains("scope") => ("", "a scope"),
        _ if slot.contains("sem") => ("", "a memory ordering"),
        [only] => ("`.", *only),
        _ => ("`", slot),
    };
    let mut edits = Vec::with_capacity(alts.len());
    for a in alts {
        edits.push(if after { format!(".{word}.{a}") } else { format!(".{a}.{word}") });
    }
    let (a, b) = if after { (word_slot, slot) } else { (slot, word_slot) };
    let end = if quote.is_empty() { "" } else { "`" };
    explained_error(
        code::QUALIFIER_DEPENDENCE,
        span,
        format_args!("`.{word}` needs {quote}{what}{end}"),
        format_args!("`{a}` and `{b}` are given together (PTX ISA {sec})"),
        Help::write_one_of(&edits),
    )
}

/// A rule of the table. `words`: the two qualifiers that it forbids together, the offending one first; `help`: the edit.
pub(crate) fn rule(
    span: Span,
    words: Option<(&str, (&str, Span))>,
    text: &str,
    help: Option<Help>,
    sec: &str,
) -> Diagnostic {
    let d = match words {
        Some((word, (other, at))) => noted_error(
            code::INSTRUCTION_RULE,
            span,
            format_args!("`.{word}` cannot be combined with `.{other}`"),
            format_args!("{text} (PTX ISA {sec})"),
        )
        .label(at, format!("`.{other}` is here")),
        None => noted_error(code::INSTRUCTION_RULE, span, format_args!("{text}"), format_args!("see PTX ISA {sec}")),
    };
    with_help(d, help)
}
