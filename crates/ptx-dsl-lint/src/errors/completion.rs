//! Messages about operations that are not complete, and about work that one thread or one lane should do: PTX0680 to PTX0690.

use crate::errors::class::{error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::span::Span;

const READ: &str = "`.read` only waits until the copies have read their source; without it, until they have written";

pub(crate) fn destination_read(span: Span, copy: Span) -> Diagnostic {
    section(
        error(code::WAIT_FOR_SOURCE_ONLY, span, "this reads what a bulk copy may not have written yet")
            .label(copy, "copied here"),
        READ,
        "9.7.9.25.6",
    )
    .help("put `cp.async.bulk.wait_group 0;` (without `.read`) before this place")
}

pub(crate) fn published_early(span: Span, copy: Span) -> Diagnostic {
    section(
        suspicious(
            code::WAIT_FOR_SOURCE_ONLY,
            span,
            "this tells others to continue, but a bulk copy may not have written yet",
        )
        .label(copy, "copied here"),
        READ,
        "9.7.9.25.6",
    )
    .help("put `cp.async.bulk.wait_group 0;` (without `.read`) before this place")
}

pub(crate) fn result_not_awaited(span: Span, mma: Span, committed: bool) -> Diagnostic {
    let what = if committed { "no thread waits for the mbarrier of its commit" } else { "nothing commits it" };
    section(
        error(code::MMA_RESULT_TOO_EARLY, span, format!("this loads what a `tcgen05.mma` may still write: {what}"))
            .label(mma, "started here"),
        "an MMA is complete after a wait for the mbarrier of a `tcgen05.commit` that follows it",
        "9.7.16.6.4",
    )
    .help("put `tcgen05.commit` after the MMA, and a loop on `mbarrier.try_wait` of its mbarrier before this load")
}

pub(crate) fn asks_again(span: Span, query: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    section(
        found(code::REQUEST_AFTER_FAILURE, span, sure, format!("this is another request{when} after one that failed"))
            .label(query, "the request may have failed here"),
        "`try_cancel` is undefined after a failed response was read: no cluster is left",
        "9.7.13.17",
    )
    .help("leave the loop when `is_canceled` is false, before the next `clusterlaunchcontrol.try_cancel`")
}

pub(crate) fn never_waits_for_the_grid(span: Span, read: Span) -> Diagnostic {
    section(
        suspicious(code::BEFORE_GRIDDEPCONTROL_WAIT, span, "this lets the next grid start, but the kernel never waits for the grid before it")
            .label(read, "this may read what that grid writes"),
        "with a dependent launch the grid before may still run; what it writes is visible only after `griddepcontrol.wait`",
        "9.7.13.13",
    )
    .help("put `griddepcontrol.wait;` before the first access to memory that an earlier grid writes or reads")
}

pub(crate) fn before_the_grid(span: Span, wait: Span, again: bool) -> Diagnostic {
    let what = if again {
        "this accesses memory before `griddepcontrol.wait` that the kernel also accesses after it"
    } else {
        "this reads memory before `griddepcontrol.wait`, and nothing is read after it"
    };
    section(
        suspicious(code::BEFORE_GRIDDEPCONTROL_WAIT, span, what).label(wait, "this waits for the previous grid"),
        "what the previous grid writes is visible only after `griddepcontrol.wait`",
        "9.7.13.13",
    )
    .help("put `griddepcontrol.wait;` before it")
}

pub(crate) fn once_for_each_warp(span: Span, op: &str, warps: usize, elected: bool) -> Diagnostic {
    let who = if elected { "the elected lane of each warp" } else { "every lane of each warp" };
    section(
        suspicious(
            code::ELECTION_IN_EACH_WARP,
            span,
            format!("{who} runs this `{op}` with the same operands: {warps} warps do the work of one"),
        ),
        "`elect.sync` elects a lane in each warp that runs it, not one thread of the CTA",
        "9.7.13.14",
    )
    .help("let only one warp execute it: branch first on a predicate that compares `%tid.x` with 32")
}

pub(crate) fn source_lane(span: Span, lane: u32, mask: u32, observed: bool) -> Diagnostic {
    let report = if observed { error } else { suspicious };
    section(
        report(
            code::SHUFFLE_FROM_MISSING_LANE,
            span,
            format!("this reads from lane {lane}, which the mask {mask:#x} does not name"),
        ),
        "a value read from a lane that is not in the mask, or does not exist, is undefined",
        "9.7.9.6",
    )
    .help("read from a lane of the mask, or name the lane in it")
}

pub(crate) fn nobody_waits(span: Span, id: u64) -> Diagnostic {
    section(
        suspicious(code::ARRIVAL_WITHOUT_WAIT, span, format!("threads arrive at barrier {id}, but none waits at it")),
        "an arrival is for threads that wait at the same barrier",
        "9.7.13.1",
    )
    .help(format!(
        "let the threads that need it wait with `bar.sync {id}` for the same number of threads, or remove the arrival"
    ))
}

pub(crate) fn race(span: Span, other: Span, name: &str, writes: bool) -> Diagnostic {
    let (message, label) = if writes {
        (format!("one warp writes `{name}` here, and others may not have read it yet"), "read by all threads here")
    } else {
        (
            format!("all threads read `{name}` here, but the warp that writes it may not have written yet"),
            "written by one warp here",
        )
    };
    section(
        suspicious(code::SHARED_MEMORY_RACE, span, message).label(other, label),
        "conflicting accesses of different threads are ordered only by synchronisation",
        "8.7",
    )
    .help("put `bar.sync 0;` between the two")
}

pub(crate) fn race_of_all(span: Span, other: Span, name: &str) -> Diagnostic {
    section(
        suspicious(
            code::SHARED_MEMORY_RACE,
            span,
            format!("this reads what another thread writes into `{name}`, and may not have written yet"),
        )
        .label(other, "each thread writes its own location here"),
        "conflicting accesses of different threads are ordered only by synchronisation",
        "8.7",
    )
    .help("put `bar.sync 0;` between the two")
}
