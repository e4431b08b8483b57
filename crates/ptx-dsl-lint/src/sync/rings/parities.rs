//! The parities of the waits on a ring (PTX ISA 9.7.13.15.16): the phase of the first waits, the flip after each round, cyclic
//! waits.

use crate::errors::rings as errors;
use crate::errors::rings::RingParity;
use crate::kernel::Kernel;
use crate::sync::objects::object_name;
use crate::sync::rings::uses::{OpKind, RingOp, Rings, Visit};

pub(crate) fn check(kernel: &Kernel, rings: &Rings) {
    let mut reported: Vec<u32> = Vec::new();
    for wait in &rings.uses {
        if is_ordered_wait(wait) && !reported.contains(&wait.var) && check_parity(kernel, rings, wait) {
            reported.push(wait.var);
        }
    }
    for wait in &rings.uses {
        if is_ordered_wait(wait)
            && wait.header.is_some()
            && rings.known(wait.var)
            && !reported.contains(&wait.var)
            && early(kernel, rings, wait)
        {
            reported.push(wait.var);
        }
    }
    if reported.is_empty() && rings.all_known() {
        circle(kernel, rings);
    }
}

/// Is it a wait whose objects are known one after the other?
fn is_ordered_wait(op: &RingOp) -> bool {
    op.kind == OpKind::Wait && !op.any && !op.unordered
}

fn report_parity(kernel: &Kernel, wait: &RingOp, which: RingParity, other: Option<&RingOp>) {
    let flow = kernel.flow;
    let i = flow.instr(wait.site.at);
    let span = match i.operand("phaseParity") {
        Some(arg) => arg.span,
        None => i.span,
    };
    let other = other.map(|o| flow.instr(o.site.at).span);
    let name = object_name(flow, (wait.var, wait.visits[0].offset));
    kernel.report(errors::ring_parity(span, &name, wait.objects.len(), which, other));
}

/// Reports a wait whose parity does not follow the rounds of its ring.
fn check_parity(kernel: &Kernel, rings: &Rings, wait: &RingOp) -> bool {
    let stages = wait.objects.len();
    let visits = of_loop(rings, wait);
    let Some(parities) = known(&visits) else { return false };
    if stages < 2 || !one_by_one(&visits) || parities.len() <= 2 * stages {
        return false;
    }
    let constant = parities.iter().all(|p| *p == parities[0]);
    if alternates(&visits) || (constant && !steady(rings, wait)) {
        return false;
    }
    let each_stage = parities.iter().enumerate().all(|(t, p)| *p == (t as u64 & 1) ^ parities[0]);
    let which = if each_stage { RingParity::EachStage } else { RingParity::Steady };
    report_parity(kernel, wait, which, None);
    true
}

/// The visits of all waits of a loop that is unrolled, if together they visit one object after the other; else those of this wait.
fn of_loop(rings: &Rings, wait: &RingOp) -> Vec<Visit> {
    let copy = |u: &&RingOp| is_ordered_wait(u) && u.header == wait.header;
    let copies: Vec<&RingOp> = rings.of(wait.var).filter(copy).collect();
    let common = copies.iter().filter_map(|u| u.visits.last()).map(|v| v.iteration).min().unwrap_or(0);
    let mut visits: Vec<(u32, Visit)> = Vec::new();
    for u in copies {
        visits.extend(u.visits.iter().filter(|v| v.iteration <= common).map(|v| (u.site.at, *v)));
    }
    visits.sort_by_key(|&(at, v)| (v.iteration, at));
    let mut visits: Vec<Visit> = visits.into_iter().map(|(_, v)| v).collect();
    // the first attempt and the others may be two statements
    visits.dedup_by_key(|v| (v.offset, v.number));
    if one_by_one(&visits) { visits } else { wait.visits.clone() }
}

/// Does the parity change when the ring wraps around, and only then?
fn alternates(visits: &[Visit]) -> bool {
    visits.windows(2).all(|pair| {
        let wraps = u64::from(pair[1].offset < pair[0].offset);
        let change = |a: u64, b: u64| (a ^ b) & 1;
        pair[0].number.zip(pair[1].number).is_some_and(|(a, b)| change(a, b) == wraps)
    })
}

