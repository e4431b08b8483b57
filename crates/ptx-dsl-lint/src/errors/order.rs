//! Messages about scopes, memory order and mbarrier phases: PTX0657, PTX0658, PTX0661, PTX0664 to PTX0673.

use crate::errors::class::{error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::edit::{Extent, Help};
use ptx_dsl_isa::span::Span;

const BOTH: &str = "operations of two CTAs synchronise only if the scope of each includes both";

pub(crate) fn scope_too_narrow(span: Span, sure: bool) -> Diagnostic {
    let d = found(
        code::ARRIVAL_SCOPE,
        span,
        sure,
        "this accesses the mbarrier of another CTA, but its scope is its own CTA",
    );
    section(d, BOTH, "8.5").help(Help::write(".cluster").then(" in place of `.cta`"))
}

pub(crate) fn peer_out_of_scope(span: Span, op: &str, sure: bool) -> Diagnostic {
    let d = found(
        code::ARRIVAL_SCOPE,
        span,
        sure,
        format!("this `{op}` of `.cta` scope accesses the memory of another CTA"),
    );
    section(d, BOTH, "8.5").help(Help::write(".cluster").then(" in place of `.cta`"))
}

/// `written`: the scope is.
pub(crate) fn wait_too_narrow(span: Span, written: bool) -> Diagnostic {
    section(
        suspicious(code::WAIT_SCOPE, span, "other CTAs arrive on this mbarrier, but the scope of the wait is its own CTA"),
        "operations of two CTAs synchronise only if the scope of each includes both; a wait without a scope is `.acquire.cta`",
        "8.5",
    )
    .help(if written {
        Help::write(".cluster").then(" in place of `.cta`")
    } else {
        Help::write(".acquire.cluster")
    })
}

/// `met`: between the loop and the load is a barrier of the CTA.
pub(crate) fn polled_without_acquire(span: Span, poll: Span, met: bool) -> Diagnostic {
    let d = section(
        suspicious(code::POLLED_WITHOUT_ACQUIRE, span, "this load may not see what was written before the flag")
            .label(poll, "the flag is polled here"),
        "a volatile or relaxed operation does not order later accesses",
        "8.8",
    );
    if met {
        d.note("the barrier orders what the threads that meet there did, not what other CTAs wrote before the flag")
            .help("poll with `.acquire` and a scope that includes the writer, or put a `fence` with `.acq_rel` between the loop and the barrier")
    } else {
        d.help("poll with `.acquire` and a scope that includes the writer, or put a `fence` with `.acq_rel` after the loop")
    }
}

pub(crate) fn one_sided(span: Span, other: Span, acquire: bool) -> Diagnostic {
    let (what, label, help) = if acquire {
        (
            "this acquires, but no write to the object in the kernel releases",
            "written here",
            "use `st`, `red` or `atom` with `.release` there, or put a `fence` with `.acq_rel` before it",
        )
    } else {
        (
            "this releases, but no read of the object in the kernel acquires",
            "read here",
            "use `ld` or `atom` with `.acquire` there, or put a `fence` with `.acq_rel` after it",
        )
    };
    section(
        suspicious(code::ONE_SIDED_SYNCHRONISATION, span, what).label(other, label),
        "a release pattern on an object synchronises with an acquire pattern on it; either one alone has no effect",
        "8.8",
    )
    .help(help)
}

pub(crate) fn no_release_on_object(span: Span, name: &str, wait: Span, sec: &str) -> Diagnostic {
    section(
        suspicious(
            code::ONE_SIDED_SYNCHRONISATION,
            span,
            format!("the arrivals on `{name}` are relaxed, and its wait acquires what was stored before"),
        )
        .label(wait, "waited for here"),
        "a relaxed arrival publishes nothing that its thread stored",
        sec,
    )
    .help(Help::write(".release").then(", or leave out `.relaxed` and the scope"))
}

pub(crate) fn flag_scope(span: Span, other: Span, sure: bool) -> Diagnostic {
    let what = if sure {
        "the scope of this is its own CTA, but the other side of the flag is in another CTA"
    } else {
        "the scope of this is its own CTA, but the other side of the flag has a wider scope"
    };
    section(found(code::SCOPE_MISMATCH, span, sure, what).label(other, "the other side"), BOTH, "8.5")
        .help("write the same scope on both sides: `.gpu` for all CTAs of the device")
}

pub(crate) fn other_device(span: Span, wait: Span) -> Diagnostic {
    section(
        suspicious(
            code::SCOPE_MISMATCH,
            span,
            "the scope of this release is one device, but it answers a signal from another one",
        )
        .label(wait, "this waits for a signal at the same place of another buffer, at `.sys` scope"),
        BOTH,
        "8.5",
    )
    .help(
        Help::write(".sys")
            .then(" in place of `.gpu`, if the buffer is in the memory of another device or its reader runs there"),
    )
}

pub(crate) fn fence_scope(span: Span, flag: Span) -> Diagnostic {
    section(
        suspicious(
            code::SCOPE_MISMATCH,
            span,
            "the scope of this fence is its own CTA, but the flag after it has a wider scope",
        )
        .label(flag, "the flag"),
        BOTH,
        "8.5",
    )
    .help(Help::write("fence.acq_rel.gpu").whole_opcode().then(", or `membar.gl`").or(
        span,
        Extent::Opcode,
        "membar.gl",
    ))
}

pub(crate) fn atomic_in_one_cta(span: Span, op: &str) -> Diagnostic {
    section(
        suspicious(
            code::ATOMIC_SCOPE,
            span,
            format!("all CTAs access this location, but this `{op}` is atomic only within its own CTA"),
        ),
        "two operations are atomic with respect to each other only if the scope of each includes both threads",
        "8.10.3",
    )
    .help(Help::write(".gpu").then(", or leave the scope out"))
}

pub(crate) fn parity_again(span: Span, name: &str, looped: bool, sure: bool) -> Diagnostic {
    let what = if looped {
        format!("each round completes a phase of `{name}`, and this waits for the same parity each time")
    } else {
        format!("a phase of `{name}` began after the last wait, and this waits for the same parity again")
    };
    section(
        found(code::SECOND_WAIT_FOR_PARITY, span, sure, what),
        "phases have parity 0 and 1 in turn; a wait for the parity of the preceding phase returns at once",
        "9.7.13.15.16",
    )
    .help("keep the parity in a register, and flip it after each wait: `xor.b32 %r, %r, 1;`")
}

pub(crate) fn state_of_past(span: Span, arrival: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    section(
        found(
            code::STATE_OF_OTHER_PHASE,
            span,
            sure,
            format!("this state is{when} that of a phase that was waited for before the last arrival"),
        )
        .label(arrival, "the state is from here"),
        "a state belongs to the phase of its arrival, and is no longer valid two phases later",
        "9.7.13.15.16",
    )
    .help("keep the state of each `mbarrier.arrive`, and wait with that of the last one")
}

pub(crate) fn state_of_other(span: Span, of: &str, on: &str, arrival: Span) -> Diagnostic {
    section(
        error(code::STATE_OF_OTHER_PHASE, span, format!("this is a state of `{of}`, and the wait is on `{on}`"))
            .label(arrival, "the state is from here"),
        "a state belongs to the object of its arrival",
        "9.7.13.15.16",
    )
    .help("wait on the object that this arrival was on")
}

pub(crate) fn count_of_other_state(span: Span, arrival: Span) -> Diagnostic {
    section(
        suspicious(
            code::MORE_THAN_PENDING,
            span,
            "this state has no pending count: it is not that of an arrival with `.noComplete`",
        )
        .label(arrival, "the state is from here"),
        "`mbarrier.pending_count` takes the state of an `mbarrier.arrive.noComplete` or `arrive_drop.noComplete`",
        "9.7.13.15.17",
    )
    .help("arrive with `.noComplete` if the phase cannot complete with it")
}

pub(crate) fn more_than_pending(
    span: Span,
    name: &str,
    come: u64,
    pending: u64,
    never: bool,
    init: Span,
    sec: &str,
) -> Diagnostic {
    let what = if never {
        format!("{come} arrivals here would complete the phase of `{name}`, which has {pending} pending")
    } else {
        format!("{come} arrivals on `{name}` here, but at most {pending} are pending")
    };
    section(
        error(code::MORE_THAN_PENDING, span, what).label(init, "the count is given here"),
        "an arrival must not exceed the pending count, and one with `.noComplete` must leave the phase incomplete",
        sec,
    )
    .help("give `init` a higher count, or arrive with a lower count")
}

pub(crate) fn expected_somewhere(span: Span, name: &str, copy: Span, wait: Span, sure: bool) -> Diagnostic {
    section(
        found(
            code::MULTICAST_NOT_EXPECTED,
            span,
            sure,
            format!("bytes arrive at `{name}` in several CTAs, but only some of these expect them"),
        )
        .label(copy, "copied to several here")
        .label(wait, "waited for here, in the others too"),
        "a copy with `.multicast::cluster` completes on the mbarrier at the same place in each destination CTA",
        "9.7.9.25.4",
    )
    .help("let every destination CTA run `mbarrier.arrive.expect_tx`, whoever issues the copy")
}
