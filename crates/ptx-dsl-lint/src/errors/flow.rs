//! Messages about the order of instructions on paths: cluster barrier, initialisation, registers, dead code.

use crate::errors::class::{error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::edit::Help;
use ptx_dsl_isa::span::Span;

pub(crate) fn arrives_twice(span: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    section(
        found(
            code::SECOND_CLUSTER_ARRIVAL,
            span,
            sure,
            format!("this thread has arrived at the cluster barrier, and arrives again{when} without waiting"),
        ),
        "each `barrier.cluster.arrive` is followed by a `barrier.cluster.wait` before the next one",
        "9.7.13.3",
    )
    .help("put `barrier.cluster.wait;` between the two")
}

pub(crate) fn wait_without_arrive(span: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    section(
        found(
            code::CLUSTER_WAIT_WITHOUT_ARRIVAL,
            span,
            sure,
            format!("this thread waits at the cluster barrier, and has not arrived{when}"),
        ),
        "a thread waits for a phase of the barrier in which it arrived",
        "9.7.13.3",
    )
    .help("put `barrier.cluster.arrive;` before it")
}

pub(crate) fn before_init(span: Span, name: &str) -> Diagnostic {
    section(
        error(
            code::MBARRIER_BEFORE_INIT,
            span,
            format!("the mbarrier `{name}` is used here before its `mbarrier.init`"),
        ),
        "any operation but `mbarrier.init` needs an object that is initialised",
        "9.7.13.15",
    )
    .help("move `mbarrier.init` before this place, and let the other threads wait for it with `bar.sync`")
}

pub(crate) fn init_by_many(span: Span, name: &str, elected: bool) -> Diagnostic {
    let who = if elected { "the elected lane of each warp" } else { "every lane that reaches this" };
    section(
        suspicious(code::MBARRIER_SEVERAL_INIT, span, format!("{who} initialises the mbarrier `{name}`")),
        "`mbarrier.init` of an object that is initialised and not invalidated is undefined",
        "9.7.13.15.9",
    )
    .help("let one thread of the CTA do it, as with `setp.eq.u32 p, %r, 0;` where `%r` is `%tid.x`")
}

/// When a register is read that nothing has written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unwritten {
    /// Nothing writes it on any path.
    Never,
    /// Only what follows the read writes it, in a loop.
    FirstTime,
    /// The first product of a loop adds to it, and only products write it.
    Sum,
    /// The first product of a loop may add to it, unless a predicate leaves the old sum out.
    OptionalSum,
    SomePath,
}

pub(crate) fn unwritten(span: Span, reg: &str, when: Unwritten) -> Diagnostic {
    let (message, help) = match when {
        Unwritten::Never => (format!("`{reg}` is read here, but nothing wrote it before"), WRITE),
        Unwritten::FirstTime => (format!("`{reg}` is read here, but nothing wrote it before the first time"), WRITE),
        Unwritten::SomePath => (format!("`{reg}` is read here, but nothing wrote it before on some path"), WRITE),
        Unwritten::Sum => (
            format!("this product is added to `{reg}`, but nothing wrote it before the first time"),
            "set the sums to zero before the first product",
        ),
        Unwritten::OptionalSum => (
            format!("this product is added to `{reg}`, but nothing wrote it before the first time"),
            "let the first product of a tile overwrite the sums, or set them to zero before it",
        ),
    };
    suspicious(code::UNINITIALISED_REGISTER, span, message)
        .note("the value of a register is undefined until it is written (PTX ISA 5.1.1)")
        .help(help)
}

const WRITE: &str = "write it first, if only with `mov`";

pub(crate) fn unreachable(span: Span) -> Diagnostic {
    suspicious(code::UNREACHABLE, span, "no path leads to this instruction")
        .note("the code before it always branches, returns or exits, and no branch leads here (PTX ISA 9.7.12)")
        .help(Help::remove().then(", or branch to it"))
}

pub(crate) fn never_runs(span: Span, op: &str, why: &str) -> Diagnostic {
    suspicious(code::GUARD_NEVER_HOLDS, span, format!("this `{op}` never runs: {why}"))
        .note("an instruction under a guard runs in the threads whose predicate is true (PTX ISA 9.3)")
        .help("remove the instruction, or correct the guard")
}
