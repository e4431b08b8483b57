//! The catalogue of rings of mbarriers.

use super::{found, section};
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::span::Span;

/// `sure`: already the first phase does not complete.
pub(crate) fn never_complete_round(span: Span, name: &str, count: u64, come: u64, init: Span, sure: bool) -> Diagnostic {
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
            format!("this waits for the first arrivals on `{name}`, and all of them stand behind waits for what comes behind this one"),
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