/// Do the other waits and `init`s agree that one phase completes between two visits?
fn steady(rings: &Rings, wait: &RingOp) -> bool {
    rings.own(wait.var)
        && rings.of(wait.var).filter(|u| u.objects.iter().any(|o| wait.objects.contains(o))).all(|u| match u.kind {
            OpKind::Init => u.header.is_none() || u.header != wait.header,
            OpKind::Wait => {
                !u.any && u.header == wait.header && u.visits.iter().all(|v| v.number == wait.visits[0].number)
            }
            _ => true,
        })
}

/// The parity of each visit.
fn known(visits: &[Visit]) -> Option<Vec<u64>> {
    visits.iter().map(|v| Some(v.number? & 1)).collect()
}

/// Does each visit go to the next object, and wrap from the last one to the first?
fn one_by_one(visits: &[Visit]) -> bool {
    let mut order: Vec<i64> = visits.iter().map(|v| v.offset).collect();
    order.sort_unstable();
    order.dedup();
    visits.windows(2).all(|pair| {
        let at = |v: &Visit| order.binary_search(&v.offset).unwrap_or(0);
        at(&pair[1]) == (at(&pair[0]) + 1) % order.len()
    })
}

/// Reports an object with copies whose first waits all return at once.
fn early(kernel: &Kernel, rings: &Rings, wait: &RingOp) -> bool {
    for offset in &wait.objects {
        let (mut copied, mut inits) = (false, 0);
        let mut passes = true;
        let mut copies = Vec::new();
        for u in rings.of(wait.var) {
            if u.kind == OpKind::Copy && u.objects.contains(offset) {
                copies.push(rings.loops.innermost(u.site.block));
            }
        }
        for u in rings.of(wait.var) {
            let Some(first) = u.first(*offset) else { continue };
            match u.kind {
                OpKind::Copy => copied |= kernel.flow.instr(u.site.at).operand("dstMem").is_some(),
                OpKind::Init => inits += 1,
                // An arrival elsewhere may complete the first phase on purpose.
                OpKind::Arrive(_) => {
                    let own = rings.loops.innermost(u.site.block);
                    passes &= own.is_some() && copies.contains(&own);
                }
                OpKind::Wait if u.any => {
                    passes &= u.visits.iter().all(|v| v.offset != *offset || v.number == Some(1));
                }
                OpKind::Wait => passes &= first.number == Some(1),
                OpKind::Other => {}
            }
        }
        if copied && passes && inits == 1 {
            report_parity(kernel, wait, RingParity::PassesAtOnce, None);
            return true;
        }
    }
    false
}

/// A deadlock of first waits: each needs an arrival after another of them. Computes the greatest fixed point by removing waits
/// with any other arrival.
fn circle(kernel: &Kernel, rings: &Rings) {
    let flow = kernel.flow;
    // Waits for a first phase, each with its success block.
    let mut blocked: Vec<(&RingOp, u32)> = Vec::new();
    for w in &rings.uses {
        if w.kind == OpKind::Wait
            && !w.any
            && w.visits[0].number == Some(0)
            && let Some(behind) = rings.success(flow, w)
        {
            blocked.push((w, behind));
        }
    }
    let stands_behind = |u: &RingOp, blocked: &[(&RingOp, u32)]| {
        blocked.iter().any(|(_, behind)| flow.cfg.dominates(*behind, u.site.block))
    };
    loop {
        let before = blocked.len();
        let kept: Vec<(&RingOp, u32)> = blocked
            .iter()
            .copied()
            .filter(|(w, _)| {
                let (mut arrives, mut all) = (false, true);
                for u in rings.of(w.var) {
                    if matches!(u.kind, OpKind::Arrive(_)) && u.objects.contains(&w.visits[0].offset) {
                        arrives = true;
                        all &= stands_behind(u, &blocked);
                    }
                }
                arrives && all
            })
            .collect();
        blocked = kept;
        if blocked.len() == before {
            break;
        }
    }
    // Report the producer's wait: no copy completes on its object.
    let copied =
        |w: &RingOp| rings.of(w.var).any(|u| u.kind == OpKind::Copy && u.objects.contains(&w.visits[0].offset));
    let Some((first, _)) = blocked.iter().find(|(w, _)| !copied(w)).or(blocked.first()) else { return };
    let other = blocked.iter().find(|(w, _)| w.var != first.var || w.visits[0].offset != first.visits[0].offset);
    report_parity(kernel, first, RingParity::NeverPasses, other.map(|(w, _)| *w));
}
