//! What the 01xx diagnostics say: everything that is wrong before a name has a meaning.

use crate::diag::Diagnostic;
use crate::span::Span;

fn error(code: u16, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, span, message)
}

pub(crate) fn unknown_character(span: Span, text: &str) -> Diagnostic {
    // What shows as nothing, or moves the cursor, goes by its number.
    let unseen = text
        .chars()
        .next()
        .filter(|c| c.is_control() || matches!(*c as u32, 0xa0 | 0x200b..=0x200f | 0x2028..=0x202f | 0xfeff));
    let shown = unseen.map_or(format!("`{text}`"), |c| format!("U+{:04X}", c as u32));
    let d = error(101, span, format!("unknown character {shown}"));
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
    error(102, span, "this string has no end").help("close it with `\"` on the same line")
}

/// `add. u32`
pub(crate) fn apart(span: Span, joint: &str) -> Diagnostic {
    error(110, span, format!("expected names directly beside `{joint}`, found white space"))
        .help(format!("remove the white space beside `{joint}`"))
}

pub(crate) fn unterminated_comment(span: Span) -> Diagnostic {
    error(103, span, "this comment has no end").help("close it with `*/`")
}

pub(crate) fn expected(span: Span, what: &str, found: &str) -> Diagnostic {
    let d = error(110, span, format!("expected {what}, found {found}"));
    match expected_help(what) {
        Some(help) => d.help(help),
        None => d,
    }
}

/// The edit that gives what is expected.
fn expected_help(what: &str) -> Option<String> {
    Some(match what {
        "`,` or `;`" => "separate operands with `,`, and end the statement with `;`".to_string(),
        "`,` or `}`" => "separate the elements with `,`, and close the vector with `}`".to_string(),
        "`,` or `]`" => "separate the parts with `,`, and close the address with `]`".to_string(),
        "`,` or `)`" => "separate them with `,`, and close the list with `)`".to_string(),
        "`,` or `>` in the header" => "separate the items with `,`, and close the header with `>`".to_string(),
        "`{` or `;` after the signature" => "write the body in `{ }`, or end the declaration with `;`".to_string(),
        "a statement" => "remove it, or write an instruction, a label or a declaration".to_string(),
        "an instruction" => "write one behind the guard, as in `@%p bra L;`".to_string(),
        "a qualifier" => "name one, as in `.u32`, or remove the dot".to_string(),
        "an operand" => "write a register, a constant or an address, as in `[%rd1+4]`".to_string(),
        "a constant" => "write a name without the parentheses".to_string(),
        "a predicate" => "write a `.pred` register, as in `%p1`".to_string(),
        "a component such as `.x`" => "write `.x`, `.y`, `.z` or `.w`, or remove the dot".to_string(),
        "a name" | "a label" => "write a name: a letter, `_`, `$` or `%`, then letters, digits, `_` or `$`".to_string(),
        "the name of a function" => "write its name, as in `.visible .entry kernel()`".to_string(),
        "`_`" => {
            "write `_` for the name of the function: `.callprototype (.param .b32 _) _ (.param .b32 _);`".to_string()
        }
        "a directive" => "write a directive, or `{` and the body".to_string(),
        "a parameter" => "write one, as in `.param .u32 n`, or remove the `,`".to_string(),
        "a parameter, which begins with `.param` or `.reg`," => "write it as in `.param .u32 n`".to_string(),
        "a Rust type" => "write one, as in `x: &[f32]`, or remove the `:`".to_string(),
        "a state space" => "write `.reg`, `.shared`, `.local`, `.param`, `.global` or `.const`".to_string(),
        "a state space, `.entry` or `.func`" => "write `.global`, `.const`, `.shared`, `.entry` or `.func`".to_string(),
        "an argument" => "write one, as in `.pragma \"nounroll\";`".to_string(),
        "a target such as `sm_90a`" => "write its name, as in `.target sm_90a`".to_string(),
        "a PTX version such as `8.6`" => "write both numbers, as in `8.6`".to_string(),
        "a code such as `PTX0601`" => "write the code of a warning, as in `allow(PTX0516)`".to_string(),
        "the name of the file, as a string" => "write it in double quotes".to_string(),
        "an alignment in bytes" | "the number of registers" | "an integer" | "an offset" => {
            "write a plain integer, as in `16`".to_string()
        }
        _ if what.starts_with('`') && what.ends_with('`') => format!("write {what} here"),
        _ => return None,
    })
}

