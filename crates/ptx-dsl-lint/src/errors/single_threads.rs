//! Messages about values of single threads: PTX0633 where the address depends on the thread, PTX0675, PTX0676.

use crate::errors::class::{error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::span::Span;

/// An access of `bytes` bytes at this offset of a variable.
pub(crate) struct Reached<'n> {
    pub name: &'n str,
    pub size: u32,
    pub offset: i64,
    pub bytes: u32,
}

pub(crate) fn past_the_end_by(
    span: Span,
    reached: &Reached,
    thread: usize,
    needs_all_lanes: bool,
    sure: bool,
) -> Diagnostic {
    let Reached { name, size, offset, bytes } = *reached;
    let many = |n: u32| if n == 1 { "1 byte".to_string() } else { format!("{n} bytes") };
    let place = if offset < 0 { "before the start" } else { "past the end" };
    let at = if offset < 0 { format!("{name}{offset}") } else { format!("{name}+{offset}") };
    let d = found(
        code::OUT_OF_BOUNDS,
        span,
        sure,
        format!("thread {thread} accesses {} at `{at}`, {place} of `{name}`", many(bytes)),
    )
    .note(format!("`{name}` has {}, and what lies next to a variable is not defined (PTX ISA 5.4)", many(size)));
    if needs_all_lanes {
        section(d, "up to `sm_75` each lane needs a valid address, also one whose row is not read", "9.7.14.5.15")
            .help("give the other lanes the address of a row too")
    } else {
        d.help("declare the variable larger, or let only the threads run this whose element exists")
    }
}

pub(crate) fn barrier_beyond_15(span: Span, thread: usize, number: u64) -> Diagnostic {
    let message = format!("thread {thread} comes here with barrier number {number}");
    section(error(code::BARRIER_NUMBER, span, message), "a CTA has the barriers 0 to 15", "9.7.13.1")
        .help("compute a number below 16, or use mbarriers")
}

/// `used`: the instruction that takes the address for the value.
pub(crate) fn address_for_value(span: Span, used: Span, register: &str, ty: &str, name: &str) -> Diagnostic {
    let message = format!("this moves the address of the parameter `{name}`, and not its value, into `{register}`");
    section(
        suspicious(code::PARAMETER_ADDRESS_AS_VALUE, span, message).label(used, "used as a value here"),
        "the name of a variable in `mov` is its address",
        "9.7.9.5",
    )
    .help(format!("read the parameter: `ld.param.{ty} {register}, [{name}];`"))
}
