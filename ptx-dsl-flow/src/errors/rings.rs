//! The catalogue of rings of mbarriers.

use super::{found, section};
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::span::Span;

/// `sure`: already the first phase does not complete.
pub(crate) fn never_complete_round(
    span: Span,
    name: &str,
    count: u64,
    come: u64,
    init: Span,
    sure: bool,
) -> Diagnostic {
    let d = found(
        642,
        span,
        sure,
        format!("this waits for {count} arrivals on `{name}`, and {come} can come until the ring has gone round"),
    )
    .label(init, "the count is given here");
    section(
        d,
        "a phase completes when as many have arrived as `init` says; `expect_tx` alone is no arrival",
        "9.7.13.15.2",
    )
    .help("give `init` the number of threads that arrive in each round, or let the others arrive too")
}

/// Which mistake the parities of a ring have.
pub(crate) enum RingParity {
    /// The first wait for each object is over before anything has come.
    PassesAtOnce,
    /// The first wait for each object is for what comes behind it only.
    NeverPasses,
    /// The parity changes in each round, and not when the ring has come round.
    EachRound,
    /// The parity does not change when the ring has come round.
    Steady,
}

pub(crate) fn ring_parity(span: Span, name: &str, stages: usize, which: RingParity, other: Option<Span>) -> Diagnostic {
    let (error, message, help) = match which {
        RingParity::PassesAtOnce => (
            true,
            format!("all waits for `{name}` begin with parity 1, and are over before the first copy has come"),
            "begin with 0: the one who fills a stage begins with 1, the one who reads it with 0",
        ),
        RingParity::NeverPasses => (
            true,
            format!(
                "this waits for the first arrivals on `{name}`, and all of them stand behind waits for what comes behind this one"
            ),
            "begin with parity 1, `xor.b32 %r, %r, 1;` of the reader's: of a new mbarrier the phase before the first is over",
        ),
        RingParity::EachRound => (
            true,
            format!("the parity changes with each stage, and the ring of `{name}` has {stages}"),
            "change it when the stage goes back to the first: `@p xor.b32 %r, %r, 1;` with `setp.eq.u32 p, stage, 0;`",
        ),
        RingParity::Steady => (
            false,
            format!("the parities with which the ring of {stages} stages comes to `{name}` again do not take turns"),
            "change the parity each time the stage goes back to the first",
        ),
    };
    let d = found(696, span, error, message);
    section(
        match other {
            Some(other) => d.label(other, "the other wait"),
            None => d,
        },
        "a wait is for the phase of its parity: the first phase has 0, and each that completes changes it",
        "9.7.13.15.16",
    )
    .help(help)
}

pub(crate) fn copied_by_all(span: Span, op: &str) -> Diagnostic {
    section(
        found(691, span, false, format!("every lane of the warp runs this `{op}` with the same operands")),
        "each thread that runs it starts all of it once more",
        "9.7.9.25.4",
    )
    .help("elect a lane: `elect.sync _|p, 0xffffffff;`, and guard it and `expect_tx` with `@p`")
}

pub(crate) fn none_expected(span: Span, name: &str, drop: Span, init: Span) -> Diagnostic {
    section(
        found(668, span, true, format!("this arrives on `{name}`, of which all have dropped out"))
            .label(drop, "the last ones drop out here")
            .label(init, "the count is given here"),
        "each arrival that drops out takes one from what all later phases expect; where none is expected, nothing can arrive",
        "9.7.13.15.14",
    )
    .help("let those who arrive again use `mbarrier.arrive`, and drop out with the last arrival")
}

pub(crate) fn not_expected(span: Span, op: &str, name: &str) -> Diagnostic {
    section(
        found(693, span, true, format!("this `{op}` completes bytes on `{name}`, and nothing in the kernel expects any there")),
        "a phase is over when all have arrived and its tx-count is zero: bytes that were not announced first are not waited for",
        "9.7.13.15.2",
    )
    .help("put `mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], bytes;` before it in place of the arrival")
}

pub(crate) fn refilled(span: Span, copy: Span, wait: Span, buffers: usize, left: u64) -> Diagnostic {
    let message = if buffers == 1 {
        format!(
            "this fills the buffer again while the copy out of it may go on: the wait leaves {left} groups under way"
        )
    } else {
        format!(
            "this fills one of {buffers} buffers again, and the wait leaves {left} groups of copies out of them under way"
        )
    };
    section(
        found(649, span, true, message).label(copy, "copied out of it here").label(wait, "too few are waited for here"),
        "`wait_group N` waits for all but the N newest groups; what it leaves may still read its source",
        "9.7.9.25.6.2",
    )
    .help(format!("write `cp.async.bulk.wait_group.read {};`", buffers - 1))
}