pub(crate) fn missing_semicolon(span: Span, after: &str) -> Diagnostic {
    error(111, span, format!("expected `;` after {after}")).help("end the statement with `;`")
}

pub(crate) fn unclosed(span: Span, open: char) -> Diagnostic {
    let close = match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    };
    error(112, span, format!("this `{open}` is never closed")).help(format!("close it with `{close}`"))
}

pub(crate) fn stray_close(span: Span, found: &str) -> Diagnostic {
    error(113, span, format!("unexpected {found}: nothing is open here")).help("remove it")
}

pub(crate) fn unknown_directive(span: Span, name: &str, nearest: Option<&str>) -> Diagnostic {
    let d = error(114, span, format!("unknown directive `.{name}`")).note("the directives are listed in PTX ISA 4.3.1");
    match nearest {
        Some(n) => d.help(format!("did you mean `.{n}`?")),
        None => d.help("remove it"),
    }
}

/// A directive in a place that another one has.
pub fn misplaced_directive(span: Span, name: &str, place: &str, belongs: &str) -> Diagnostic {
    error(115, span, format!("`.{name}` is not allowed {place}"))
        .note(format!("`.{name}` stands {belongs}"))
        .help("remove it here")
}

/// `.version` and the like behind something else.
pub(crate) fn late_header(span: Span, name: &str) -> Diagnostic {
    error(115, span, format!("`.{name}` is not allowed behind other items of the module"))
        .note("a module begins with `.version`, `.target` and `.address_size`, in this order (PTX ISA 11.1)")
        .help("move it to the top")
}

pub(crate) fn version_first(span: Span) -> Diagnostic {
    error(115, span, "`.version` is not allowed behind `.target`")
        .note("a module begins with `.version`, `.target` and `.address_size`, in this order (PTX ISA 11.1)")
        .help("move it to the top")
}

pub(crate) fn body_after_semicolon(semicolon: Span) -> Diagnostic {
    error(118, semicolon, "this `;` ends the declaration, and a body follows")
        .note("directives before the body stand without `;`; only `.pragma` has one of its own (PTX ISA 11.2)")
        .help("remove the `;`")
}

pub(crate) fn outside_function(span: Span, found: &str) -> Diagnostic {
    error(116, span, format!("expected a directive, found {found}"))
        .note("at module scope stand only directives, variables and functions; instructions belong into a function body (PTX ISA 11.2)")
        .help("move it into the body of a `.func` or `.entry`")
}

pub(crate) fn needs_label(span: Span, name: &str) -> Diagnostic {
    error(117, span, format!("`.{name}` needs a label")).help(format!("write `name: .{name} ...;`"))
}

pub(crate) fn bad_number(span: Span, text: &str, why: &str) -> Diagnostic {
    let d = error(120, span, format!("`{text}` is not a number: {why}"));
    if text.contains('_') && text.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return d.help(format!("PTX has no digit separators: write `{}`", text.replace('_', "")));
    }
    d.help(
        "write an integer as `42`, `0x2A`, `052` or `0b101010`, a float as `1.5`, `0f3FC00000` or `0d3FF8000000000000`",
    )
}

pub(crate) fn number_too_large(span: Span, text: &str) -> Diagnostic {
    error(121, span, format!("`{text}` does not fit in 64 bits"))
        .note("integer constants are 64 bits wide (PTX ISA 4.5.1)")
        .help("write at most `0xFFFFFFFFFFFFFFFF`")
}

/// `-0f3F800000`
pub(crate) fn signed_bits(span: Span, op: char, text: &str) -> Diagnostic {
    let d = error(120, span, format!("`{text}` takes no `{op}`"))
        .note("`0f` and its digits are the bits of a number, and take part in no expression (PTX ISA 4.5.2)");
    match text.get(2..).and_then(|d| u32::from_str_radix(d, 16).ok()).filter(|_| op == '-') {
        Some(bits) => d.help(format!("write `0f{:08X}`", bits ^ 0x8000_0000)),
        None => d.help(format!("remove the `{op}`")),
    }
}

