//! Messages about addresses: their state space, their CTA, their bounds.

use crate::errors::class::{at, error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::edit::Help;
use ptx_dsl_isa::span::Span;

fn points(is: &str, generic: bool, of: Option<&str>) -> String {
    let kind = if generic { "a generic address of" } else { "an address in" };
    match of {
        Some(name) => format!("{kind} `{is}` memory, that of `{name}`,"),
        None => format!("{kind} `{is}` memory,"),
    }
}

const SPACES: &str = "an access needs an address in the state space that it names";
const MADE: &str = "made here";

pub(crate) fn space_of_register(
    span: Span,
    reg: &str,
    is: &str,
    generic: bool,
    want: &str,
    of: Option<&str>,
    by: Option<Span>,
) -> Diagnostic {
    let have = points(is, generic, of);
    let d = error(
        code::ADDRESS_OF_OTHER_SPACE,
        span,
        format!("`{reg}` holds {have} but the instruction accesses `{want}`"),
    );
    section(at(d, by, MADE), SPACES, "5.1")
        .help(Help::write(is).then(&format!(" in place of `{want}`, or take the address of a `{want}` variable")))
}

/// What a register holds that is used as a generic address, as the beginning of a sentence.
pub(crate) fn held(reg: &str, is: &str, of: Option<&str>) -> String {
    format!("`{reg}` holds {}", points(is, true, of))
}

/// Says what a named variable is.
pub(crate) fn variable(name: &str, is: &str) -> String {
    format!("`{name}` is a `{is}` variable,")
}

pub(crate) fn object_elsewhere(span: Span, what: &str, by: Option<Span>) -> Diagnostic {
    let d = error(code::ADDRESS_OF_OTHER_SPACE, span, format!("{what} but this operand must be in shared memory"));
    section(at(d, by, MADE), "mbarriers, responses and addresses of Tensor Memory lie in shared memory", "9.7.13.15")
        .help("take the address of a `.shared` variable")
}

pub(crate) fn map_elsewhere(span: Span, what: &str, by: Option<Span>) -> Diagnostic {
    let d = error(code::ADDRESS_OF_OTHER_SPACE, span, format!("{what} but this operand must be a tensor map"));
    section(at(d, by, MADE), "a tensor map lies in `.param`, `.const` or `.global` memory", "9.7.9.26")
        .help("give the map as a kernel parameter, and its generic address here")
}

pub(crate) fn generic_in_space(span: Span, reg: &str, is: &str, want: &str, by: Option<Span>) -> Diagnostic {
    let d = error(
        code::ADDRESS_OF_OTHER_SPACE,
        span,
        format!("`{reg}` holds a generic address, but `{want}` needs an address in that state space"),
    );
    section(at(d, by, MADE), SPACES, "6.4.1")
        .help(format!("remove `{want}`, or convert the address with `cvta.to{is}.u64`"))
}

/// `write`: the state space that the instruction takes for it.
pub(crate) fn native_as_generic(
    span: Span,
    reg: &str,
    (is, write): (&str, &str),
    of: Option<&str>,
    by: Option<Span>,
) -> Diagnostic {
    let have = points(is, false, of);
    let d = error(
        code::ADDRESS_OF_OTHER_SPACE,
        span,
        format!("`{reg}` holds {have} but the instruction takes a generic address"),
    );
    section(at(d, by, MADE), "without a state space an address is generic", "6.4.1")
        .help(Help::add(write).then(&format!(" to the instruction, or convert the address with `cvta{is}.u64`")))
}

pub(crate) fn cvta_of_other_space(span: Span, reg: &str, is: &str, want: &str, by: Option<Span>) -> Diagnostic {
    let d = error(
        code::ADDRESS_CONVERSION,
        span,
        format!("`{reg}` is an address of `{is}` memory, but is converted as one of `{want}`"),
    );
    section(at(d, by, MADE), "`cvta` converts addresses that lie in the space it names", "9.7.9.20")
        .help(Help::write(is).then(&format!(" in place of `{want}`")))
}

/// `to`: it is `cvta.to`, and the address is in its space already; else it is `cvta`, and the address is generic already.
pub(crate) fn cvta_direction(span: Span, reg: &str, is: &str, to: bool, by: Option<Span>) -> Diagnostic {
    let (have, help) = if to {
        (
            format!("an address in `{is}` already"),
            format!("use `{reg}` as it is, or write `cvta{is}` for a generic address"),
        )
    } else {
        (
            "a generic address already".to_string(),
            format!("use `{reg}` as it is, or write `cvta.to{is}` to convert it back"),
        )
    };
    let d = error(code::ADDRESS_CONVERSION, span, format!("`{reg}` is {have}"));
    section(at(d, by, MADE), "`cvta` converts an address to a generic one, and `cvta.to` converts it back", "9.7.9.20")
        .help(help)
}

pub(crate) fn mapa_form(span: Span, op: &str, reg: &str, generic: bool, by: Option<Span>) -> Diagnostic {
    let (have, want, help) = if generic {
        ("a generic address", "an address in `.shared::cta`", "remove `.shared::cluster`".to_string())
    } else {
        ("an address in `.shared`", "a generic address", format!("write `{op}.shared::cluster`"))
    };
    let d = error(code::ADDRESS_OF_OTHER_SPACE, span, format!("`{reg}` holds {have}, but this `{op}` takes {want}"));
    section(
        at(d, by, MADE),
        "with `.shared::cluster` the address is one in shared memory, without it a generic one",
        "9.7.9.23",
    )
    .help(help)
}

fn mapped(span: Span, reg: &str, by: Option<Span>, sure: bool) -> Diagnostic {
    let what = if sure { "is" } else { "may be" };
    let d = found(
        code::ADDRESS_IN_OTHER_CTA,
        span,
        sure,
        format!("`{reg}` {what} an address in another CTA, but the instruction reaches only its own CTA"),
    );
    at(d, by, "mapped here")
}

pub(crate) fn mapped_in_own_window(span: Span, reg: &str, by: Option<Span>, sure: bool, help: Help) -> Diagnostic {
    let d = mapped(span, reg, by, sure);
    section(d, "`.shared` and `.shared::cta` are the window of the executing CTA", "5.1.7").help(help)
}

/// `op`: the instruction and its section.
pub(crate) fn mapped_used_as_own(
    span: Span,
    reg: &str,
    by: Option<Span>,
    sure: bool,
    op: (&str, &str),
    help: Help,
) -> Diagnostic {
    let (name, sec) = op;
    let d = mapped(span, reg, by, sure);
    section(d, &format!("`{name}` takes addresses in the `.shared::cta` window of the executing CTA"), sec).help(help)
}

pub(crate) fn cvta_of_peer(span: Span, reg: &str, form: &str, by: Option<Span>) -> Diagnostic {
    let d = suspicious(
        code::ADDRESS_IN_OTHER_CTA,
        span,
        format!("`{reg}` may be an address in another CTA, but `{form}` names the window of the executing CTA"),
    );
    section(at(d, by, "mapped here"), "`cvta` converts addresses that lie in the window it names", "9.7.9.20")
        .help(Help::write(".shared::cluster"))
}

pub(crate) fn peer_returns_nothing(span: Span, reg: &str, by: Option<Span>, sure: bool, sec: &str) -> Diagnostic {
    let what = if sure { "is" } else { "may be" };
    let d = found(
        code::ADDRESS_IN_OTHER_CTA,
        span,
        sure,
        format!("`{reg}` {what} an mbarrier in another CTA, and an arrival there returns no state"),
    );
    section(at(d, by, "mapped here"), "the sink `_` takes the place of the state of a remote arrival", sec)
        .help(Help::write("_").then(" for the state, and let the CTA that owns the mbarrier wait by parity"))
}

pub(crate) fn read_only_parameter(span: Span, name: &str, ty: Option<Span>) -> Diagnostic {
    at(
        error(code::STORE_TO_READ_ONLY, span, format!("this writes to `{name}`, which is read-only")),
        ty,
        "a shared reference",
    )
    .note("a kernel only reads what is behind a `&[T]`, so that many launches may share it")
    .help(format!("make `{name}` a `&mut` slice"))
}

pub(crate) fn read_only_space(span: Span, reg: &str, is: &str, of: Option<&str>, by: Option<Span>) -> Diagnostic {
    let have = points(is, true, of);
    let d = error(code::STORE_TO_READ_ONLY, span, format!("`{reg}` holds {have} but this writes to it"));
    section(at(d, by, MADE), "constants and the parameters of a kernel are read-only", "5.1")
        .help("write to a `.global`, `.shared` or `.local` variable")
}

pub(crate) fn apart(span: Span, op: &str, data: Span, sure: bool) -> Diagnostic {
    let what = if sure { "is" } else { "may be" };
    let d = found(
        code::MBARRIER_IN_OTHER_CTA,
        span,
        sure,
        format!("the mbarrier of this `{op}` {what} in a different CTA from its data"),
    );
    section(d.label(data, "the data"), "the bytes complete on an mbarrier of the CTA that receives them", "9.7.9.25.4")
        .help("map both with `mapa` and the same rank, or neither")
}

pub(crate) fn not_read_only(span: Span, store: Span) -> Diagnostic {
    section(
        suspicious(
            code::READ_ONLY_LOAD_OF_WRITTEN,
            span,
            "this load treats memory as read-only, but the kernel writes to it",
        )
        .label(store, "written here"),
        "`ld.global.nc` is for memory that is not written while the kernel runs",
        "9.7.9.9",
    )
    .help("leave out `.nc`")
}

pub(crate) fn past_the_end(
    span: Span,
    (name, size): (&str, u32),
    (offset, access): (i64, u32),
    sure: bool,
) -> Diagnostic {
    let bytes = if access == 1 { "1 byte".to_string() } else { format!("{access} bytes") };
    let unit = if size == 1 { "byte" } else { "bytes" };
    let place = if offset < 0 { "before the start" } else { "past the end" };
    found(code::OUT_OF_BOUNDS, span, sure, format!("this accesses {bytes} at `{name}+{offset}`, {place} of `{name}`"))
        .note(format!("`{name}` has {size} {unit}, and what lies next to a variable is not defined (PTX ISA 5.4)"))
        .help("declare the variable larger, or change the offset")
}

pub(crate) fn misaligned_register(span: Span, reg: &str, of: &str, offset: i64, align: u32) -> Diagnostic {
    error(
        code::MISALIGNED_ADDRESS,
        span,
        format!("`{reg}` is `{of}+{offset}` here, which is not a multiple of {align} bytes"),
    )
    .note(format!("this access must be aligned to {align} bytes (PTX ISA 6.4.1)"))
    .help("add a multiple of the size of the access")
}
