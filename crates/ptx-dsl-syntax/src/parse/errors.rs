//! The catalogue of 01xx: errors before names are resolved. Those about statements of C are in `c/errors.rs`.

mod declaration;
mod form;
mod header;

use crate::code;
use ptx_dsl_isa::code::Code;
use std::fmt::{Arguments, format};

use crate::diag::{Constant, Diagnostic};
use crate::edit::Help;
use crate::parse::all_digits;
use crate::span::Span;
pub(crate) use declaration::*;
pub(crate) use form::*;
pub use header::*;

fn error(code: &'static Code, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, span, message)
}

/// An error with the rule as a note.
pub fn noted_error(code: &'static Code, span: Span, message: Arguments, note: Arguments) -> Diagnostic {
    let mut d = error(code, span, format(message));
    d.notes.push(format(note));
    d
}

/// An error with an edit as a help.
pub fn helped_error(code: &'static Code, span: Span, message: Arguments, help: impl Into<Help>) -> Diagnostic {
    error(code, span, format(message)).help(help)
}

/// An error with the rule as a note and an edit as a help.
pub fn explained_error(
    code: &'static Code,
    span: Span,
    message: Arguments,
    note: Arguments,
    help: impl Into<Help>,
) -> Diagnostic {
    noted_error(code, span, message, note).help(help)
}

pub(crate) fn unknown_character(span: Span, text: &str) -> Diagnostic {
    // What shows as nothing, or moves the cursor, goes by its number.
    let d = match text.chars().next() {
        Some(c) if c.is_control() || matches!(c as u32, 0xa0 | 0x200b..=0x200f | 0x2028..=0x202f | 0xfeff) => {
            error(code::UNKNOWN_CHARACTER, span, format!("unknown character U+{:04X}", c as u32))
        }
        _ => error(code::UNKNOWN_CHARACTER, span, format!("unknown character `{text}`")),
    };
    match text {
        _ if text.starts_with('\u{fffd}') => {
            d.note("it stands for bytes that are not UTF-8; PTX is ASCII (PTX ISA 4.1)")
        }
        "\u{feff}" => d.note("it is a byte order mark; PTX is ASCII (PTX ISA 4.1)").help("save the file without it"),
        "#" => d.note("no `#` comes before a number (PTX ISA 4.5)").help(Help::remove()),
        "$" => d.note("a `$` starts a name only when a letter, a digit, `_` or `$` follows (PTX ISA 4.4)"),
        "'" => d.help("strings are written with double quotes"),
        _ => d.note("PTX is ASCII; only comments may contain other characters (PTX ISA 4.1)"),
    }
}

/// `#pragma`, `# comment`
pub(crate) fn foreign_line(span: Span) -> Diagnostic {
    explained_error(
        code::UNKNOWN_CHARACTER,
        span,
        format_args!("unknown character `#`"),
        format_args!("only preprocessor lines that name a file are accepted: `# 1 \"x.ptx\"`, `#line 1 \"x.ptx\"`"),
        format_args!("remove the line"),
    )
}

/// `'a'`
pub(crate) fn character(span: Span, code: u8) -> Diagnostic {
    explained_error(
        code::UNKNOWN_CHARACTER,
        span,
        format_args!("`'{}'` is a C character constant", code as char),
        format_args!("the constants of PTX are numbers (PTX ISA 4.5)"),
        Help::write(code.to_string()),
    )
}

/// A string ends at the first quote: there are no escapes.
pub(crate) fn character_in_string(span: Span, character: char) -> Diagnostic {
    let d = error(code::UNKNOWN_CHARACTER, span, format!("a string cannot hold `{character}`"));
    match character {
        '"' => d.note("there are no escapes: a string ends at the next double quote"),
        _ => d.note("PTX is ASCII; only comments may contain other characters (PTX ISA 4.1)"),
    }
}

pub(crate) fn unterminated_string(span: Span) -> Diagnostic {
    helped_error(
        code::UNTERMINATED_STRING,
        span,
        format_args!("this string has no end"),
        format_args!("close it with `\"` on the same line"),
    )
}

/// `add. u32`
pub(crate) fn apart(span: Span, joint: &str) -> Diagnostic {
    helped_error(
        code::UNEXPECTED_TOKEN,
        span,
        format_args!("expected names directly beside `{joint}`, found white space"),
        format_args!("remove the white space beside `{joint}`"),
    )
}

