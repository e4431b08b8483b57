//! Barriers that not all threads come to (PTX ISA 9.7.13.1), mbarriers that several threads initialise (9.7.13.15.9).

use super::Flow;
use super::converge::{Places, Who, every_lane, opcode};
use super::lanes::{Fact, Lanes, Set};
use super::ssa::UNDEF;
use crate::errors::{completion, flow as errors};
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Base, Instr, Operand};

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || flow.calls {
        return;
    }
    barriers(flow, lanes, places, out);
    inits(flow, lanes, places, out);
    arrivals(flow, out);
}

/// Arrivals at a barrier that no thread waits at.
fn arrivals(flow: &Flow, out: &mut Vec<Diagnostic>) {
    let id = |i: &Instr| match i.operand("a").map(|a| &a.value) {
        Some(Operand::Imm(id)) => Some(*id),
        _ => None,
    };
    let at_barrier = |i: &&&Instr| {
        let op = i.entry.opcode;
        (op.starts_with("bar.") || op.starts_with("barrier.")) && !op.contains("warp") && !op.contains("cluster")
    };
    let mut said = Vec::new();
    for i in flow.cfg.instrs.iter().filter(at_barrier).filter(|i| i.entry.opcode.ends_with(".arrive")) {
        let Some(n) = id(i) else { return };
        let met = flow.cfg.instrs.iter().filter(at_barrier).any(|o| waits(o) && id(o).is_none_or(|m| m == n));
        if !met && !said.contains(&n) {
            said.push(n);
            out.push(completion::nobody_waits(i.span, n));
        }
    }
}

/// Waits for a barrier of the CTA.
fn waits(i: &Instr) -> bool {
    matches!(
        i.entry.opcode,
        "bar.sync"
            | "bar.cta.sync"
            | "bar.red"
            | "bar.cta.red"
            | "barrier.sync"
            | "barrier.cta.sync"
            | "barrier.red"
            | "barrier.cta.red"
    )
}

/// A barrier without a number of threads, all of whose places together are not for all threads of the CTA.
fn barriers(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    let Some(n) = lanes.threads.exact else { return };
    let mut met: Vec<(u64, Set, &Instr, Who)> = Vec::new();
    let mut unclear = false;
    let block_of = std::cell::Cell::new(0);
    flow.walk(
        |b| block_of.set(b),
        |at, i| {
            if !waits(i) {
                return;
            }
            let Some(Operand::Imm(id)) = i.operand("a").map(|a| &a.value) else {
                unclear = true;
                return;
            };
            let who = places.who(flow, lanes, block_of.get(), at);
            match met.iter_mut().find(|m| m.0 == *id) {
                Some(m) => m.1.iter_mut().zip(who.set).for_each(|(a, b)| *a |= b),
                None if i.operand("b").is_none() => met.push((*id, who.set, i, who)),
                // With a number of threads it is for whom it says, at least.
                None => met.push((*id, super::lanes::ALL, i, who)),
            }
        },
    );
    for (_, set, i, who) in met {
        let missing = (0..n).find(|t| set[t / 64] >> (t % 64) & 1 == 0);
        // Who has left is not waited for. Single lanes are another rule's business.
        if let Some(t) = missing
            && !unclear
            && who.why.is_some()
            && !who.others_left
            && who.whole(lanes.threads)
        {
            out.push(errors::barrier_without_all(i.span, &opcode(i), t, who.why, i.entry.section));
        }
    }
}

/// One object, named by its variable, that more than one thread initialises.
fn inits(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    let Some(n) = lanes.threads.exact.filter(|n| *n > 1) else { return };
    let block_of = std::cell::Cell::new(0);
    flow.walk(
        |b| block_of.set(b),
        |at, i| {
            if i.entry.opcode != "mbarrier.init" {
                return;
            }
            let Some(Operand::Address(Base::Var(v), _)) = i.operand("addr").map(|a| &a.value) else { return };
            let block = block_of.get();
            let who = places.who(flow, lanes, block, at);
            let every = every_lane(flow, lanes, &who, block, at);
            let several = who.warps(lanes.threads).len() > 1 && n > 32;
            if every || (who.elected && several && only_elected(flow, lanes, block, at)) {
                let name = flow.module.vars.get(v.0 as usize).map_or("", |v| v.name.as_str());
                out.push(errors::init_by_many(i.span, name, !every));
            }
        },
    );
}

/// Is an `elect.sync` that whole warps run the only thing that keeps lanes from this place?
pub(super) fn only_elected(flow: &Flow, lanes: &Lanes, block: u32, at: u32) -> bool {
    let elects = |i: u32| match flow.ssa.guard(i, flow.cfg.instrs[i as usize]) {
        Some((p, _)) => {
            matches!(lanes.facts[p as usize], Fact::Pred(f) if f.elected != [UNDEF; 2] && f.yes == 0 && f.no == 0)
                && matches!(flow.ssa.maker(p), Some(m) if flow.cfg.instrs[m as usize].entry.opcode == "elect.sync")
        }
        None => false,
    };
    if !lanes.apart[block as usize] {
        return elects(at);
    }
    let above = flow.cfg.idom[block as usize];
    let guarded = flow.cfg.instrs[at as usize].pred.is_some();
    !guarded
        && flow.cfg.blocks.get(above as usize).is_some()
        && !lanes.apart[above as usize]
        && flow.cfg.branch(above).is_some_and(elects)
}
