//! CTAs that the cluster does not have: pairs in clusters that hold none (PTX ISA 9.7.16.5), masks and ranks beyond the last CTA
//! (9.7.9.23, 9.7.9.25.4).

use super::Flow;
use super::cfg::NONE;
use super::loops::Loops;
use super::rounds::Rounds;
use crate::errors::peers as errors;
use ptx_dsl_table::diag::Diagnostic;

pub(super) fn check(flow: &Flow, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry {
        return;
    }
    let Some(most) = most(flow) else { return };
    pairs(flow, most, out);
    beyond(flow, most, out);
}

/// As many CTAs as a cluster has at most, if that is said.
fn most(flow: &Flow) -> Option<u64> {
    match flow.function.reqnctapercluster {
        Some([x, y, z]) => Some(u64::from(x) * u64::from(y) * u64::from(z)).filter(|n| *n > 0),
        None => flow.function.maxclusterrank.map(u64::from).filter(|n| *n > 0),
    }
}

/// `.cta_group::2` where a CTA has no other one to its pair.
fn pairs(flow: &Flow, most: u64, out: &mut Vec<Diagnostic>) {
    let exact = flow.function.reqnctapercluster.is_some();
    if most > 1 && (!exact || most.is_multiple_of(2)) {
        return;
    }
    if let Some(i) = flow.cfg.find(&|i| i.entry.opcode.starts_with("tcgen05.") && i.has(".cta_group::2")) {
        out.push(errors::no_pair(i.span, i.entry.opcode, most));
    }
}

/// Constant masks and ranks.
fn beyond(flow: &Flow, most: u64, out: &mut Vec<Diagnostic>) {
    let mut loops = None;
    for (_, at, i) in flow.walk() {
        let mapa = i.entry.opcode == "mapa";
        let Some(arg) = i.operand(if mapa { "b" } else { "ctaMask" }) else { continue };
        let loops = loops.get_or_insert_with(|| Loops::new(&flow.cfg));
        let Some(fixed) = Rounds::new(flow, loops, NONE, &[], None) else { return };
        let Some(number) = fixed.operand(at, &arg.value) else { continue };
        if mapa && number >= most {
            out.push(errors::rank_beyond(arg.span, number, most));
        } else if !mapa && most < 32 && number & 0xffff_ffff & !((1 << most) - 1) != 0 {
            out.push(errors::mask_beyond(arg.span, number & 0xffff_ffff, most));
        }
    }
}
