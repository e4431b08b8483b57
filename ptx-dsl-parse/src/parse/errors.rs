//! What the 01xx diagnostics say: everything that is wrong before a name has a meaning.

use std::fmt::{Arguments, format};

use crate::diag::Diagnostic;
use crate::parse::all_digits;
use crate::span::Span;

fn error(code: u16, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, span, message)
}

/// An error with the rule as a note. Its texts are written here, so that nobody else has strings in hand.
pub fn noted_error(code: u16, span: Span, message: Arguments, note: Arguments) -> Diagnostic {
    let mut d = error(code, span, format(message));
    d.notes.push(format(note));
    d
}

/// An error with an edit as a help.
pub fn helped_error(code: u16, span: Span, message: Arguments, help: Arguments) -> Diagnostic {
    let mut d = error(code, span, format(message));
    d.helps.push(format(help));
    d
}

/// An error with the rule as a note and an edit as a help.
pub fn explained_error(code: u16, span: Span, message: Arguments, note: Arguments, help: Arguments) -> Diagnostic {
    let mut d = noted_error(code, span, message, note);
    d.helps.push(format(help));
    d
}

pub(crate) fn unknown_character(span: Span, text: &str) -> Diagnostic {
    // What shows as nothing, or moves the cursor, goes by its number.
    let d = match text.chars().next() {
        Some(c) if c.is_control() || matches!(c as u32, 0xa0 | 0x200b..=0x200f | 0x2028..=0x202f | 0xfeff) => {
            error(101, span, format!("unknown character U+{:04X}", c as u32))
        }
        _ => error(101, span, format!("unknown character `{text}`")),
    };
    match text {
        _ if text.starts_with('\u{fffd}') => {
            d.note("it stands for bytes that are not UTF-8; PTX is ASCII (PTX ISA 4.1)")
        }
        "\u{feff}" => d.note("it is a byte order mark; PTX is ASCII (PTX ISA 4.1)").help("save the file without it"),
        "#" => d
            .note("of the preprocessor's lines only those that name a file are read: `# 1 \"x.ptx\"`, `#line 1 \"x.ptx\"`")
            .help("remove the line"),
        "$" => d.note("a `$` starts a name only when a letter, a digit, `_` or `$` follows (PTX ISA 4.4)"),
        "'" => d.help("strings are written with double quotes"),
        _ => d.note("PTX is ASCII; only comments hold other characters (PTX ISA 4.1)"),
    }
}

/// A string ends at the first quote: there are no escapes.
pub(crate) fn character_in_string(span: Span, character: char) -> Diagnostic {
    let d = error(101, span, format!("a string cannot hold `{character}`"));
    match character {
        '"' => d.note("there are no escapes: a string ends at the next double quote"),
        _ => d.note("PTX is ASCII; only comments hold other characters (PTX ISA 4.1)"),
    }
}

pub(crate) fn unterminated_string(span: Span) -> Diagnostic {
    helped_error(102, span, format_args!("this string has no end"), format_args!("close it with `\"` on the same line"))
}

/// `add. u32`
pub(crate) fn apart(span: Span, joint: &str) -> Diagnostic {
    helped_error(
        110,
        span,
        format_args!("expected names directly beside `{joint}`, found white space"),
        format_args!("remove the white space beside `{joint}`"),
    )
}

pub(crate) fn unterminated_comment(span: Span) -> Diagnostic {
    helped_error(103, span, format_args!("this comment has no end"), format_args!("close it with `*/`"))
}

pub(crate) fn expected(span: Span, what: &str, found: &str) -> Diagnostic {
    let message = format_args!("expected {what}, found {found}");
    match expected_help(what) {
        Some(help) => helped_error(110, span, message, format_args!("{help}")),
        None if what.starts_with('`') && what.ends_with('`') => {
            helped_error(110, span, message, format_args!("write {what} here"))
        }
        None => error(110, span, format(message)),
    }
}

