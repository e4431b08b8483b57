//! Messages about other CTAs of the cluster: PTX0656, PTX0694, PTX0695.

use crate::errors::class::{error, found, section, suspicious};
use ptx_dsl_catalogue as code;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::edit::Help;
use ptx_dsl_isa::span::Span;

fn ctas(n: u64) -> String {
    if n == 1 { "one CTA".to_string() } else { format!("{n} CTAs") }
}

pub(crate) fn no_pair(span: Span, op: &str, most: u64) -> Diagnostic {
    let message = if most == 1 {
        format!("this `{op}` needs a pair of CTAs, but the clusters of this kernel have one CTA")
    } else {
        format!("this `{op}` needs a pair of CTAs, but the last of {most} CTAs has no peer")
    };
    section(
        found(code::PAIR_WITHOUT_PEER, span, most == 1, message),
        "a pair is two CTAs of a cluster whose ranks differ in the last bit",
        "9.7.16.5.1",
    )
    .help(
        Help::write(".cta_group::1")
            .then(" in place of `.cta_group::2`, or launch clusters with an even number of CTAs"),
    )
}

pub(crate) fn mask_beyond(span: Span, mask: u64, most: u64, sec: &str) -> Diagnostic {
    let last = 63 - mask.leading_zeros();
    section(
        error(
            code::CTA_OUTSIDE_CLUSTER,
            span,
            format!("the mask {mask:#x} names CTA {last}, but the cluster has {}", ctas(most)),
        ),
        "bit n of the mask is the CTA with rank n in the cluster",
        sec,
    )
    .help(format!("use the bits of {:#x} only", (1u64 << most) - 1))
}

pub(crate) fn rank_beyond(span: Span, rank: u64, most: u64) -> Diagnostic {
    section(
        error(
            code::CTA_OUTSIDE_CLUSTER,
            span,
            format!("this maps an address to CTA {rank}, but the cluster has {}", ctas(most)),
        ),
        "ranks are less than `%cluster_nctarank`",
        "9.7.9.23",
    )
    .help(format!("use a rank up to {}, or launch larger clusters", most - 1))
}

pub(crate) fn late_arrival(span: Span, wait: Option<Span>, leave: Span) -> Diagnostic {
    let message = "the CTA that this arrives at may have exited: nothing there waits for the last arrivals";
    let d = suspicious(code::PEER_MAY_HAVE_EXITED, span, message).label(leave, "CTAs exit here");
    section(
        match wait {
            Some(wait) => d.label(wait, "this waits for the arrivals of the previous round"),
            None => d,
        },
        "the shared memory of a CTA is gone when it exits",
        "5.1.7",
    )
    .help("wait for all stages once more after the loop, or put `barrier.cluster.arrive; barrier.cluster.wait;` before the end in all CTAs")
}

pub(crate) fn some_do_not_wait(span: Span, wait: Span, leave: Span) -> Diagnostic {
    section(
        suspicious(code::PEER_MAY_HAVE_EXITED, span, "some CTAs of this multicast do not wait for it, and may have exited")
            .label(wait, "only some CTAs wait")
            .label(leave, "CTAs exit here"),
        "the shared memory of a CTA is gone when it exits",
        "5.1.7",
    )
    .help("let all CTAs of the mask wait, or put `barrier.cluster.arrive; barrier.cluster.wait;` before the end in all CTAs")
}