pub(crate) fn unterminated_comment(span: Span) -> Diagnostic {
    helped_error(
        code::UNTERMINATED_COMMENT,
        span,
        format_args!("this comment has no end"),
        format_args!("close it with `*/`"),
    )
}

pub(crate) fn expected(span: Span, what: &str, found: &str) -> Diagnostic {
    let message = format_args!("expected {what}, found {found}");
    // What can begin no statement is the next operand.
    if what == "`,` or `;`" && (found == "`[`" || found.starts_with("`%")) {
        return helped_error(code::UNEXPECTED_TOKEN, span, message, "write `,` before it");
    }
    let d = match sign_of_c(what, found).or_else(|| expected_help(what).map(Help::from)) {
        Some(help) => helped_error(code::UNEXPECTED_TOKEN, span, message, help),
        // One sign: `]`, `)`.
        None if what.len() == 3 && what.starts_with('`') && !found.starts_with("`.") => {
            let side = if found == END { "after" } else { "before" };
            helped_error(code::UNEXPECTED_TOKEN, span, message, format_args!("write {what} {side} it"))
        }
        None => error(code::UNEXPECTED_TOKEN, span, format(message)),
    };
    match found {
        "`:`" => d.wants(Constant::Path, true),
        _ => {
            d.wants(Constant::Value, matches!(what, "a constant" | "an alignment in bytes" | "the number of registers"))
        }
    }
}

/// The text for the end of input.
pub(crate) const END: &str = "the end of the input";

/// The fix for an operator of C.
fn sign_of_c(what: &str, found: &str) -> Option<Help> {
    let words = match (what, found) {
        ("an operand", "`&`") => return Some(Help::remove().then(": the name of a variable is its address")),
        ("an instruction", "`,`") => return Some(Help::remove()),
        ("a statement", _) => {
            return Some(Help::remove().then(", or put an instruction, a label or a declaration here"));
        }
        ("an instruction", "`&`" | "`|`") => "a guard is one predicate: combine two with `and` or `or` before",
        ("an operand", "`'`") => "put the number of the character here",
        ("an operand", "`*`") => "remove it, and put the address in `[ ]`",
        ("a qualifier", "`=`" | "`<`" | "`>`" | "`!`") => {
            "numbers are compared with `.eq`, `.ne`, `.lt`, `.le`, `.gt` and `.ge`"
        }
        _ => return None,
    };
    Some(words.into())
}

/// The edit that adds the expected token.
fn expected_help(what: &str) -> Option<&'static str> {
    Some(match what {
        "`,` or `;`" => "put a `,` between operands, and a `;` after the last one",
        "`,` or `}`" => "put a `,` between the elements, and a `}` after the last one",
        "`,` or `]`" => "put a `,` between the parts, and a `]` after the last one",
        "`,` or `)`" => "put a `,` between them, and a `)` after the last one",
        "`,` or `>` in the header" => "put a `,` between the items, and a `>` after the last one",
        "`{` or `;` after the signature" => "put the body in `{ }` here, or a `;` if this is a declaration",
        "an instruction" => "put the name of one here",
        "a qualifier" => "put one after the dot, or leave out the dot",
        "an operand" => "put a register, a constant, or an address in `[ ]` here",
        "a constant" => "leave out the parentheses around the name",
        "a predicate" => "put the name of a `.pred` register here",
        "a component such as `.x`" => "a component is x, y, z or w: put one after the dot, or leave out the dot",
        "a name" | "a label" => "put a name here: a letter, `_`, `$` or `%`, then letters, digits, `_` or `$`",
        "the name of a function" => "put its name after `.entry` or `.func`",
        "`_`" => "a `_` stands for the name of the function in a prototype",
        "a directive" => "put a directive here, or `{` and the body",
        "a parameter" => "put another parameter after the comma, or leave out the comma",
        "a parameter, which begins with `.param` or `.reg`" => "begin it with `.param` and a type",
        "a Rust type" => "put a type after the colon, or leave out the colon",
        "a state space" => "begin it with `.reg`, `.shared`, `.local`, `.param`, `.global` or `.const`",
        "a state space, `.entry` or `.func`" => "begin it with `.global`, `.const`, `.shared`, `.entry` or `.func`",
        "an argument" => "put an argument after the directive",
        "a target such as `sm_90a`" => "put the name of a target here, such as `sm_90a`",
        "a PTX version such as `8.6`" => "put both numbers here, with a dot between them",
        "a code such as `PTX0601`" => "put the code of a warning here: PTX and four digits",
        "the name of the file, as a string" => "put it in double quotes",
        "an alignment in bytes" | "the number of registers" | "an integer" | "an offset" => "put a plain integer here",
        _ => return None,
    })
}