/// The edit that gives what is expected.
fn expected_help(what: &str) -> Option<&'static str> {
    Some(match what {
        "`,` or `;`" => "separate operands with `,`, and end the statement with `;`",
        "`,` or `}`" => "separate the elements with `,`, and close the vector with `}`",
        "`,` or `]`" => "separate the parts with `,`, and close the address with `]`",
        "`,` or `)`" => "separate them with `,`, and close the list with `)`",
        "`,` or `>` in the header" => "separate the items with `,`, and close the header with `>`",
        "`{` or `;` after the signature" => "write the body in `{ }`, or end the declaration with `;`",
        "a statement" => "remove it, or write an instruction, a label or a declaration",
        "an instruction" => "write one behind the guard, as in `@%p bra L;`",
        "a qualifier" => "name one, as in `.u32`, or remove the dot",
        "an operand" => "write a register, a constant or an address, as in `[%rd1+4]`",
        "a constant" => "write a name without the parentheses",
        "a predicate" => "write a `.pred` register, as in `%p1`",
        "a component such as `.x`" => "write `.x`, `.y`, `.z` or `.w`, or remove the dot",
        "a name" | "a label" => "write a name: a letter, `_`, `$` or `%`, then letters, digits, `_` or `$`",
        "the name of a function" => "write its name, as in `.visible .entry kernel()`",
        "`_`" => "write `_` for the name of the function: `.callprototype (.param .b32 _) _ (.param .b32 _);`",
        "a directive" => "write a directive, or `{` and the body",
        "a parameter" => "write one, as in `.param .u32 n`, or remove the `,`",
        "a parameter, which begins with `.param` or `.reg`," => "write it as in `.param .u32 n`",
        "a Rust type" => "write one, as in `x: &[f32]`, or remove the `:`",
        "a state space" => "write `.reg`, `.shared`, `.local`, `.param`, `.global` or `.const`",
        "a state space, `.entry` or `.func`" => "write `.global`, `.const`, `.shared`, `.entry` or `.func`",
        "an argument" => "write one, as in `.pragma \"nounroll\";`",
        "a target such as `sm_90a`" => "write its name, as in `.target sm_90a`",
        "a PTX version such as `8.6`" => "write both numbers, as in `8.6`",
        "a code such as `PTX0601`" => "write the code of a warning, as in `allow(PTX0516)`",
        "the name of the file, as a string" => "write it in double quotes",
        "an alignment in bytes" | "the number of registers" | "an integer" | "an offset" => {
            "write a plain integer, as in `16`"
        }
        _ => return None,
    })
}

pub(crate) fn missing_semicolon(span: Span, after: &str) -> Diagnostic {
    helped_error(111, span, format_args!("expected `;` after {after}"), format_args!("end the statement with `;`"))
}

pub(crate) fn unclosed(span: Span, open: char) -> Diagnostic {
    let close = match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    };
    helped_error(112, span, format_args!("this `{open}` is never closed"), format_args!("close it with `{close}`"))
}

pub(crate) fn stray_close(span: Span, found: &str) -> Diagnostic {
    helped_error(113, span, format_args!("unexpected {found}: nothing is open here"), format_args!("remove it"))
}

pub(crate) fn unknown_directive(span: Span, name: &str, nearest: Option<&str>) -> Diagnostic {
    let d = noted_error(
        114,
        span,
        format_args!("unknown directive `.{name}`"),
        format_args!("the directives are listed in PTX ISA 4.3.1"),
    );
    match nearest {
        Some(n) => d.help(format!("did you mean `.{n}`?")),
        None => d.help("remove it"),
    }
}

/// A directive in a place that another one has.
pub fn misplaced_directive(span: Span, name: &str, place: &str, belongs: &str) -> Diagnostic {
    explained_error(
        115,
        span,
        format_args!("`.{name}` is not allowed {place}"),
        format_args!("`.{name}` stands {belongs}"),
        format_args!("remove it here"),
    )
}

/// `.version` and the like behind something else.
pub(crate) fn late_header(span: Span, name: &str) -> Diagnostic {
    explained_error(
        115,
        span,
        format_args!("`.{name}` is not allowed behind other items of the module"),
        format_args!("a module begins with `.version`, `.target` and `.address_size`, in this order (PTX ISA 11.1)"),
        format_args!("move it to the top"),
    )
}

pub(crate) fn version_first(span: Span) -> Diagnostic {
    explained_error(
        115,
        span,
        format_args!("`.version` is not allowed behind `.target`"),
        format_args!("a module begins with `.version`, `.target` and `.address_size`, in this order (PTX ISA 11.1)"),
        format_args!("move it to the top"),
    )
}

pub(crate) fn body_after_semicolon(semicolon: Span) -> Diagnostic {
    explained_error(
        118,
        semicolon,
        format_args!("this `;` ends the declaration, and a body follows"),
        format_args!("directives before the body stand without `;`; only `.pragma` has one of its own (PTX ISA 11.2)"),
        format_args!("remove the `;`"),
    )
}

