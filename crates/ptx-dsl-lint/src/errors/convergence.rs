//! Messages about instructions that a part of their threads runs.

use crate::errors::class::{at, error, found, here, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::edit::Help;
use ptx_dsl_isa::span::Span;

const BRANCH: &str = "because of this branch";

pub(crate) fn warp_in_part(span: Span, op: &str, one: bool, why: Option<Span>, sure: bool) -> Diagnostic {
    let d =
        found(code::TMEM_IN_PART_OF_WARP, span, sure, format!("`{op}` is issued by a whole warp, but {}", here(one)));
    section(at(d, why, BRANCH), "Table 46 gives who issues each `tcgen05` instruction", "9.7.16.5").help(
        "run it in all lanes of one warp: choose the warp with a predicate that is uniform in the warp, such as one that compares `%tid.x` with 32",
    )
}

/// `several`: how many lanes of a warp run it, if not all.
pub(crate) fn thread_in_lanes(span: Span, op: &str, several: Option<u32>, sure: bool) -> Diagnostic {
    let who = match several {
        Some(n) => format!("{n} lanes of a warp run it"),
        None => "every lane of the warp runs it".to_string(),
    };
    section(
        found(code::SINGLE_THREAD_BY_WARP, span, sure, format!("`{op}` is issued by a single thread, but {who}")),
        "each thread that runs it starts the operation again: Table 46",
        "9.7.16.5",
    )
    .help("elect a lane: `elect.sync _|p, 0xffffffff;`, and guard the instruction with `@p`")
}

pub(crate) fn aligned_in_part(span: Span, op: &str, one: bool, why: Option<Span>, sure: bool, sec: &str) -> Diagnostic {
    let d = found(
        code::ALIGNED_DIVERGENT,
        span,
        sure,
        format!("all lanes of a warp must run `{op}` together, but {}", here(one)),
    );
    let d = section(
        at(d, why, BRANCH),
        "an aligned instruction in conditional code needs a condition that is uniform in the warp",
        sec,
    );
    d.help("move it to where the lanes have converged")
}

pub(crate) fn aligned_uneven(span: Span, op: &str, why: Span, sec: &str) -> Diagnostic {
    let d = suspicious(
        code::ALIGNED_DIVERGENT,
        span,
        format!("all lanes of a warp must run `{op}` together, but some may go another way"),
    );
    let d = section(
        if why == span { d } else { d.label(why, "each lane compares its own value here") },
        "an aligned instruction in conditional code needs a condition that is uniform in the warp",
        sec,
    );
    d.help("move it to where the lanes have converged")
}

pub(crate) fn mask_names_absent(
    span: Span,
    op: &str,
    mask: u32,
    what: &str,
    why: Option<Span>,
    sure: bool,
    sec: &str,
) -> Diagnostic {
    let d = found(
        code::MEMBER_MASK,
        span,
        sure,
        format!("the mask {mask:#x} of `{op}` names lanes that cannot run it: {what}"),
    );
    section(at(d, why, BRANCH), "every lane that the mask names runs the instruction with the same mask", sec)
        .help("move it to where all of them are, or name only the lanes that are here")
}

pub(crate) fn elects_in_part(span: Span, mask: u32, there: u32) -> Diagnostic {
    let d = suspicious(
        code::MEMBER_MASK,
        span,
        format!("the mask {mask:#x} of `elect.sync` names lanes that the CTA does not have"),
    );
    section(d, "every lane that the mask names runs the instruction with the same mask", "9.7.13.14")
        .help(format!("name the lanes that there are: `{there:#x}`"))
}

pub(crate) fn mask_lacks_lanes(span: Span, op: &str, mask: u32, lacking: u32, sec: &str) -> Diagnostic {
    let lane = lacking.trailing_zeros();
    let d = error(
        code::MEMBER_MASK,
        span,
        format!("every lane runs this `{op}`, and its mask {mask:#x} does not name lane {lane}"),
    );
    section(d, "a lane that runs the instruction is in its mask", sec)
        .help(Help::write("0xffffffff").then(", or let only those lanes run it"))
}

pub(crate) fn barrier_without_all(span: Span, op: &str, missing: usize, why: Option<Span>, sec: &str) -> Diagnostic {
    let d = suspicious(
        code::BARRIER_NOT_REACHED,
        span,
        format!("this `{op}` waits for the whole CTA, but thread {missing} never reaches it"),
    );
    section(at(d, why, BRANCH), "without a number of threads a barrier is for all threads of the CTA", sec).help(
        format!(
            "give the number of threads that wait here, and use a barrier other than 0: `{op} 1, 32;` for one warp"
        ),
    )
}

pub(crate) fn barrier_passed_by(span: Span, op: &str, missing: usize, why: Option<Span>, sec: &str) -> Diagnostic {
    let message = format!("this `{op}` waits for the whole CTA, but thread {missing} goes past it");
    section(
        at(suspicious(code::BARRIER_NOT_REACHED, span, message), why, BRANCH),
        "without a number of threads a barrier is for all threads of the CTA",
        sec,
    )
    .help(format!(
        "put it where all threads come, or give the number of threads that wait here: `{op} 1, 32;` for one warp"
    ))
}
