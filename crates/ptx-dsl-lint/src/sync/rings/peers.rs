//! Arrivals from other CTAs: the CTA that owns the object must not exit before the last arrival (PTX ISA 5.1.7).

use crate::errors::peers as errors;
use crate::kernel::Kernel;
use crate::pending::ends_thread;
use crate::sync::rings::uses::{OpKind, RingOp, Rings};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::multicast;
use ptx_dsl_analysis::ctas::Ctas;
use ptx_dsl_analysis::sites::Site;
use ptx_dsl_isa::isa::Barrier;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::span::Span;

pub(crate) fn check(kernel: &Kernel, rings: &Rings) {
    let flow = kernel.flow;
    some_leave(kernel, rings);
    let mut reported: Vec<u32> = Vec::new();
    for signal in &rings.uses {
        if !signal.remote || !matches!(signal.kind, OpKind::Arrive(_)) || reported.contains(&signal.var) {
            continue;
        }
        if !rings.known(signal.var) || !kernel.executes_invariantly(signal.site) {
            continue;
        }
        let Some(waits) = late(rings, signal) else { continue };
        let from: Vec<Site> = waits.iter().map(|w| w.site).collect();
        if let Some(leave) = leaves_first(flow, if from.is_empty() { &[START] } else { &from }) {
            reported.push(signal.var);
            let span = flow.instr(signal.site.at).span;
            let wait = waits.first().map(|w| flow.instr(w.site.at).span);
            kernel.report(errors::late_arrival(span, wait, leave));
        }
    }
}

/// The waits for a signal, if all start with parity 1: then none waits for the last arrivals.
fn late<'r>(rings: &'r Rings, signal: &RingOp) -> Option<Vec<&'r RingOp>> {
    let mut out = Vec::new();
    for w in rings.of(signal.var) {
        if w.kind != OpKind::Wait || !w.objects.iter().any(|o| signal.objects.contains(o)) {
            continue;
        }
        if w.any || w.header.is_none() || w.visits[0].number != Some(1) {
            return None;
        }
        out.push(w);
    }
    Some(out)
}

/// The start of the kernel.
const START: Site = Site { block: 0, at: 0 };

/// An exit that is reachable from these sites, if no path from there has a cluster barrier.
fn leaves_first(flow: &Flow, from: &[Site]) -> Option<Span> {
    let mut seen = vec![false; flow.cfg.blocks.len()];
    let mut stack: Vec<Site> = from.to_vec();
    let mut leave = None;
    let mut successors = Vec::new();
    while let Some(s) = stack.pop() {
        for at in s.at..flow.cfg.range(s.block).end {
            let i = flow.instr(at);
            if i.entry.effects.barrier == Barrier::Cluster {
                return None;
            }
            if ends_thread(i) {
                leave = leave.or(Some(i.span));
            }
        }
        flow.cfg.push_successors(s.block, &mut successors);
        for b in successors.drain(..) {
            if !std::mem::replace(&mut seen[b as usize], true) {
                stack.push(Site { block: b, at: flow.cfg.range(b).start });
            }
        }
    }
    leave
}

/// A multicast to CTAs of which some never wait, without a cluster barrier after it.
fn some_leave(kernel: &Kernel, rings: &Rings) {
    let flow = kernel.flow;
    let several = |u: &RingOp| {
        let i = flow.instr(u.site.at);
        multicast(i) && i.constant("ctaMask").map_or(i.has(q::multicast_cluster_all), |m| m.count_ones() > 1)
    };
    if !rings.uses.iter().any(several) {
        return;
    }
    let ctas = Ctas::new(flow);
    for signal in rings.uses.iter().filter(|u| several(u) && rings.known(u.var)) {
        let mut common = None;
        for w in rings.of(signal.var) {
            if w.kind == OpKind::Wait && w.objects.iter().any(|o| signal.objects.contains(o)) {
                let only = ctas.conditions(flow, w.site.block, w.site.at);
                let all = common.get_or_insert_with(|| (w, only.clone()));
                all.1.retain(|c| only.contains(c));
            }
        }
        let Some((wait, conditions)) = common else { continue };
        if !conditions.is_empty()
            && let Some(leave) = leaves_first(flow, &[signal.site])
        {
            let [span, wait] = [signal, wait].map(|u| flow.instr(u.site.at).span);
            kernel.report(errors::some_do_not_wait(span, wait, leave));
            return;
        }
    }
}
