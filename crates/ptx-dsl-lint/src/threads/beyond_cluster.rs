//! CTAs that the cluster does not have: pairs in clusters of odd size (PTX ISA 9.7.16.5.1), masks and ranks beyond the last CTA
//! (9.7.9.23, 9.7.9.25.4).

use crate::errors::peers as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::induction::Induction;
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_isa::isa::Tensor;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry {
        return;
    }
    let Some(most) = most(flow) else { return };
    pairs(kernel, most);
    beyond(kernel, most);
}

/// The largest number of CTAs in a cluster, if the kernel gives one.
fn most(flow: &Flow) -> Option<u64> {
    match flow.function.reqnctapercluster {
        Some(size) => Some(size.iter().fold(1, |n: u64, k| n.saturating_mul(u64::from(*k)))).filter(|n| *n > 0),
        None => flow.function.maxclusterrank.map(u64::from).filter(|n| *n > 0),
    }
}

/// `.cta_group::2` where some CTA has no peer.
fn pairs(kernel: &Kernel, most: u64) {
    let flow = kernel.flow;
    let exact = flow.function.reqnctapercluster.is_some();
    if most > 1 && (!exact || most.is_multiple_of(2)) {
        return;
    }
    if let Some(i) = flow.cfg.find(&|i| i.entry.effects.tensor != Tensor::None && i.has(q::cta_group_2)) {
        kernel.report(errors::no_pair(i.place_of(q::cta_group_2), i.entry.opcode, most));
    }
}

/// Constant masks and ranks.
fn beyond(kernel: &Kernel, most: u64) {
    let flow = kernel.flow;
    let mut loops = None;
    for (_, at, i) in flow.walk() {
        let mapa = i.opcode == op::mapa;
        let Some(arg) = i.operand(if mapa { "b" } else { "ctaMask" }) else { continue };
        let loops = loops.get_or_insert_with(|| Loops::new(&flow.cfg));
        let Some(fixed) = Induction::new(flow, loops, NONE, &[], None) else { return };
        let Some(number) = fixed.operand(at, &arg.value) else { continue };
        if mapa && number >= most {
            kernel.report(errors::rank_beyond(arg.span, number, most));
        } else if !mapa && most < 32 && number & 0xffff_ffff & !((1 << most) - 1) != 0 {
            kernel.report(errors::mask_beyond(arg.span, number & 0xffff_ffff, most, i.entry.section));
        }
    }
}
