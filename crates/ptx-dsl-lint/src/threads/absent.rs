//! Lanes that a constant mask names, but that go another way: may they exit without waiting for the lanes that execute the instruction?
//! `.sync` instructions wait only for the lanes of their mask that have not exited (PTX ISA 9.7.13).

use crate::kernel::Kernel;
use crate::threads::convergence::constant_mask;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::issue::{aligned, tcgen05, whole_warps};
use ptx_dsl_analysis::lanes::LaneFact;
use ptx_dsl_analysis::reaching::ReachingThreads;
use ptx_dsl_analysis::ssa::{UNDEF, Val};
use ptx_dsl_analysis::threads::{Set, disjoint};
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Barrier, Control, Meeting};

/// What the lanes do that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Some lane waits for those that execute the instruction, or never exits.
    Waits,
    /// They may exit, after work of their own.
    Exits,
    /// They may exit, and do nothing else, or come past the instruction again before.
    ExitsIdle,
}

/// A condition that keeps threads from an instruction.
struct Condition {
    /// The threads that it keeps away; `None` if an election decides.
    away: Option<Set>,
    /// The block in which they go on, and its first instruction that they execute.
    targets: Vec<(u32, u32)>,
    /// The block in which the ways part.
    parts: u32,
}

/// The fate of the lanes in `mask` that do not come to instruction `at` of `block`.
pub(crate) fn fate(kernel: &Kernel, block: u32, at: u32, present: &ReachingThreads, mask: u32) -> Fate {
    let list = conditions(kernel, block, at);
    let mut fates = Vec::with_capacity(list.len());
    for condition in &list {
        let keeps_some = present.warps(kernel.lanes.cta_size).iter().any(|(w, _)| lanes_of(condition, *w) & mask != 0);
        fates.push(keeps_some.then(|| leaves(kernel, condition, present)));
    }
    let lanes_with = |w: usize, waits: bool| {
        let of = list.iter().zip(&fates).filter(|(_, f)| f.is_some_and(|f| (f == Fate::Waits) == waits));
        of.fold((0, false), |(bits, elects), (c, _)| (bits | lanes_of(c, w), elects | c.away.is_none()))
    };
    let some_lane_waits = |(w, bits): (usize, u32)| {
        let (waiting, elects) = lanes_with(w, true);
        let (leaving, elects_away) = lanes_with(w, false);
        let named = mask & ReachingThreads::existing_lanes(w, bits, kernel.lanes.cta_size) & !leaving;
        if elects { !elects_away && named.count_ones() > 1 } else { named & waiting != 0 }
    };
    if present.warps(kernel.lanes.cta_size).into_iter().all(some_lane_waits) {
        return Fate::Waits;
    }
    if fates.iter().flatten().all(|f| *f == Fate::ExitsIdle) { Fate::ExitsIdle } else { Fate::Exits }
}

/// The lanes of a warp that a condition keeps away. An election keeps all away but one.
fn lanes_of(condition: &Condition, w: usize) -> u32 {
    match &condition.away {
        Some(set) => (set[w / 2] >> (32 * (w % 2))) as u32,
        None => u32::MAX,
    }
}

/// The guard of an instruction and the branches above it that keep threads away.
fn conditions(kernel: &Kernel, block: u32, at: u32) -> Vec<Condition> {
    let cfg = &kernel.flow.cfg;
    let mut out = Vec::new();
    if let Some((p, positive)) = kernel.flow.guard(at) {
        out.extend(condition(kernel, p, positive, vec![(block, at + 1)], block));
    }
    let mut b = block;
    for _ in 0..200 {
        let up = cfg.idom[b as usize];
        if up == NONE || up == b {
            break;
        }
        if let Some(branch) = cfg.branch(up)
            && let Some((p, _)) = kernel.flow.guard(branch)
            && let Some(value) = kernel.reaching.predicate_at(kernel.flow, block, p)
        {
            let others = cfg.blocks[up as usize].succ.iter().filter(|e| e.when == Some(!value));
            let targets = others.map(|e| (e.to, cfg.blocks[e.to as usize].first)).collect();
            out.extend(condition(kernel, p, value, targets, up));
        }
        b = up;
    }
    out
}

