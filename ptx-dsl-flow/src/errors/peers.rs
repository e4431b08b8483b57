//! The catalogue of other CTAs of the cluster: 0694, 0695, and peers that may have left.

use super::{found, section};
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::span::Span;

fn ctas(n: u64) -> String {
    if n == 1 { "one CTA".to_string() } else { format!("{n} CTAs") }
}

pub(crate) fn no_pair(span: Span, op: &str, most: u64) -> Diagnostic {
    let message = if most == 1 {
        format!("this `{op}` is for a pair of CTAs, and a cluster of this kernel has one CTA")
    } else {
        format!("this `{op}` is for a pair of CTAs, and of {most} CTAs the last one has no peer")
    };
    section(
        found(694, span, most == 1, message),
        "a pair is two CTAs of a cluster whose ranks differ in the last bit",
        "9.7.16.5.1",
    )
    .help("write `.cta_group::1`, or launch clusters of an even number of CTAs: `.reqnctapercluster 2`")
}

pub(crate) fn mask_beyond(span: Span, mask: u64, most: u64) -> Diagnostic {
    let last = 63 - mask.leading_zeros();
    section(
        found(695, span, true, format!("the mask {mask:#x} names CTA {last}, and the cluster has {}", ctas(most))),
        "bit n of the mask is for the CTA with rank n in the cluster",
        "9.7.9.25.4.1",
    )
    .help(format!("name CTAs up to {} only: a mask within {:#x}", most - 1, (1u64 << most) - 1))
}

pub(crate) fn rank_beyond(span: Span, rank: u64, most: u64) -> Diagnostic {
    section(
        found(695, span, true, format!("this is the address in CTA {rank}, and the cluster has {}", ctas(most))),
        "the rank is below `%cluster_nctarank`",
        "9.7.9.23",
    )
    .help(format!("write a rank up to {}, or launch larger clusters", most - 1))
}
