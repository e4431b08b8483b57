//! Messages about mbarrier rings, transaction bytes and buffers in rotation: PTX0613, PTX0642, PTX0643, PTX0647, PTX0649, PTX0668, PTX0691, PTX0693, PTX0696.

use crate::errors::class::{error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::span::Span;

/// `sure`: not even the first phase completes.
pub(crate) fn never_complete_round(
    span: Span,
    name: &str,
    count: u64,
    come: u64,
    init: Span,
    sure: bool,
) -> Diagnostic {
    let message = format!("this waits for {count} arrivals on `{name}`, but a round of the ring makes at most {come}");
    section(
        found(code::PHASE_NEVER_COMPLETES, span, sure, message).label(init, "the count is given here"),
        "a phase completes after as many arrivals as `mbarrier.init` says; `expect_tx` alone is not an arrival",
        "9.7.13.15.2",
    )
    .help("initialise it with the number of arrivals in a round, or let the other threads arrive too")
}

pub(crate) fn wait_ignored(span: Span, op: &str) -> Diagnostic {
    section(
        suspicious(
            code::IGNORED_WAIT,
            span,
            format!("nothing reads the result of this `{op}`, so the code after it does not wait"),
        ),
        "it is true if the phase has completed; `try_wait` may give up before, and `test_wait` never waits",
        "9.7.13.15.16",
    )
    .help("branch back to it until its result is true")
}

pub(crate) fn more_than_room(span: Span, name: &str, bytes: u64, room: u64, copy: Span) -> Diagnostic {
    let message = format!("`{name}` expects {bytes} bytes, but the copies of a stage have room for {room}");
    section(
        suspicious(code::EXPECTED_BYTES, span, message).label(copy, "a copy of the stage"),
        "a phase completes when exactly the expected bytes have arrived, and a larger copy would write over another stage",
        "9.7.13.15.2",
    )
    .help("expect the bytes of the boxes, and make a stage as large as all of them")
}

pub(crate) fn fewer_than_read(span: Span, name: &str, bytes: u64, least: u64, copy: Span) -> Diagnostic {
    let message = format!("`{name}` expects {bytes} bytes, but the products read at least {least} of a stage");
    section(
        suspicious(code::EXPECTED_BYTES, span, message).label(copy, "a copy of the stage"),
        "a phase completes when exactly the expected bytes have arrived; a wait does not cover what comes after them",
        "9.7.13.15.2",
    )
    .help("expect the bytes of the boxes of all copies of the stage")
}

/// `names`: the objects that the loop waits for, and those that the copies wait for.
pub(crate) fn stages_not_freed(span: Span, [full, empty]: [&str; 2], wait: Span, arrival: Span) -> Diagnostic {
    let message = match full == empty {
        true => "this loop goes through the stages of a ring, but frees none of them".to_string(),
        false => format!("this loop goes through the stages of `{full}`, but nothing in it arrives on `{empty}`"),
    };
    section(
        suspicious(code::PHASE_NEVER_COMPLETES, span, message)
            .label(wait, "before a copy into a stage, this waits until it is free")
            .label(arrival, "only this frees stages, outside of the loop"),
        "a phase completes after as many arrivals as `mbarrier.init` says, so a stage that nobody frees is never filled again",
        "9.7.13.15.2",
    )
    .help("arrive for each stage in the loop, after the last use of its data")
}

pub(crate) fn stage_overwritten(span: Span, name: &str, copy: Span) -> Diagnostic {
    let message = format!("this writes into the stage at `{name}`, which is free and may be filled at the same time");
    section(
        suspicious(code::COPY_INCOMPLETE, span, message).label(copy, "a copy of this loop fills the stage"),
        "a copy writes at any time between its start and the completion of its mbarrier",
        "9.7.9.25.4",
    )
    .help("store to memory of its own, or free the stages after these stores have been read")
}

pub(crate) fn past_the_ring(span: Span, name: &str, offset: i64, stages: usize, size: u32) -> Diagnostic {
    let message =
        format!("this loop goes through {stages} objects, and that at `{name}+{offset}` lies outside `{name}`");
    suspicious(code::OUT_OF_BOUNDS, span, message)
        .note(format!("`{name}` has {size} bytes, and what lies next to a variable is not defined (PTX ISA 5.4)"))
        .help("let the stage wrap to the first at the number of objects that are declared, or declare the variable larger")
}

pub(crate) fn stage_not_initialised(span: Span, name: &str, init: Span) -> Diagnostic {
    section(
        suspicious(
            code::MBARRIER_BEFORE_INIT,
            span,
            format!("this goes through the stages of a ring, but nothing initialises `{name}`"),
        )
        .label(init, "other stages are initialised here"),
        "any operation but `mbarrier.init` needs an object that is initialised",
        "9.7.13.15",
    )
    .help("initialise the objects of all stages, or let the stage wrap earlier")
}

pub(crate) fn stage_not_awaited(span: Span, name: &str, wait: Span) -> Diagnostic {
    section(
        suspicious(
            code::COPY_NOT_WAITED_FOR,
            span,
            format!("these copies go through the stages of a ring, but no thread waits for `{name}`"),
        )
        .label(wait, "this waits for other stages only"),
        "a copy is complete after a wait for the phase of its mbarrier",
        "9.7.9.25.4",
    )
    .help("let the address of the mbarrier in the wait depend on the stage, too")
}

/// What is wrong with the parities of a ring.
pub(crate) enum RingParity {
    /// The first wait on each stage returns before any data has come.
    PassesAtOnce,
    /// The first wait on a stage waits for arrivals that depend on it.
    NeverPasses,
    /// The parity flips at each stage instead of each round.
    EachStage,
    /// The parity does not alternate between two visits of a stage.
    Steady,
}

pub(crate) fn ring_parity(span: Span, name: &str, stages: usize, which: RingParity, other: Option<Span>) -> Diagnostic {
    let (error, message, help) = match which {
        RingParity::PassesAtOnce => (
            true,
            format!("every wait on `{name}` starts with parity 1, so it returns before the first copy has arrived"),
            "start at parity 0; only the producer, which waits for a free stage, starts at 1",
        ),
        RingParity::NeverPasses => (
            true,
            format!("this waits for the first phase of `{name}`, and every arrival on it comes after this wait"),
            "start the producer at parity 1: on a new mbarrier a wait for parity 1 returns at once",
        ),
        RingParity::EachStage => (
            true,
            format!("the parity flips at every stage, but the ring of `{name}` has {stages} stages"),
            "flip it only when the stage wraps to the first",
        ),
        RingParity::Steady => (
            false,
            format!(
                "the parity of this wait does not alternate from one visit of `{name}` to the next, {stages} stages later"
            ),
            "flip the parity each time the stage wraps to the first",
        ),
    };
    let d = found(code::RING_PARITY, span, error, message);
    section(
        match other {
            Some(other) => d.label(other, "the arrivals are after this wait"),
            None => d,
        },
        "phases have parity 0 and 1 in turn, starting with 0; a wait is for the phase of its parity to complete",
        "9.7.13.15.16",
    )
    .help(help)
}

pub(crate) fn copied_by_all(span: Span, op: &str, sec: &str) -> Diagnostic {
    section(
        suspicious(
            code::COPY_BY_EVERY_LANE,
            span,
            format!("all lanes of the warp run this `{op}` with the same operands"),
        ),
        "each thread that executes it starts the whole operation again",
        sec,
    )
    .help("elect one lane, `elect.sync _|p, 0xffffffff;`, and guard this and its `expect_tx` with `@p`")
}

pub(crate) fn none_expected(span: Span, name: &str, drop: Span, init: Span) -> Diagnostic {
    section(
        error(
            code::MORE_THAN_PENDING,
            span,
            format!("this arrives on `{name}` after all expected arrivals were dropped"),
        )
        .label(drop, "the last ones are dropped here")
        .label(init, "the count is given here"),
        "`mbarrier.arrive_drop` lowers the expected count of all later phases; once it is 0, nothing may arrive",
        "9.7.13.15.14",
    )
    .help("use `mbarrier.arrive` as long as another arrival follows, and drop with the last one")
}

pub(crate) fn not_expected(span: Span, op: &str, name: &str) -> Diagnostic {
    let message = format!("this `{op}` completes bytes on `{name}`, but no `expect_tx` of the kernel announces any");
    section(
        error(code::UNEXPECTED_BYTES, span, message),
        "a phase completes when all arrivals have come and the tx-count is zero; a wait does not cover bytes that were not expected",
        "9.7.13.15.2",
    )
    .help("announce the bytes with `.expect_tx` on the arrival")
}

pub(crate) fn refilled(span: Span, copy: Span, wait: Span, buffers: usize, left: u64) -> Diagnostic {
    let which = if buffers == 1 { "the buffer".to_string() } else { format!("one of {buffers} buffers") };
    let groups = if left == 1 { "1 group".to_string() } else { format!("{left} groups") };
    let message = format!("this refills {which} while a bulk copy may still read it: the wait leaves {groups} pending");
    section(
        error(code::COPY_SOURCE_IN_FLIGHT, span, message)
            .label(copy, "copied from here")
            .label(wait, "this waits for too few groups"),
        "`wait_group N` leaves the N newest groups pending, and a pending copy may still read its source",
        "9.7.9.25.6.2",
    )
    .help(format!("write `cp.async.bulk.wait_group.read {};`", buffers - 1))
}