/// `.reg u32 x`
pub(crate) fn type_without_dot(span: Span, name: &str, own: &str) -> Diagnostic {
    helped_error(code::UNKNOWN_TYPE, span, format_args!("`{name}` is not a type"), Help::write(format!(".{own}")))
}

pub(crate) fn missing_semicolon(span: Span, after: &str) -> Diagnostic {
    helped_error(
        code::MISSING_SEMICOLON,
        span,
        format_args!("expected `;` after {after}"),
        format_args!("end the statement with `;`"),
    )
}

/// `add.u32, x, y, z;` or `add,u32 x, y, z;`
pub(crate) fn comma_behind_opcode(span: Span, dot: bool) -> Diagnostic {
    let help = if dot { Help::write(".") } else { Help::remove() };
    helped_error(code::UNEXPECTED_TOKEN, span, format_args!("expected an operand, found `,`"), help)
}

/// `(%f1, %f2)` in place of a vector.
pub(crate) fn parentheses(span: Span, elements: &str) -> Diagnostic {
    helped_error(
        code::UNEXPECTED_TOKEN,
        span,
        format_args!("expected an operand, found a list in parentheses"),
        Help::write(format!("{{{elements}}}")).then(" if it is a vector"),
    )
}

/// `%p bra L;`
pub(crate) fn guard_without_sign(span: Span, name: &str) -> Diagnostic {
    helped_error(
        code::UNEXPECTED_TOKEN,
        span,
        format_args!("expected an instruction, found `{name}`"),
        Help::write(format!("@{name}")).then(" if it is a guard"),
    )
}

/// `sm_90, ptx 8.0` without its brackets.
pub(crate) fn bare_header(span: Span, items: &str) -> Diagnostic {
    helped_error(
        code::UNEXPECTED_TOKEN,
        span,
        format_args!("the header is not in `< >`"),
        Help::write(format!("<{items}>")),
    )
}

/// `@p { ... }`
pub(crate) fn guarded_block(span: Span) -> Diagnostic {
    explained_error(
        code::UNEXPECTED_TOKEN,
        span,
        format_args!("a block cannot have a guard"),
        format_args!("a guard belongs to one instruction (PTX ISA 9.3)"),
        format_args!(
            "put the guard before each instruction of the block, or branch around it with the opposite guard on a `bra`"
        ),
    )
}

/// `.L1:`
pub(crate) fn label_with_dot(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::UNKNOWN_DIRECTIVE,
        span,
        format_args!("unknown directive `.{name}`"),
        format_args!("a label begins with a letter, `_`, `$` or `%` (PTX ISA 4.4)"),
        Help::write(format!("${name}")).then(" if it is a label"),
    )
}

/// `L add.u32 x, y, z;`
pub(crate) fn label_without_colon(span: Span, name: &str) -> Diagnostic {
    helped_error(
        code::MISSING_SEMICOLON,
        span,
        format_args!("expected `:` or `;` after `{name}`"),
        "write `:` after it if it is a label",
    )
}

pub(crate) fn unclosed(span: Span, open: char) -> Diagnostic {
    let close = match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    };
    helped_error(
        code::UNCLOSED_BRACKET,
        span,
        format_args!("this `{open}` is never closed"),
        format_args!("close it with `{close}`"),
    )
}

pub(crate) fn stray_close(span: Span, found: &str) -> Diagnostic {
    helped_error(
        code::UNMATCHED_BRACKET,
        span,
        format_args!("unexpected {found}: nothing is open here"),
        Help::remove(),
    )
}

pub(crate) fn unknown_directive(span: Span, name: &str, nearest: Option<&str>) -> Diagnostic {
    let d = noted_error(
        code::UNKNOWN_DIRECTIVE,
        span,
        format_args!("unknown directive `.{name}`"),
        format_args!("the directives are listed in PTX ISA 4.3.1"),
    );
    match nearest {
        Some(n) => d.help(Help::did_you_mean(format!(".{n}"))),
        None => d,
    }
}

/// A directive in the wrong place.
pub fn misplaced_directive(span: Span, name: &str, place: &str, belongs: &str) -> Diagnostic {
    explained_error(
        code::MISPLACED_DIRECTIVE,
        span,
        format_args!("`.{name}` is not allowed {place}"),
        format_args!("`.{name}` belongs {belongs}"),
        format_args!("remove it here"),
    )
}

