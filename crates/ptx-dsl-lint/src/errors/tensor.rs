//! Messages about Tensor Memory: PTX0606 (in part), PTX0678, PTX0679, PTX0681, PTX0682, PTX0689, PTX0697. Also PTX0698, about descriptors of `wgmma`.

use crate::errors::class::{against_the_manual, error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::edit::Help;
use ptx_dsl_isa::span::Span;

pub(crate) fn one_of_a_pair(span: Span, op: &str, rank: u32, why: Option<Span>, sure: bool) -> Diagnostic {
    let other = rank ^ 1;
    let d = found(
        code::PAIR_INSTRUCTION_IN_ONE_CTA,
        span,
        sure,
        format!("CTA {rank} of a pair reaches this `{op}`, and CTA {other} cannot"),
    );
    let d = match why {
        Some(why) => d.label(why, format!("CTA {other} does not take this path")),
        None => d,
    };
    section(
        d,
        "with `.cta_group::2` a warp of each CTA of the pair executes it, and the first one may wait for the second",
        "9.7.16.5",
    )
    .help(format!("let a warp of CTA {other} execute it too, whatever `%cluster_ctarank` is"))
}

pub(crate) fn both_of_a_pair(span: Span, op: &str) -> Diagnostic {
    section(
        suspicious(code::PAIR_OPERATION_IN_BOTH, span, format!("both CTAs of a pair start this `{op}` with the same operands")),
        "with `.cta_group::2` a single thread of the CTA pair starts the operation, in the Tensor Memory of both: Table 46",
        "9.7.16.5",
    )
    .help("let only one CTA of the pair run it: branch on a predicate that compares `%cluster_ctarank` with 0")
}

/// Which `tcgen05.fence` is missing.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fence {
    Before,
    After,
    Both,
}

/// `from` is the earlier access, or the wait that orders it.
pub(crate) fn fence_missing(span: Span, op: &str, from: Span, access: &str, which: Fence) -> Diagnostic {
    let what = match which {
        Fence::Before => "`tcgen05.fence::before_thread_sync`",
        Fence::After => "`tcgen05.fence::after_thread_sync`",
        Fence::Both => "`tcgen05.fence`",
    };
    let put = match which {
        Fence::Before => {
            format!("put `tcgen05.fence::before_thread_sync;` after the `{access}`, before the threads synchronise")
        }
        Fence::After => {
            format!("put `tcgen05.fence::after_thread_sync;` before this `{op}`, after the threads synchronise")
        }
        Fence::Both => "put `tcgen05.fence::before_thread_sync;` before the place where the threads synchronise, and \
                        `tcgen05.fence::after_thread_sync;` after it"
            .to_string(),
    };
    section(
        against_the_manual(
            code::NO_TCGEN05_FENCE,
            span,
            format!("no {what} between this `{op}` and an access of another thread to Tensor Memory"),
        )
        .label(from, format!("it is missing after this `{access}`")),
        "a thread fences all its accesses to Tensor Memory that it wants to order with those of other threads",
        "9.7.16.5",
    )
    .note("ptxas 13.5 generates no instruction for these fences; they order what compilers may move")
    .help(put)
}

pub(crate) fn store_not_awaited(span: Span, op: &str, store: Span, told: Option<Span>, sure: bool) -> Diagnostic {
    let d = match told {
        None => found(
            code::TMEM_STORE_INCOMPLETE,
            span,
            sure,
            format!("this `{op}` uses the result of a `tcgen05.st` that may not have completed"),
        ),
        Some(operation) => {
            let message =
                format!("this `{op}` lets another thread use the result of a `tcgen05.st` that may not have completed");
            found(code::TMEM_STORE_INCOMPLETE, span, sure, message).label(operation, "it is used here")
        }
    };
    section(
        d.label(store, "stored here"),
        "`tcgen05.st` is asynchronous: it has completed after `tcgen05.wait::st`",
        "9.7.16.8.5",
    )
    .help("put `tcgen05.wait::st.sync.aligned;` after the store, before any other thread is told of it")
}

const ONE_ALLOCATION: &str = "`tcgen05.dealloc` frees one allocation, all of it, once";

pub(crate) fn other_size(span: Span, columns: u64, had: u64, alloc: Span) -> Diagnostic {
    section(
        error(
            code::DEALLOCATION_MISMATCH,
            span,
            format!("this deallocates {columns} columns, but {had} were allocated"),
        )
        .label(alloc, "allocated here"),
        ONE_ALLOCATION,
        "9.7.16.7.1",
    )
    .help(Help::write(had.to_string()))
}

