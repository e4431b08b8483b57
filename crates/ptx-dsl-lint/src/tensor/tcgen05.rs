//! Tensor Memory (PTX ISA 9.7.16): allocations are freed once, by both CTAs of a pair, on every path; accesses of one thread have
//! completed, and are ordered, before another thread accesses the same place.

use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::lanes::Lanes;
use ptx_dsl_analysis::provenance::Provenance;
use ptx_dsl_analysis::reaching::Places;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Meeting, Tensor};
use ptx_dsl_isa::qualifier::q;

mod allocation;
mod columns;
mod commit;
mod fences;
mod meetings;
mod pair;
mod release;
mod stores;

/// More accesses than this are not followed: generated code of such a size would cost seconds.
const MOST: usize = 96;

/// What the rules ask of a kernel, together.
struct Kernel<'a, 'h> {
    flow: &'a Flow<'h>,
    lanes: &'a Lanes,
    places: &'a Places,
    from: &'a Provenance,
}

pub(crate) fn check(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let uses = flow.cfg.any(&|i| i.entry.tensor != Tensor::None);
    if !uses || !flow.function.entry || flow.calls {
        return;
    }
    let kernel = Kernel { flow, lanes, places, from };
    if !pair::check(flow, out) {
        release::check(&kernel, out);
    }
    allocation::check(&kernel, out);
    commit::check(&kernel, out);
    let meetings = meetings::Meetings::new(&kernel);
    stores::check(&kernel, &meetings, out);
    fences::check(&kernel, &meetings, out);
}

/// Does it take this part in Tensor Memory?
fn is(i: &Instr, tensor: Tensor) -> bool {
    i.entry.tensor == tensor
}

/// `tcgen05.wait::st`
fn waits_for_stores(i: &Instr) -> bool {
    is(i, Tensor::Wait) && i.has(q::st)
}

fn fences_before(i: &Instr) -> bool {
    is(i, Tensor::Fence) && i.has(q::before_thread_sync)
}

fn fences_after(i: &Instr) -> bool {
    is(i, Tensor::Fence) && i.has(q::after_thread_sync)
}

/// Does it arrive at a barrier that other threads wait for?
fn tells(i: &Instr) -> bool {
    matches!(i.entry.meeting, Meeting::Arrive | Meeting::Both)
}

/// By block: can it be reached from the end of one of these?
fn behind(flow: &Flow, blocks: &mut dyn Iterator<Item = u32>) -> Vec<bool> {
    let mut stack = Vec::new();
    for b in blocks {
        flow.cfg.push_ways(b, &mut stack);
    }
    let mut out = vec![false; flow.cfg.blocks.len()];
    while let Some(b) = stack.pop() {
        if !std::mem::replace(&mut out[b as usize], true) {
            flow.cfg.push_ways(b, &mut stack);
        }
    }
    out
}
