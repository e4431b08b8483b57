//! The parities of a ring, round by round (PTX ISA 9.7.13.15.16): which phase its waits begin with, and when they go on to the next.

use super::super::Flow;
use super::super::mbarriers::name;
use super::{Does, Rings, Use};
use crate::errors::rings::{self as errors, RingParity};
use ptx_dsl_table::diag::Diagnostic;

pub(super) fn check(flow: &Flow, rings: &Rings, out: &mut Vec<Diagnostic>) {
    let mut said: Vec<u32> = Vec::new();
    for wait in &rings.uses {
        if wait.does == Does::Wait && !wait.any && !said.contains(&wait.var) && turns(flow, wait, out) {
            said.push(wait.var);
        }
    }
    for wait in &rings.uses {
        if wait.does == Does::Wait
            && !wait.any
            && wait.header.is_some()
            && rings.known(wait.var)
            && !said.contains(&wait.var)
            && early(flow, rings, wait, out)
        {
            said.push(wait.var);
        }
    }
    if said.is_empty() && rings.all_known() {
        circle(flow, rings, out);
    }
}

fn say(flow: &Flow, wait: &Use, which: RingParity, other: Option<&Use>, out: &mut Vec<Diagnostic>) {
    let i = flow.instr(wait.site.at);
    let span = match i.operand("phaseParity") {
        Some(arg) => arg.span,
        None => i.span,
    };
    let other = other.map(|o| flow.instr(o.site.at).span);
    let name = name(flow, (wait.var, wait.visits[0].offset));
    out.push(errors::ring_parity(span, &name, wait.objects.len(), which, other));
}

/// Do the parities of a wait go with the rounds of its ring?
fn turns(flow: &Flow, wait: &Use, out: &mut Vec<Diagnostic>) -> bool {
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
    if follows(&wraps) || follows(&|_| 0) {
        return false;
    }
    let which = if follows(&|t| t as u64) { RingParity::EachRound } else { RingParity::Steady };
    say(flow, wait, which, None, out);
    true
}

/// The parity of each round.
fn known(wait: &Use) -> Option<Vec<u64>> {
    let mut out = Vec::with_capacity(wait.visits.len());
    for v in &wait.visits {
        out.push(v.number? & 1);
    }
    Some(out)
}

/// Does each round go to the next object, and from the last back to the first?
fn one_by_one(wait: &Use) -> bool {
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

/// A wait for data whose first round is over at once, as that of all other waits for the same object.
fn early(flow: &Flow, rings: &Rings, wait: &Use, out: &mut Vec<Diagnostic>) -> bool {
    for offset in &wait.objects {
        let (mut copied, mut inits) = (false, 0);
        let mut passes = true;
        let mut copies = Vec::new();
        for u in rings.of(wait.var) {
            if u.does == Does::Copy && u.objects.contains(offset) {
                copies.push(rings.loops.of(u.site.block));
            }
        }
        for u in rings.of(wait.var) {
            let Some(first) = u.first(*offset) else { continue };
            match u.does {
                Does::Copy => copied |= flow.instr(u.site.at).operand("dstMem").is_some(),
                Does::Init => inits += 1,
                // What arrives before the copies may be there to complete the first phase.
                Does::Arrive(_) => {
                    let own = rings.loops.of(u.site.block);
                    passes &= own.is_some() && copies.contains(&own);
                }
                Does::Wait if u.any => {
                    passes &= u.visits.iter().all(|v| v.offset != *offset || v.number == Some(1));
                }
                Does::Wait => passes &= first.number == Some(1),
                Does::Other => {}
            }
        }
        if copied && passes && inits == 1 {
            say(flow, wait, RingParity::PassesAtOnce, None, out);
            return true;
        }
    }
    false
}

/// Waits for first phases, of which each can complete only when another of them is over.
fn circle(flow: &Flow, rings: &Rings, out: &mut Vec<Diagnostic>) {
    // The waits that may be in it, and where each leads.
    let mut blocked: Vec<(&Use, u32)> = Vec::new();
    for w in &rings.uses {
        if w.does == Does::Wait
            && !w.any
            && w.visits[0].number == Some(0)
            && let Some(behind) = rings.success(flow, w)
        {
            blocked.push((w, behind));
        }
    }
    let stands_behind =
        |u: &Use, blocked: &[(&Use, u32)]| blocked.iter().any(|(_, behind)| flow.cfg.dominates(*behind, u.site.block));
    loop {
        let before = blocked.len();
        let kept: Vec<(&Use, u32)> = blocked
            .iter()
            .copied()
            .filter(|(w, _)| {
                let (mut arrives, mut all) = (false, true);
                for u in rings.of(w.var) {
                    if matches!(u.does, Does::Arrive(_)) && u.objects.contains(&w.visits[0].offset) {
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
    // The one to change is that of whom nobody brings bytes to.
    let copied = |w: &Use| rings.of(w.var).any(|u| u.does == Does::Copy && u.objects.contains(&w.visits[0].offset));
    let Some((first, _)) = blocked.iter().find(|(w, _)| !copied(w)).or(blocked.first()) else { return };
    let other = blocked.iter().find(|(w, _)| w.var != first.var || w.visits[0].offset != first.visits[0].offset);
    say(flow, first, RingParity::NeverPasses, other.map(|(w, _)| *w), out);
}