/// `.version` and the like after other items.
pub(crate) fn late_header(span: Span, name: &str) -> Diagnostic {
    explained_error(
        code::MISPLACED_DIRECTIVE,
        span,
        format_args!("`.{name}` is not allowed after other items of the module"),
        format_args!("a module begins with `.version`, `.target` and `.address_size`, in this order (PTX ISA 11.1)"),
        format_args!("move it to the top"),
    )
}

pub(crate) fn version_first(span: Span) -> Diagnostic {
    explained_error(
        code::MISPLACED_DIRECTIVE,
        span,
        format_args!("`.version` is not allowed after `.target`"),
        format_args!("a module begins with `.version`, `.target` and `.address_size`, in this order (PTX ISA 11.1)"),
        format_args!("move it to the top"),
    )
}

pub(crate) fn body_after_semicolon(semicolon: Span) -> Diagnostic {
    explained_error(
        code::BODY_AFTER_SEMICOLON,
        semicolon,
        format_args!("this `;` ends the declaration, but a body follows"),
        format_args!("directives before the body have no `;`, except for `.pragma` (PTX ISA 11.2)"),
        format_args!("remove the `;`"),
    )
}

pub(crate) fn outside_function(span: Span, found: &str) -> Diagnostic {
    explained_error(
        code::INSTRUCTION_OUTSIDE,
        span,
        format_args!("expected a directive, found {found}"),
        format_args!(
            "module scope has only directives, variables and functions; instructions belong in a function body (PTX ISA 11.2)"
        ),
        format_args!("move it into the body of a `.func` or `.entry`"),
    )
}

/// `#[allow(...)]`, in the body of a function or at module scope.
pub(crate) fn rust_attribute(span: Span, name: &str, in_body: bool) -> Diagnostic {
    let then = match name {
        "cfg" | "cfg_attr" if in_body => "; `@if` with a constant chooses between statements",
        "cfg" | "cfg_attr" => ", and write it before a `ptx!` that has this kernel alone",
        "allow" | "expect" | "warn" | "deny" | "forbid" => {
            "; the header has the levels of findings: `<sm_90, ptx 8.0, allow(protocol)>`"
        }
        _ => "",
    };
    noted_error(
        code::UNEXPECTED_TOKEN,
        span,
        format_args!("a Rust attribute is allowed only before a part"),
        format_args!("PTX has no attributes, and in `ptx!` rustc sees only those of a part"),
    )
    .help(Help::remove().then(then))
}

/// `pub .visible .entry`
pub(crate) fn visibility(span: Span) -> Diagnostic {
    helped_error(
        code::UNEXPECTED_TOKEN,
        span,
        format_args!("only a part has a Rust visibility; a kernel is always `pub`"),
        Help::remove(),
    )
}

pub(crate) fn needs_label(span: Span, name: &str) -> Diagnostic {
    helped_error(
        code::LIST_WITHOUT_LABEL,
        span,
        format_args!("`.{name}` needs a label"),
        format_args!("put `list:` before it"),
    )
}

pub(crate) fn bad_number(span: Span, text: &str, why: &str) -> Diagnostic {
    let d = noted_error(
        code::MALFORMED_NUMBER,
        span,
        format_args!("`{text}` is not a number: {why}"),
        format_args!("the forms of numbers are described in PTX ISA 4.5.1 and 4.5.2"),
    );
    let (mut separated, mut digits) = (false, String::new());
    for part in text.split('_') {
        separated |= part.len() < text.len();
        digits += part;
    }
    if separated && all_digits(&digits) {
        return d.help(Help::write(&digits).worded(format!("PTX has no digit separators: write `{digits}`")));
    }
    // `1.0f` and `5ul` of C.
    let plain = text.trim_end_matches(['f', 'F', 'u', 'l', 'L']);
    let float = !all_digits(plain) && plain.parse::<f64>().is_ok();
    if plain.len() < text.len() && !plain.is_empty() && (float || all_digits(plain)) {
        return d.help(Help::write(plain).worded(format!("PTX has no such suffix: write `{plain}`")));
    }
    let hexadecimal = why.ends_with("digit") && text.bytes().all(|c| c.is_ascii_hexdigit());
    match text.get(..2) {
        Some("0x" | "0X") => d.help("put hexadecimal digits after it: 0 to 9, A to F"),
        Some("0b" | "0B") => d.help("put binary digits after it: 0 and 1"),
        Some("0f" | "0F" | "0d" | "0D") => d.help("write all the digits, zeros too"),
        _ if all_digits(text) => {
            let decimal = text.trim_start_matches('0');
            d.help(Help::write(decimal).worded(format!("a number that begins with 0 is octal: write `{decimal}`")))
        }
        _ if hexadecimal => d.help(Help::write(format!("0x{text}")).then(" if it is hexadecimal")),
        _ if why.ends_with("digit") => d.help("remove everything that is not a digit"),
        _ => d,
    }
}

