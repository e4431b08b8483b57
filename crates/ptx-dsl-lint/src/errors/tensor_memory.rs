//! Messages about loads from Tensor Memory, and about its allocation over the paths of a kernel.

use crate::errors::class::{against_the_manual, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::span::Span;

const AWAIT: &str = "`tcgen05.ld` is asynchronous: it is complete after `tcgen05.wait::ld`";

pub(crate) fn load_not_awaited(span: Span, reg: &str, load: Span, every: bool) -> Diagnostic {
    let when = if every { "" } else { " on some path" };
    let d = against_the_manual(
        code::TMEM_LOAD_INCOMPLETE,
        span,
        format!("`{reg}` is read{when} before `tcgen05.wait::ld`"),
    );
    section(d.label(load, "it is loaded here"), AWAIT, "9.7.16.8")
        .note("ptxas 13.5 makes the first reader of a register wait for its load, so that the value is right")
        .help("put `tcgen05.wait::ld.sync.aligned;` between the load and this place")
}

pub(crate) fn loaded_again(span: Span, reg: &str, first: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    let d = found(
        code::TMEM_LOAD_INCOMPLETE,
        span,
        sure,
        format!("`{reg}` is loaded{when} while another `tcgen05.ld` still writes it"),
    );
    section(d.label(first, "the first load"), AWAIT, "9.7.16.8")
        .help("put `tcgen05.wait::ld.sync.aligned;` between the two loads, or load into other registers")
}

pub(crate) fn released_while_loading(span: Span, load: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    let d = found(
        code::TMEM_LOAD_INCOMPLETE,
        span,
        sure,
        format!("this Tensor Memory is deallocated{when} while a `tcgen05.ld` still reads it"),
    );
    section(d.label(load, "loaded here"), AWAIT, "9.7.16.8")
        .help("put `tcgen05.wait::ld.sync.aligned;` between the load and `tcgen05.dealloc`")
}

pub(crate) fn never_freed(span: Span, sure: bool) -> Diagnostic {
    let what = if sure { "is never deallocated" } else { "is not deallocated by the warp that allocates it" };
    section(
        found(code::TMEM_NOT_DEALLOCATED, span, sure, format!("this Tensor Memory {what}")),
        "a kernel deallocates what it allocates before it ends",
        "9.7.16.7",
    )
    .help("end with `tcgen05.dealloc` of the same address, number of columns and `.cta_group`")
}

pub(crate) fn left_allocated(span: Span, alloc: Span, sure: bool) -> Diagnostic {
    let d = found(
        code::TMEM_NOT_DEALLOCATED,
        span,
        sure,
        "the kernel ends here with Tensor Memory that is still allocated",
    );
    section(d.label(alloc, "allocated here"), "a kernel deallocates what it allocates before it ends", "9.7.16.7")
        .help("put `tcgen05.dealloc` before this exit too")
}

pub(crate) fn alloc_after_relinquish(span: Span, gave: Span, sure: bool) -> Diagnostic {
    let when = if sure { "" } else { " on some path" };
    let d = found(
        code::ALLOCATION_AFTER_RELINQUISH,
        span,
        sure,
        format!("`tcgen05.alloc` comes{when} after the CTA has given up the right to allocate"),
    );
    section(
        d.label(gave, "given up here"),
        "a CTA may not allocate after `tcgen05.relinquish_alloc_permit`",
        "9.7.16.7",
    )
    .help("move `tcgen05.relinquish_alloc_permit` after the last `tcgen05.alloc`")
}

pub(crate) fn dealloc_without_rendezvous(span: Span) -> Diagnostic {
    section(
        suspicious(
            code::DEALLOCATION_BEFORE_RENDEZVOUS,
            span,
            "the CTAs of the pair do not synchronise before their Tensor Memory is deallocated",
        ),
        "`.dealloc` of a pair may or may not wait for the peer, which must no longer access that memory: Table 48",
        "9.7.16.5",
    )
    .help("put `barrier.cluster.arrive; barrier.cluster.wait;` before it in both CTAs")
}

pub(crate) fn accumulator_unwritten(span: Span) -> Diagnostic {
    section(
        suspicious(
            code::UNINITIALISED_REGISTER,
            span,
            "each `tcgen05.mma` of the kernel adds to Tensor Memory that nothing has written",
        ),
        "memory that `tcgen05.alloc` gives holds anything, and `enable-input-d` adds the product to it",
        "9.7.16.10.9",
    )
    .help("make `enable-input-d` false for the first product of a tile")
}
