//! The memory of other CTAs of the cluster: when it is there (PTX ISA 5.1.7, 9.7.13.3); registers that warpgroups hand over
//! (9.7.19.5).

use super::Flow;
use super::converge::Places;
use super::copies::mbarrier_wait;
use super::dataflow::{Bits, Meet, simple};
use super::lanes::{Lanes, Shared};
use super::memory::{constant, debts, leaves, owe, owed, region, settle};
use super::provenance::Provenance;
use crate::errors::protocol as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::Instr;

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let has = |op: &str| flow.cfg.any(&|i| i.entry.opcode == op);
    if has("mapa") {
        remote(flow, lanes, from, out);
    }
    if has("setmaxnreg") {
        registers(flow, lanes, places, out);
    }
}

/// Touches the memory of another CTA: the operand.
fn touches<'h>(flow: &Flow, from: &Provenance, at: u32, i: &'h Instr) -> Option<&'h ptx_dsl_table::hir::Arg> {
    let word = i.entry.opcode;
    let access = matches!(
        word,
        "ld" | "st" | "atom" | "red" | "st.async" | "red.async" | "mbarrier.arrive" | "mbarrier.arrive_drop"
    );
    // With the own CTA's space on a mapped address there is another mistake to tell of.
    if !access || i.has(".shared") || i.has(".shared::cta") {
        return None;
    }
    let arg = i.address()?;
    region(flow, from, at, arg, 0).filter(|r| r.mapped).map(|_| arg)
}

/// Waits for another CTA, or might.
fn hears(i: &Instr) -> bool {
    let op = i.entry.opcode;
    op == "barrier.cluster.wait"
        || mbarrier_wait(i)
        || matches!(op, "call" | "atom" | "griddepcontrol" | "tcgen05.alloc")
        || (op == "ld" && [".acquire", ".relaxed", ".volatile", ".mmio"].iter().any(|q| i.has(q)))
}

/// Tells another CTA that something is done, or might.
fn tells(i: &Instr) -> bool {
    let op = i.entry.opcode;
    op.starts_with("barrier.cluster")
        || op.starts_with("mbarrier.arrive")
        || op.starts_with("tcgen05.")
        || op.starts_with("cp.")
        || mbarrier_wait(i)
        || matches!(op, "call" | "atom" | "red" | "st.async" | "red.async" | "fence" | "membar")
        || (matches!(op, "st" | "ld")
            && [".acquire", ".release", ".relaxed", ".volatile", ".mmio"].iter().any(|q| i.has(q)))
}

fn remote(flow: &Flow, lanes: &Lanes, from: &Provenance, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry {
        return;
    }
    let step = |i: &Instr, set: &mut Bits| {
        if hears(i) {
            set.set(0);
        }
    };
    let heard = simple(&flow.cfg, 1, Meet::Any, &mut |_, i, s| step(i, s));
    'all: for &b in &flow.cfg.rpo {
        let mut set = heard[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            if let Some(arg) = touches(flow, from, at, i)
                && !set.has(0)
            {
                out.push(errors::peer_not_there(arg.span, i.entry.opcode));
                break 'all;
            }
            step(i, &mut set);
        }
    }
    let mut last = None;
    let mut said = false;
    let mut step = |at: u32, i: &Instr, set: &mut Bits| {
        // An arrival tells of itself; what it reaches must be there all the same, but its owner waits for it.
        if touches(flow, from, at, i).is_some()
            && !i.entry.opcode.starts_with("mbarrier")
            && !i.entry.opcode.contains("async")
        {
            owe(set, 0);
        } else if tells(i) {
            settle(set, 0);
        }
    };
    let (arrivals, most) = arrivals(flow);
    let mut see = |b: u32, at: u32, i: &Instr, set: &Bits| {
        if touches(flow, from, at, i).is_some() && !i.entry.opcode.starts_with("mbarrier") {
            last = Some(i.span);
        }
        if leaves(i) && owed(set, 0) && !said && {
            let (least, here) = arrivals[b as usize];
            let closed = if whole_cta(flow, lanes, b, at) { least != here } else { i.pred.is_some() || least != most };
            !closed
        } {
            said = true;
            if let Some(span) = last {
                out.push(errors::leaves_peer(span, i.span));
            }
        }
    };
    debts(flow, 1, &mut step, &mut see);
}