pub(crate) fn outside_function(span: Span, found: &str) -> Diagnostic {
    explained_error(
        116,
        span,
        format_args!("expected a directive, found {found}"),
        format_args!(
            "at module scope stand only directives, variables and functions; instructions belong into a function body (PTX ISA 11.2)"
        ),
        format_args!("move it into the body of a `.func` or `.entry`"),
    )
}

pub(crate) fn needs_label(span: Span, name: &str) -> Diagnostic {
    helped_error(117, span, format_args!("`.{name}` needs a label"), format_args!("write `name: .{name} ...;`"))
}

pub(crate) fn bad_number(span: Span, text: &str, why: &str) -> Diagnostic {
    let d = error(120, span, format!("`{text}` is not a number: {why}"));
    let (mut separated, mut digits) = (false, String::new());
    for part in text.split('_') {
        separated |= part.len() < text.len();
        digits += part;
    }
    if separated && all_digits(&digits) {
        return d.help(format!("PTX has no digit separators: write `{digits}`"));
    }
    d.help(
        "write an integer as `42`, `0x2A`, `052` or `0b101010`, a float as `1.5`, `0f3FC00000` or `0d3FF8000000000000`",
    )
}

pub(crate) fn number_too_large(span: Span, text: &str) -> Diagnostic {
    explained_error(
        121,
        span,
        format_args!("`{text}` does not fit in 64 bits"),
        format_args!("integer constants are 64 bits wide (PTX ISA 4.5.1)"),
        format_args!("write at most `0xFFFFFFFFFFFFFFFF`"),
    )
}

/// `-0f3F800000`
pub(crate) fn signed_bits(span: Span, op: char, text: &str) -> Diagnostic {
    let d = noted_error(
        120,
        span,
        format_args!("`{text}` takes no `{op}`"),
        format_args!("`0f` and its digits are the bits of a number, and take part in no expression (PTX ISA 4.5.2)"),
    );
    match (op, u32::from_str_radix(&text[2..], 16)) {
        ('-', Ok(bits)) => d.help(format!("write `0f{:08X}`", bits ^ 0x8000_0000)),
        _ => d.help(format!("remove the `{op}`")),
    }
}

pub(crate) fn not_constant(span: Span, what: &str) -> Diagnostic {
    helped_error(
        122,
        span,
        format_args!("{what} must be a constant integer"),
        format_args!("write a number, as in `16`"),
    )
}

pub(crate) fn header_item(span: Span, found: &str, nearest: Option<&str>) -> Diagnostic {
    let d = noted_error(
        130,
        span,
        format_args!("unknown header item {found}"),
        format_args!("the header is `<target {{, option}}, ptx M.m {{, allow(PTX0601)}}>`, as in `<sm_100a, ptx 8.6>`"),
    );
    match nearest {
        Some(n) => d.help(format!("did you mean `{n}`?")),
        None => d,
    }
}

/// A level of a code that has none.
pub fn no_lint(span: Span, code: u16) -> Diagnostic {
    let mut lints = String::new();
    for (code, _) in crate::levels::LINTS {
        let comma = if lints.is_empty() { "" } else { ", " };
        lints += &format!("{comma}`PTX{code:04}`");
    }
    explained_error(
        133,
        span,
        format_args!("`PTX{code:04}` is no warning, and its level cannot be set"),
        format_args!("levels are for {} and for the findings of protocol and flow, `PTX06nn`", lints),
        format_args!("remove it from the header"),
    )
}

pub(crate) fn header_lacks(span: Span, what: &str, help: &str) -> Diagnostic {
    helped_error(131, span, format_args!("the header names no {what}"), format_args!("{help}"))
}

pub(crate) fn disagree(span: Span, directive: &str, here: &str, other: Span, there: &str) -> Diagnostic {
    explained_error(
        132,
        span,
        format_args!("`.{directive} {here}` contradicts `{there}`"),
        format_args!("a module has one version, one target and one address size (PTX ISA 11.1)"),
        format_args!("remove one of them"),
    )
    .label(other, format!("`{there}` is declared here"))
}

pub(crate) fn too_deep(span: Span) -> Diagnostic {
    explained_error(
        140,
        span,
        format_args!("nested too deeply"),
        format_args!("this front end follows 64 levels"),
        format_args!("use fewer levels"),
    )
}

pub(crate) fn too_long(span: Span) -> Diagnostic {
    explained_error(
        141,
        span,
        format_args!("this constant expression is too long"),
        format_args!("this front end takes 256 operators in one expression"),
        format_args!("write the result instead"),
    )
}

