//! Barriers that some threads of the CTA do not reach (PTX ISA 9.7.13.1), mbarriers that several threads initialise (9.7.13.15.9).

use crate::errors::{completion, convergence, flow as errors};
use crate::kernel::Kernel;
use crate::spelling::opcode;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::lanes::LaneFact;
use ptx_dsl_analysis::reaching::{OtherThreads, ReachingThreads, only_elected};
use ptx_dsl_analysis::sites::{Site, exact};
use ptx_dsl_analysis::threads::{Set, has_thread, missing, union_with};
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
    let mut sites: Vec<Whole> = Vec::new();
    'walk: for (block, at, i) in flow.walk() {
        if !waits(i) {
            continue;
        }
        let Some(id) = i.constant("a") else { return };
        let present = kernel.threads_at(block, at);
        if i.operand("b").is_none() {
            sites.push(Whole { id, site: Site { block, at }, present: present.clone() });
        }
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
            kernel.report(convergence::barrier_without_all(i.span, &opcode(i), t, present.why, i.entry.section));
            return;
        }
    }
    for of in &sites {
        let on_one_side = missing(&of.present.set, n).is_some()
            && of.present.why.is_some()
            && of.present.others == OtherThreads::Stay
            && of.present.whole_warps(lanes.cta_size);
        if on_one_side && let Some(t) = passes_by(kernel, of, &sites, n) {
            let i = flow.instr(of.site.at);
            kernel.report(convergence::barrier_passed_by(i.span, &opcode(i), t, of.present.why, i.entry.section));
            return;
        }
    }
}

/// A wait for a barrier for the whole CTA.
struct Whole {
    id: u64,
    site: Site,
    present: ReachingThreads,
}

/// A thread that a branch leads past a barrier, to no other wait for it before the two ways join.
fn passes_by(kernel: &Kernel, of: &Whole, sites: &[Whole], n: usize) -> Option<usize> {
    let flow = kernel.flow;
    let cfg = &flow.cfg;
    let missing = missing(&of.present.set, n)?;
    let mut b = of.site.block;
    loop {
        let up = cfg.idom[b as usize];
        if up == NONE || up == b {
            return None;
        }
        if !cfg.post_dominates(b, up) && leads_elsewhere(kernel, up, b, missing) {
            let other = cfg.blocks[up as usize].succ.iter().map(|e| e.to);
            let mut other = other.filter(|to| !reaches_before(flow, *to, of.site.block, up));
            let met = |from: u32| {
                sites.iter().any(|s| s.id == of.id && reaches_before(flow, from, s.site.block, cfg.ipdom[up as usize]))
            };
            return other.next().is_some_and(|from| !met(from) && !other.any(met)).then_some(missing);
        }
        b = up;
    }
}

/// Does the branch at the end of a block lead this thread elsewhere than to the block below it?
fn leads_elsewhere(kernel: &Kernel, up: u32, below: u32, thread: usize) -> bool {
    let Kernel { flow, lanes, .. } = *kernel;
    let Some((p, _)) = flow.cfg.branch(up).and_then(|branch| flow.guard(branch)) else { return false };
    let Some(LaneFact::Pred(fact)) = lanes.facts.get(flow.origin(p) as usize) else { return false };
    let goes = |when: bool| has_thread(&lanes.sets[usize::from(if when { fact.yes } else { fact.no })], thread);
    let edges = &flow.cfg.blocks[up as usize].succ;
    exact(flow, lanes, p) && edges.iter().any(|e| e.to != below && e.when.is_some_and(goes))
}

/// Is block `to` reachable from block `from` without passing a block `end`?
fn reaches_before(flow: &Flow, from: u32, to: u32, end: u32) -> bool {
    let mut seen = vec![false; flow.cfg.blocks.len()];
    let mut stack = vec![from];
    while let Some(b) = stack.pop() {
        if b == end || std::mem::replace(&mut seen[b as usize], true) {
            continue;
        }
        if b == to {
            return true;
        }
        flow.cfg.push_successors(b, &mut stack);
    }
    false
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
        let Some(Operand::Address(Base::Var(v), offset)) = i.value("addr") else { continue };
        let present = kernel.threads_at(block, at);
        let every = kernel.every_lane(&present, block, at);
        let several = present.warps(lanes.cta_size).len() > 1 && n > 32;
        if every || (present.elected && several && only_elected(flow, lanes, block, at)) {
            let (name, _) = flow.place_name(v.0, *offset);
            kernel.report(errors::init_by_many(i.span, name, !every));
        }
    }
}