pub(crate) fn not_constant(span: Span, what: &str) -> Diagnostic {
    error(122, span, format!("{what} must be a constant integer")).help("write a number, as in `16`")
}

pub(crate) fn header_item(span: Span, found: &str, nearest: Option<&str>) -> Diagnostic {
    let d = error(130, span, format!("unknown header item {found}"))
        .note("the header is `<target {, option}, ptx M.m {, allow(PTX0601)}>`, as in `<sm_100a, ptx 8.6>`");
    match nearest {
        Some(n) => d.help(format!("did you mean `{n}`?")),
        None => d,
    }
}

/// A level of a code that has none.
pub fn no_lint(span: Span, code: u16) -> Diagnostic {
    let lints: Vec<String> = crate::levels::LINTS.iter().map(|l| format!("`PTX{:04}`", l.0)).collect();
    error(133, span, format!("`PTX{code:04}` is no warning, and its level cannot be set"))
        .note(format!("levels are for {} and for the findings of protocol and flow, `PTX06nn`", lints.join(", ")))
        .help("remove it from the header")
}

pub(crate) fn header_lacks(span: Span, what: &str, help: &str) -> Diagnostic {
    error(131, span, format!("the header names no {what}")).help(help)
}

pub(crate) fn disagree(span: Span, directive: &str, here: &str, other: Span, there: &str) -> Diagnostic {
    error(132, span, format!("`.{directive} {here}` contradicts `{there}`"))
        .label(other, format!("`{there}` is declared here"))
        .note("a module has one version, one target and one address size (PTX ISA 11.1)")
        .help("remove one of them")
}

pub(crate) fn too_deep(span: Span) -> Diagnostic {
    error(140, span, "nested too deeply").note("this front end follows 64 levels").help("use fewer levels")
}

pub(crate) fn too_long(span: Span) -> Diagnostic {
    error(141, span, "this constant expression is too long")
        .note("this front end takes 256 operators in one expression")
        .help("write the result instead")
}

/// An operand `name[i]`.
pub fn array_index(span: Span, name: &str) -> Diagnostic {
    error(142, span, format!("`{name}` cannot be indexed here"))
        .note(
            "what is indexed is an array of several elements and known size, by one constant that is not negative, \
             as an operand of `ld`, `ldu`, `st`, `mov` or `cvta` (PTX ISA 6.4.2)",
        )
        .help(format!("write the byte offset: `[{name}+4]`"))
}

pub(crate) fn unknown_type(span: Span, name: &str, nearest: Option<&str>) -> Diagnostic {
    let d = error(143, span, format!("unknown type or attribute `.{name}` in a declaration"));
    match nearest {
        Some(n) => d.help(format!("did you mean `.{n}`?")),
        None => d.help("write a fundamental type, as in `.b32`"),
    }
}

pub(crate) fn missing_type(span: Span, space: &str) -> Diagnostic {
    error(144, span, format!("this `{space}` declaration has no type"))
        .help(format!("give one before the name, as in `{space} .b32 x`"))
}

/// What may stand once stands there again.
pub fn twice(span: Span, what: &str, first: Span) -> Diagnostic {
    error(145, span, format!("{what} is given twice"))
        .label(first, format!("the first {what} is here"))
        .help("remove one of them")
}

pub(crate) fn bad_member(span: Span, member: &str) -> Diagnostic {
    error(146, span, format!("`.{member}` is no component or selector of a register")).note(
        "components are `.x .y .z .w` or `.r .g .b .a`; video instructions select with `.b0` to `.b3`, `.h0`, `.h1`",
    )
    .help("remove it")
}

pub(crate) fn one_name(span: Span) -> Diagnostic {
    error(147, span, "a parameter has one name").help("repeat space and type for every parameter, separated by commas")
}

pub(crate) fn empty_vector(span: Span) -> Diagnostic {
    error(148, span, "a vector operand has no elements").help("write them in the braces, as in `{%r1, %r2}`")
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
        if d <= limit && best.is_none_or(|(b, _)| d < b) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, n)| n)
}

/// Edit distance.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let cost = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
