//! Barriers that some threads of the CTA do not reach (PTX ISA 9.7.13.1), mbarriers that several threads initialise (9.7.13.15.9).

use crate::errors::{completion, flow as errors};
use crate::kernel::Kernel;
use crate::spelling::opcode;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::reaching::{OtherThreads, ReachingThreads, only_elected};
use ptx_dsl_analysis::threads::{Set, missing, union_with};
use ptx_dsl_isa::hir::{Base, Instr, Operand};
use ptx_dsl_isa::isa::{self, Meeting};
use ptx_dsl_isa::opcode::op;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry || flow.calls {
        return;
    }
    barriers(kernel);
    inits(kernel);
    arrivals(kernel);
}

/// Arrivals at a barrier that no thread waits at.
fn arrivals(kernel: &Kernel) {
    let flow = kernel.flow;
    let mut reported = Vec::new();
    for i in &flow.cfg.instrs {
        if !at_barrier(i) || i.entry.effects.meeting != Meeting::Arrive {
            continue;
        }
        let Some(n) = i.constant("a") else { return };
        if !met(flow, n) && !reported.contains(&n) {
            reported.push(n);
            kernel.report(completion::nobody_waits(i.span, n));
        }
    }
}

/// Is it an instruction of a barrier of the CTA?
fn at_barrier(i: &Instr) -> bool {
    i.entry.effects.barrier == isa::Barrier::Cta
}

/// Does some thread wait at this barrier, or at an unknown one?
fn met(flow: &Flow, n: u64) -> bool {
    for i in &flow.cfg.instrs {
        if waits(i) && i.constant("a").is_none_or(|m| m == n) {
            return true;
        }
    }
    false
}

/// Waits for a barrier of the CTA.
fn waits(i: &Instr) -> bool {
    at_barrier(i) && i.entry.effects.meeting != Meeting::Arrive
}

/// Barriers without a thread count whose sites together do not cover all threads of the CTA.
fn barriers(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    let Some(n) = lanes.cta_size.exact else { return };
    let mut list: Vec<Barrier> = Vec::new();
    'walk: for (block, at, i) in flow.walk() {
        if !waits(i) {
            continue;
        }
        let Some(id) = i.constant("a") else { return };
        let present = kernel.threads_at(block, at);
        for b in &mut list {
            if b.id == id {
                union_with(&mut b.set, &present.set);
                continue 'walk;
            }
        }
        // With a thread count the barrier need not cover the CTA.
        let set = if i.operand("b").is_none() { present.set } else { ptx_dsl_analysis::threads::ALL };
        list.push(Barrier { id, set, at, present });
    }
    for Barrier { set, at, present, .. } in &list {
        // Exited threads are not waited for. Single lanes are covered by another rule.
        if let Some(t) = missing(set, n)
            && present.why.is_some()
            && present.others == OtherThreads::Stay
            && present.whole_warps(lanes.cta_size)
        {
            let i = flow.instr(*at);
            kernel.report(errors::barrier_without_all(i.span, &opcode(i), t, present.why, i.entry.section));
        }
    }
}

/// A barrier, the threads that reach it, and its first site.
struct Barrier {
    id: u64,
    set: Set,
    at: u32,
    present: ReachingThreads,
}

/// One object, named by its variable, that more than one thread initialises.
fn inits(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    let Some(n) = lanes.cta_size.exact else { return };
    for (block, at, i) in flow.walk() {
        if i.opcode != op::mbarrier_init || n <= 1 {
            continue;
        }
        let Some(Operand::Address(Base::Var(v), _)) = i.value("addr") else { continue };
        let present = kernel.threads_at(block, at);
        let every = kernel.every_lane(&present, block, at);
        let several = present.warps(lanes.cta_size).len() > 1 && n > 32;
        if every || (present.elected && several && only_elected(flow, lanes, block, at)) {
            let name = flow.variable_name(v.0);
            kernel.report(errors::init_by_many(i.span, name, !every));
        }
    }
}
