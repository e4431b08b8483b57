//! CTA pairs: with `.cta_group::2` a warp of each CTA executes `tcgen05.alloc`, `dealloc` and `relinquish_alloc_permit` (Table 46
//! of 9.7.16.5). Evaluates the kernel for both ranks and reports an instruction that only one of them reaches.

use crate::errors::tensor as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::ranks::Rank;
use ptx_dsl_isa::isa::Tensor;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::span::Span;

/// The largest cluster (PTX ISA 5.1.7, with a launch attribute).
const CTAS: u32 = 16;

struct Site {
    block: u32,
    at: u32,
    kind: Tensor,
}

/// One CTA of a pair.
struct Cta {
    rank: u32,
    values: Rank,
    reached: Vec<bool>,
}

/// Returns whether it reported something.
pub(crate) fn check(kernel: &Kernel) -> bool {
    let flow = kernel.flow;
    let mut sites = Vec::new();
    for (block, at, i) in flow.walk() {
        let kind = i.entry.effects.tensor;
        if matches!(kind, Tensor::Alloc | Tensor::Dealloc | Tensor::Relinquish) && i.has(q::cta_group_2) {
            sites.push(Site { block, at, kind });
        }
    }
    if sites.is_empty() {
        return false;
    }
    // Without a directive the cluster has at least two CTAs.
    let ctas = match flow.function.reqnctapercluster {
        Some([x, y, z]) => x.max(1).saturating_mul(y.max(1)).saturating_mul(z.max(1)).min(CTAS),
        None => 2,
    };
    for even in (0..ctas / 2 * 2).step_by(2) {
        let pair = [Cta::new(flow, even), Cta::new(flow, even + 1)];
        let before = kernel.reported();
        for kind in [Tensor::Alloc, Tensor::Dealloc, Tensor::Relinquish] {
            let first = pair.each_ref().map(|cta| cta.first(flow, &sites, kind));
            let (one, site) = match first {
                [Some(site), None] => (0, site),
                [None, Some(site)] => (1, site),
                _ => continue,
            };
            let why = diverging_branch(flow, site, &pair[1 - one]);
            let sure = kind != Tensor::Relinquish;
            kernel.report(errors::one_of_a_pair(
                flow.instr(site.at).span,
                flow.instr(site.at).entry.opcode,
                pair[one].rank,
                why,
                sure,
            ));
        }
        if kernel.reported() > before {
            return true;
        }
    }
    false
}

impl Cta {
    fn new(flow: &Flow, rank: u32) -> Cta {
        let values = Rank::new(flow, rank);
        let reached = values.reached(flow);
        Cta { rank, values, reached }
    }

    /// The first of these that the CTA may run.
    fn first<'s>(&self, flow: &Flow, sites: &'s [Site], kind: Tensor) -> Option<&'s Site> {
        sites.iter().find(|s| s.kind == kind && self.reached[s.block as usize] && self.values.may_run(flow, s.at))
    }
}

/// The branch where the other CTA leaves the path to a site.
fn diverging_branch(flow: &Flow, site: &Site, other: &Cta) -> Option<Span> {
    let mut b = site.block;
    if other.reached[b as usize] {
        return None;
    }
    loop {
        let up = flow.cfg.idom[b as usize];
        if up == ptx_dsl_analysis::cfg::NONE || up == b {
            return None;
        }
        if other.reached[up as usize] {
            return flow.cfg.branch(up).map(|at| flow.instr(at).span);
        }
        b = up;
    }
}
