//! Messages about operations that are not complete, and about work that one thread or one lane should do: PTX0680 to PTX0690.

use crate::errors::class::{error, found, section, suspicious};
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::span::Span;

const READ: &str = "`.read` waits until the source of the copies was read; without it, until they have written";

pub(crate) fn destination_read(span: Span, copy: Span) -> Diagnostic {
    section(
        error(680, span, "this reads what a bulk copy need not have written yet").label(copy, "copied here"),
        READ,
        "9.7.9.25.6",
    )
    .help("put `cp.async.bulk.wait_group 0;` (without `.read`) before this place")
}

pub(crate) fn published_early(span: Span, copy: Span) -> Diagnostic {
    section(
        suspicious(680, span, "this tells others to go on, and a bulk copy need not have written yet")
            .label(copy, "copied here"),
        READ,
        "9.7.9.25.6",
    )
    .help("put `cp.async.bulk.wait_group 0;` (without `.read`) before this place")
}

pub(crate) fn result_not_awaited(span: Span, mma: Span, committed: bool) -> Diagnostic {
    let what = if committed { "no thread waits for the mbarrier of its commit" } else { "nothing commits it" };
    section(
        error(683, span, format!("this loads what a `tcgen05.mma` may still write: {what}")).label(mma, "started here"),
        "an MMA is done when a wait for the mbarrier of a `tcgen05.commit` after it says so",
        "9.7.16.6.4",
    )
    .help("put `tcgen05.commit` after the MMA, and a loop on `mbarrier.try_wait` of its mbarrier before this load")
}

pub(crate) fn asks_again(span: Span, query: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    section(
        found(684, span, sure, format!("this asks again{when} after a request that has failed"))
            .label(query, "the answer may be no here"),
        "`try_cancel` after a failed response was seen is undefined: there is nothing left to cancel",
        "9.7.13.17",
    )
    .help("leave the loop when `is_canceled` is false, before the next `clusterlaunchcontrol.try_cancel`")
}

pub(crate) fn before_the_grid(span: Span, wait: Span, again: bool) -> Diagnostic {
    let what = if again {
        "this uses memory before `griddepcontrol.wait` that the kernel uses after it too"
    } else {
        "this reads memory before `griddepcontrol.wait`, and nothing is read after it"
    };
    section(
        suspicious(685, span, what).label(wait, "the grid before is waited for here"),
        "what the grid before this one writes is visible only after `griddepcontrol.wait`",
        "9.7.13.13",
    )
    .help("put `griddepcontrol.wait;` before it")
}

pub(crate) fn once_for_each_warp(span: Span, op: &str, warps: usize, elected: bool) -> Diagnostic {
    let who = if elected { "the elected lane of each warp" } else { "every lane of each warp" };
    section(
        suspicious(
            686,
            span,
            format!("{who} runs this `{op}` with the same operands: {warps} warps do what is for one"),
        ),
        "`elect.sync` elects a lane in each warp that runs it, not one thread of the CTA",
        "9.7.13.14",
    )
    .help("let one warp come here: branch first on a predicate that compares `%tid.x` with 32")
}

pub(crate) fn source_lane(span: Span, lane: u32, mask: u32) -> Diagnostic {
    section(
        error(687, span, format!("this reads from lane {lane}, which the mask {mask:#x} does not name")),
        "what a thread reads from a lane that is not in the mask, or not there, is undefined",
        "9.7.9.6",
    )
    .help("read from a lane of the mask, or name the lane in it")
}

pub(crate) fn nobody_waits(span: Span, id: u64) -> Diagnostic {
    section(
        suspicious(688, span, format!("threads arrive at barrier {id}, and none ever waits at it")),
        "an arrival is for threads that wait at the same barrier",
        "9.7.13.1",
    )
    .help(format!(
        "let those who need it wait with `bar.sync {id}` for the same number of threads, or remove the arrival"
    ))
}

pub(crate) fn race(span: Span, other: Span, name: &str, writes: bool) -> Diagnostic {
    let (message, label) = if writes {
        (format!("one warp writes `{name}` here, and others may not have read it yet"), "read by all threads here")
    } else {
        (
            format!("all threads read `{name}` here, and the warp that writes it need not have done so"),
            "written by one warp here",
        )
    };
    section(
        suspicious(690, span, message).label(other, label),
        "accesses of different threads that conflict have an order only if something makes the threads meet",
        "8.7",
    )
    .help("put `bar.sync 0;` between the two")
}

pub(crate) fn race_of_all(span: Span, other: Span, name: &str) -> Diagnostic {
    section(
        suspicious(
            690,
            span,
            format!("this reads what another thread writes into `{name}`, and need not have written yet"),
        )
        .label(other, "each thread writes a place of its own here"),
        "accesses of different threads that conflict have an order only if something makes the threads meet",
        "8.7",
    )
    .help("put `bar.sync 0;` between the two")
}