pub(crate) fn other_kind(span: Span, exclusive: bool, alloc: Span) -> Diagnostic {
    let (message, help) = if exclusive {
        ("this deallocates with `.exclusive` what was allocated without it", "remove `.exclusive`".into())
    } else {
        (
            "this deallocates without `.exclusive` what was allocated with it",
            Help::from("write `tcgen05.dealloc.exclusive`"),
        )
    };
    section(
        error(code::DEALLOCATION_MISMATCH, span, message).label(alloc, "allocated here"),
        ONE_ALLOCATION,
        "9.7.16.7.1",
    )
    .help(help)
}

pub(crate) fn within_an_allocation(span: Span, column: i64, alloc: Span) -> Diagnostic {
    section(
        error(
            code::DEALLOCATION_MISMATCH,
            span,
            format!("this address is {column} columns from the start of the allocation"),
        )
        .label(alloc, "allocated here"),
        ONE_ALLOCATION,
        "9.7.16.7.1",
    )
    .help("pass the address that `tcgen05.alloc` stored")
}

pub(crate) fn freed_by_many(span: Span, warps: usize, least: usize, most: usize, alloc: Span) -> Diagnostic {
    let s = if most == 1 { "" } else { "s" };
    let message = if warps > 1 {
        format!("{warps} warps execute this `tcgen05.dealloc`, for at most {most} allocation{s}")
    } else {
        format!("this is deallocation {least}, for at most {most} allocation{s}")
    };
    section(
        error(code::DEALLOCATION_MISMATCH, span, message).label(alloc, "allocated here"),
        ONE_ALLOCATION,
        "9.7.16.7.1",
    )
    .help("let one warp deallocate: guard it with a predicate that `%tid.x` decides")
}

pub(crate) fn freed_twice(span: Span, first: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    section(
        found(code::DEALLOCATION_MISMATCH, span, sure, format!("this deallocates{when} what is already deallocated"))
            .label(first, "deallocated here"),
        ONE_ALLOCATION,
        "9.7.16.7.1",
    )
    .help("remove one of the two")
}

pub(crate) fn leaves_allocated(span: Span, alloc: Span) -> Diagnostic {
    section(
        error(
            code::TMEM_NOT_DEALLOCATED,
            span,
            "the CTA can exit from here with Tensor Memory that is still allocated",
        )
        .label(alloc, "allocated here"),
        "a kernel deallocates what it allocates before it ends",
        "9.7.16.7",
    )
    .help("branch before `tcgen05.alloc`, or to `tcgen05.dealloc`")
}

const TRACKS: &str = "a commit tracks the operations that its thread has started before it";

pub(crate) fn untracked(span: Span, op: &str, commit: Option<Span>) -> Diagnostic {
    let d = error(code::COMMIT_BEFORE_MMA, span, format!("no `tcgen05.commit` follows this `{op}`"));
    let d = match commit {
        Some(commit) => d.label(commit, "this one precedes it, and does not track it"),
        None => d,
    };
    section(d, TRACKS, "9.7.16.12.1").help(format!("put `tcgen05.commit` after this `{op}`"))
}

pub(crate) fn nothing_to_track(span: Span, operation: Span) -> Diagnostic {
    section(
        found(
            code::COMMIT_BEFORE_MMA,
            span,
            false,
            "this `tcgen05.commit` precedes the operations that it should track",
        )
        .label(operation, "started here"),
        TRACKS,
        "9.7.16.12.1",
    )
    .help("put it after them")
}

pub(crate) fn step_past_the_row(span: Span, step: i64, width: i64, first: Span) -> Diagnostic {
    let rows = if step == width { "the next row".to_string() } else { format!("row {}", step / width) };
    let message =
        format!("this product reads its operands from {rows} on: it starts {step} bytes after an earlier one");
    section(
        suspicious(code::PRODUCT_PAST_ROW, span, message).label(first, "the earlier product of the sum starts here"),
        &format!("with a swizzle of {width} bytes, a row of eight rows has {width} bytes; the next columns are in another box"),
        "9.7.15.5.1",
    )
    .help("take the swizzle of the tensor map that fills the memory, or add the distance to the next box")
}
