//! The parities of the waits on a ring (PTX ISA 9.7.13.15.16): the phase of the first waits, the flip after each round, cyclic
//! waits.

use crate::errors::rings as errors;
use crate::errors::rings::RingParity;
use crate::kernel::Kernel;
use crate::sync::objects::object_name;
use crate::sync::rings::uses::{OpKind, RingOp, Rings};

pub(crate) fn check(kernel: &Kernel, rings: &Rings) {
    let mut reported: Vec<u32> = Vec::new();
    for wait in &rings.uses {
        if wait.kind == OpKind::Wait && !wait.any && !reported.contains(&wait.var) && check_parity(kernel, rings, wait)
        {
            reported.push(wait.var);
        }
    }
    for wait in &rings.uses {
        if wait.kind == OpKind::Wait
            && !wait.any
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
    let Some(parities) = known(wait) else { return false };
    if stages < 2 || !one_by_one(wait) || parities.len() <= 2 * stages {
        return false;
    }
    let wraps = |t: usize| {
        let mut wraps = 0;
        for k in 1..=t {
            wraps += u64::from(wait.visits[k].offset < wait.visits[k - 1].offset);
        }
        wraps
    };
    let follows = |of: &dyn Fn(usize) -> u64| {
        let kind = parities[0] ^ (of(0) & 1);
        parities.iter().enumerate().all(|(t, p)| *p == (of(t) & 1) ^ kind)
    };
    let constant = follows(&|_| 0);
    if follows(&wraps) || (constant && !steady(rings, wait)) {
        return false;
    }
    let which = if follows(&|t| t as u64) { RingParity::EachStage } else { RingParity::Steady };
    report_parity(kernel, wait, which, None);
    true
}

/// Do the other waits and `init`s agree that one phase completes between two visits?
fn steady(rings: &Rings, wait: &RingOp) -> bool {
    rings.own(wait.var)
        && rings.of(wait.var).all(|u| match u.kind {
            OpKind::Init => u.header.is_none() || u.header != wait.header,
            OpKind::Wait => {
                !u.any && u.header == wait.header && u.visits.iter().all(|v| v.number == wait.visits[0].number)
            }
            _ => true,
        })
}

/// The parity in each iteration.
fn known(wait: &RingOp) -> Option<Vec<u64>> {
    let mut out = Vec::with_capacity(wait.visits.len());
    for v in &wait.visits {
        out.push(v.number? & 1);
    }
    Some(out)
}

/// Does each iteration go to the next object, and wrap from the last one to the first?
fn one_by_one(wait: &RingOp) -> bool {
    let mut order = wait.objects.clone();
    order.sort_unstable();
    for pair in wait.visits.windows(2) {
        let at = |offset: i64| order.iter().position(|o| *o == offset);
        let (Some(a), Some(b)) = (at(pair[0].offset), at(pair[1].offset)) else { return false };
        if b != (a + 1) % order.len() {
            return false;
        }
    }
    true
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