/// How often a thread has arrived at the cluster barrier, at least and at most, at the end of each block, and at
/// most in the kernel. Who leaves counts as arrived for those who arrive more often: they close the cluster for him.
fn arrivals(flow: &Flow) -> (Vec<(u32, u32)>, u32) {
    const MANY: u32 = 1000;
    let arrives = |b: u32| {
        let n = flow.cfg.range(b).filter(|at| flow.cfg.instrs[*at as usize].entry.opcode == "barrier.cluster.arrive");
        n.count() as u32
    };
    let mut number = vec![0; flow.cfg.blocks.len()];
    for (k, b) in flow.cfg.rpo.iter().enumerate() {
        number[*b as usize] = k;
    }
    let mut at_end = vec![(0u32, 0u32); flow.cfg.blocks.len()];
    let mut most = 0;
    for &b in &flow.cfg.rpo {
        let pred = &flow.cfg.blocks[b as usize].pred;
        let own = arrives(b);
        let forward = pred.iter().filter(|p| number[p.0 as usize] < number[b as usize]);
        let before = forward.map(|p| at_end[p.0 as usize]);
        let before = before.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0));
        at_end[b as usize] = (before.0 + own, before.1 + own);
        most = most.max(before.1 + own);
        if own > 0 && super::mbarriers::in_loop(flow, b) {
            most = most.max(MANY);
        }
    }
    (at_end, most)
}

/// Does the whole CTA run the instruction if one of its threads does?
fn whole_cta(flow: &Flow, lanes: &Lanes, block: u32, at: u32) -> bool {
    let shared = |at: u32| {
        let guard = flow.ssa.guard(at, flow.cfg.instrs[at as usize]);
        guard.is_none_or(|(p, _)| lanes.shared(p) == Shared::Cta)
    };
    if !shared(at) {
        return false;
    }
    let mut b = block;
    loop {
        let up = flow.cfg.idom[b as usize];
        if up == super::cfg::NONE || up == b {
            return up == b;
        }
        if flow.cfg.ipdom[up as usize] != b && flow.cfg.branch(up).is_some_and(|i| !shared(i)) {
            return false;
        }
        b = up;
    }
}

/// `setmaxnreg`: what all warpgroups together ask for, and who of a warpgroup asks.
fn registers(flow: &Flow, lanes: &Lanes, places: &Places, out: &mut Vec<Diagnostic>) {
    let Some(n) = lanes.threads.exact else { return };
    // What each thread has at the end, if only one site is for it.
    let mut have: Vec<Option<u64>> = vec![None; n];
    let mut twice = false;
    let mut grows = None;
    let here = std::cell::Cell::new(0);
    flow.walk(
        |b| here.set(b),
        |at, i| {
            if i.entry.opcode != "setmaxnreg" {
                return;
            }
            let Some(count) = constant(i, "imm-reg-count") else { return };
            let who = places.who(flow, lanes, here.get(), at);
            let there = |t: usize| who.set[t / 64] >> (t % 64) & 1 == 1;
            let part = (0..n.div_ceil(128)).find(|g| {
                let group = g * 128..(g * 128 + 128).min(n);
                group.clone().any(there) && !group.clone().all(there)
            });
            if let Some(g) = part {
                out.push(errors::part_of_warpgroup(i.span, g));
            }
            for (t, slot) in have.iter_mut().enumerate() {
                if there(t) {
                    twice |= slot.is_some();
                    *slot = Some(count);
                }
            }
            if i.has(".inc") {
                grows = grows.or(Some(i.span));
            }
        },
    );
    let Some(span) = grows.filter(|_| !twice) else { return };
    let threads = n as u64;
    let blocks = u64::from(flow.function.minnctapersm.unwrap_or(1).max(1));
    // A CTA gets what it was launched with; that is never more than its part of the 64 K registers.
    let most = match flow.function.maxnreg {
        Some(r) => u64::from(r) * threads,
        None => 65536 / blocks,
    }
    .min(65536);
    let start = (most / threads / 8 * 8).min(255);
    let asked: u64 = have.iter().map(|h| h.unwrap_or(start)).sum();
    if asked > most {
        out.push(errors::too_many_registers(span, asked, most));
    }
}