fn condition(kernel: &Kernel, p: Val, value: bool, targets: Vec<(u32, u32)>, parts: u32) -> Option<Condition> {
    let LaneFact::Pred(fact) = kernel.lanes.facts.get(kernel.flow.origin(p) as usize)? else { return None };
    let side = usize::from(!value);
    let elects = fact.elected[side] != UNDEF || fact.not_elected[side] != UNDEF;
    let inside = &kernel.lanes.sets[usize::from(if value { fact.yes } else { fact.no })];
    let away = inside.map(|word| !word);
    Some(Condition { away: (!elects).then_some(away), targets, parts })
}

/// Can the threads that a condition keeps away reach the end of the kernel without waiting for those that are present?
fn leaves(kernel: &Kernel, condition: &Condition, present: &ReachingThreads) -> Fate {
    let cfg = &kernel.flow.cfg;
    let mut seen = vec![false; cfg.blocks.len()];
    let mut stack = condition.targets.clone();
    let (mut exits, mut idle, mut returns) = (false, true, false);
    while let Some((block, first)) = stack.pop() {
        exits |= block == cfg.exit;
        let rest = first..cfg.range(block).end;
        if rest.clone().any(|at| waits_for(kernel, at, present)) {
            continue;
        }
        idle &= rest.map(|at| kernel.flow.instr(at)).all(only_branches);
        for e in &cfg.blocks[block as usize].succ {
            returns |= e.to == condition.parts;
            if takes(kernel, block, e.when, condition) && !std::mem::replace(&mut seen[e.to as usize], true) {
                stack.push((e.to, cfg.blocks[e.to as usize].first));
            }
        }
    }
    match (exits, idle || returns) {
        (false, _) => Fate::Waits,
        (true, true) => Fate::ExitsIdle,
        (true, false) => Fate::Exits,
    }
}

fn only_branches(i: &Instr) -> bool {
    matches!(i.entry.effects.control, Control::Branch | Control::Return | Control::Exit)
}

/// Can one of the threads take this edge at the end of a block?
fn takes(kernel: &Kernel, block: u32, when: Option<bool>, condition: &Condition) -> bool {
    let (Some(when), Some(away)) = (when, &condition.away) else { return true };
    let Some(branch) = kernel.flow.cfg.branch(block) else { return true };
    let Some((p, _)) = kernel.flow.guard(branch) else { return true };
    match kernel.lanes.facts.get(kernel.flow.origin(p) as usize) {
        Some(LaneFact::Pred(f)) => !disjoint(&kernel.lanes.sets[usize::from(if when { f.yes } else { f.no })], away),
        _ => true,
    }
}

/// Does the instruction certainly wait for all the threads that are present elsewhere, which do not come here?
fn waits_for(kernel: &Kernel, at: u32, present: &ReachingThreads) -> bool {
    let i = kernel.flow.instr(at);
    if i.pred.is_some() {
        return false;
    }
    let effects = i.entry.effects;
    match effects.barrier {
        Barrier::Cta if effects.meeting != Meeting::Arrive => {
            let whole = kernel.lanes.cta_size.exact.map(|n| n.next_multiple_of(32) as u64);
            i.operand("b").is_none() || i.constant("b").is_some_and(|count| Some(count) == whole)
        }
        Barrier::Cta => false,
        Barrier::Cluster => matches!(effects.meeting, Meeting::Wait | Meeting::Both),
        _ => match constant_mask(kernel, at, i) {
            Some((_, m)) => present.warps(kernel.lanes.cta_size).iter().all(|(_, bits)| bits & !m == 0),
            None => i.operand("membermask").is_none() && (whole_warps(i) || (tcgen05(i).is_none() && aligned(i))),
        },
    }
}