pub(crate) fn number_too_large(span: Span, text: &str) -> Diagnostic {
    explained_error(
        code::NUMBER_TOO_LARGE,
        span,
        format_args!("`{text}` does not fit in 64 bits"),
        format_args!("integer constants are 64 bits wide (PTX ISA 4.5.1)"),
        Help::write("0xFFFFFFFFFFFFFFFF").then(" or less"),
    )
}

/// `-0f3F800000`
pub(crate) fn signed_bits(span: Span, op: char, text: &str) -> Diagnostic {
    let d = noted_error(
        code::MALFORMED_NUMBER,
        span,
        format_args!("`{text}` takes no `{op}`"),
        format_args!(
            "`0f` and its digits are the bits of a number, and cannot be part of an expression (PTX ISA 4.5.2)"
        ),
    );
    match (op, u32::from_str_radix(&text[2..], 16)) {
        ('-', Ok(bits)) => d.help(Help::write(format!("0f{:08X}", bits ^ 0x8000_0000))),
        _ => d.help(format!("remove the `{op}`")),
    }
}

pub(crate) fn not_constant(span: Span, what: &str) -> Diagnostic {
    helped_error(
        code::CONSTANT_NEEDED,
        span,
        format_args!("{what} must be a constant integer"),
        format_args!("put a number here"),
    )
    .wants(Constant::Value, true)
}

pub(crate) fn too_deep(span: Span) -> Diagnostic {
    explained_error(
        code::NESTED_TOO_DEEPLY,
        span,
        format_args!("nested too deeply"),
        format_args!("at most 64 levels are allowed"),
        format_args!("use fewer levels"),
    )
}

pub(crate) fn too_long(span: Span) -> Diagnostic {
    explained_error(
        code::EXPRESSION_TOO_LONG,
        span,
        format_args!("this constant expression is too long"),
        format_args!("at most 256 operators are allowed in one expression"),
        format_args!("write the result instead"),
    )
}

/// An operand `name[i]`; `offset`: the bytes that it probably means.
pub fn array_index(span: Span, name: &str, offset: Option<u64>) -> Diagnostic {
    let d = noted_error(
        code::INDEX_WITHOUT_ARRAY,
        span,
        format_args!("`{name}` cannot be indexed here"),
        format_args!(
            "an index is one constant that is not negative; it selects an element of an array of known size, in an \
             operand of `ld`, `ldu`, `st`, `mov` or `cvta` (PTX ISA 6.4.2)"
        ),
    );
    match offset {
        Some(bytes) => {
            let address = format!("[{name}+{bytes}]");
            let words = format!("offsets count bytes: write `{address}`");
            d.help(Help::write(address).worded(words))
        }
        None => d.help("write an address in `[ ]`, with an offset in bytes"),
    }
}

/// A repeated item that may occur only once.
pub fn twice(span: Span, what: &str, first: Span) -> Diagnostic {
    helped_error(
        code::DECLARATION_ORDER,
        span,
        format_args!("{what} is given twice"),
        format_args!("remove one of them"),
    )
    .label(first, format!("the first {} is here", what.trim_start_matches("the ")))
}

pub(crate) fn bad_member(span: Span, member: &str) -> Diagnostic {
    explained_error(
        code::UNKNOWN_COMPONENT,
        span,
        format_args!("`.{member}` is not a component or selector of a register"),
        format_args!(
            "components are `.x .y .z .w` or `.r .g .b .a`; video instructions select with `.b0` to `.b3`, `.h0`, `.h1`"
        ),
        format_args!("name one of these, or the register alone"),
    )
}

pub(crate) fn one_name(span: Span) -> Diagnostic {
    helped_error(
        code::SEVERAL_PARAMETER_NAMES,
        span,
        format_args!("a parameter has one name"),
        format_args!("repeat the state space and the type for each parameter, separated by commas"),
    )
}

pub(crate) fn empty_vector(span: Span) -> Diagnostic {
    helped_error(
        code::EMPTY_VECTOR,
        span,
        format_args!("a vector operand has no elements"),
        format_args!("put them between the braces"),
    )
}