/// An operand `name[i]`.
pub fn array_index(span: Span, name: &str) -> Diagnostic {
    explained_error(
        142,
        span,
        format_args!("`{name}` cannot be indexed here"),
        format_args!(
            "what is indexed is an array of several elements and known size, by one constant that is not negative, \
             as an operand of `ld`, `ldu`, `st`, `mov` or `cvta` (PTX ISA 6.4.2)"
        ),
        format_args!("write the byte offset: `[{name}+4]`"),
    )
}

pub(crate) fn unknown_type(span: Span, name: &str, nearest: Option<&str>) -> Diagnostic {
    let d = error(143, span, format!("unknown type or attribute `.{name}` in a declaration"));
    match nearest {
        Some(n) => d.help(format!("did you mean `.{n}`?")),
        None => d.help("write a fundamental type, as in `.b32`"),
    }
}

pub(crate) fn missing_type(span: Span, space: &str) -> Diagnostic {
    helped_error(
        144,
        span,
        format_args!("this `{space}` declaration has no type"),
        format_args!("give one before the name, as in `{space} .b32 x`"),
    )
}

/// What may stand once stands there again.
pub fn twice(span: Span, what: &str, first: Span) -> Diagnostic {
    helped_error(145, span, format_args!("{what} is given twice"), format_args!("remove one of them"))
        .label(first, format!("the first {what} is here"))
}

pub(crate) fn bad_member(span: Span, member: &str) -> Diagnostic {
    explained_error(
        146,
        span,
        format_args!("`.{member}` is no component or selector of a register"),
        format_args!(
            "components are `.x .y .z .w` or `.r .g .b .a`; video instructions select with `.b0` to `.b3`, `.h0`, `.h1`"
        ),
        format_args!("remove it"),
    )
}

pub(crate) fn one_name(span: Span) -> Diagnostic {
    helped_error(
        147,
        span,
        format_args!("a parameter has one name"),
        format_args!("repeat space and type for every parameter, separated by commas"),
    )
}

pub(crate) fn empty_vector(span: Span) -> Diagnostic {
    helped_error(
        148,
        span,
        format_args!("a vector operand has no elements"),
        format_args!("write them in the braces, as in `{{%r1, %r2}}`"),
    )
}

/// The name nearest to a misspelt one, if it is near enough to be meant.
pub fn nearest<'a>(name: &str, legal: &[&'a str]) -> Option<&'a str> {
    // A name of the user's may be of any length; no legal one comes near it.
    if name.len() > 40 {
        return None;
    }
    let limit = (name.len() / 3).max(1);
    // Of a name of one or two letters a replaced letter makes another name, not a slip of the pen.
    let short = name.trim_start_matches(['%', '$', '.']).len() < 3;
    let mut best: Option<(usize, &str)> = None;
    for candidate in legal {
        if candidate.len().abs_diff(name.len()) > limit || short && candidate.len() == name.len() {
            continue;
        }
        let d = distance(name.as_bytes(), candidate.as_bytes());
        match best {
            Some((least, _)) if least <= d => {}
            _ if d <= limit => best = Some((d, candidate)),
            _ => {}
        }
    }
    Some(best?.1)
}

/// Edit distance; two letters that changed places are one slip of the pen.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let (mut before, mut row, mut next) = (Vec::new(), Vec::with_capacity(b.len() + 1), Vec::new());
    for j in 0..=b.len() {
        row.push(j);
    }
    for i in 0..a.len() {
        next.clear();
        next.push(i + 1);
        for j in 0..b.len() {
            let mut d = (row[j] + usize::from(a[i] != b[j])).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                d = d.min(before[j - 1] + 1);
            }
            next.push(d);
        }
        std::mem::swap(&mut before, &mut row);
        std::mem::swap(&mut row, &mut next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_of_the_pen() {
        for (name, legal, meant) in [
            ("u23", ["u32", "u64"], Some("u32")),
            ("gloabl", ["local", "global"], Some("global")),
            ("mbarrier.arive", ["mbarrier.init", "mbarrier.arrive"], Some("mbarrier.arrive")),
            ("relaxde", ["relaxed", "release"], Some("relaxed")),
            ("f46", ["u32", "f64"], Some("f64")),
            ("u99", ["u32", "u64"], None),
            // both are replaced, and neither was written elsewhere
            ("ba", ["cd", "ef"], None),
        ] {
            assert_eq!(nearest(name, &legal), meant, "{name}");
        }
    }
}
