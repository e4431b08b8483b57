//! Arrivals on the objects of a ring against the count of `mbarrier.init` (PTX ISA 9.7.13.15.2).

use crate::errors::{protocol, rings as errors};
use crate::kernel::Kernel;
use crate::sync::objects::object_name;
use crate::sync::rings::uses::{OpKind, RingOp, Rings};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::lanes::{LaneFact, Uniformity};
use ptx_dsl_analysis::reaching::max_threads;
use ptx_dsl_analysis::sites::{Site, exact, in_loop};
use ptx_dsl_analysis::threads::{Set, THREADS, has_thread, union_with};
use ptx_dsl_isa::span::Span;

pub(crate) fn check(kernel: &Kernel, rings: &Rings) {
    let flow = kernel.flow;
    let mut reported: Vec<Span> = Vec::new();
    for wait in &rings.uses {
        if wait.kind != OpKind::Wait
            || wait.any
            || wait.unordered
            || !rings.own(wait.var)
            || reported.contains(&flow.instr(wait.site.at).span)
        {
            continue;
        }
        for offset in &wait.objects {
            let Some(object) = Object::new(flow, rings, wait.var, *offset) else { continue };
            let found = too_few(kernel, rings, wait, &object) || too_many(kernel, rings, &object, &mut reported);
            if found {
                reported.push(flow.instr(wait.site.at).span);
                break;
            }
        }
    }
}

/// An object of a ring that is initialised once.
struct Object<'r> {
    var: u32,
    offset: i64,
    init: &'r RingOp,
    count: u64,
    arrivals: Vec<&'r RingOp>,
}

impl<'r> Object<'r> {
    fn new(flow: &Flow, rings: &'r Rings, var: u32, offset: i64) -> Option<Object<'r>> {
        let (mut init, mut arrivals, mut ring) = (None, Vec::new(), false);
        for u in rings.of(var) {
            if !u.objects.contains(&offset) {
                continue;
            }
            ring |= u.visits.len() > 1;
            match u.kind {
                OpKind::Init | OpKind::Arrive(_) if u.any => return None,
                OpKind::Init if u.unordered => return None,
                OpKind::Init if init.is_some() => return None,
                OpKind::Init => init = Some((u, u.first(offset)?.number?)),
                OpKind::Arrive(_) => arrivals.push(u),
                _ => {}
            }
        }
        let (init, count) = init?;
        // An object that an outer loop initialises again is not a ring of the kernel.
        let again = init.header.is_none() && in_loop(flow, init.site.block);
        (ring && !again).then_some(Object { var, offset, init, count, arrivals })
    }
}

/// A wait for more arrivals than one round of the ring has.
fn too_few(kernel: &Kernel, rings: &Rings, wait: &RingOp, object: &Object) -> bool {
    let Kernel { flow, lanes, .. } = *kernel;
    let Some(threads) = at_most(kernel) else { return false };
    let mut arrivals = 0u64;
    for a in &object.arrivals {
        let OpKind::Arrive(Some(each)) = a.kind else { return false };
        if !once_a_phase(flow, rings, a) {
            return false;
        }
        let present = kernel.threads_at(a.site.block, a.site.at);
        arrivals = arrivals.saturating_add(each.saturating_mul(max_threads(&present, lanes, threads)));
    }
    let mut each_once = false;
    if arrivals >= object.count
        && let Some(fewer) = alternatives(kernel, rings, object)
    {
        (arrivals, each_once) = (fewer, true);
    }
    if arrivals >= object.count || rings.success(flow, wait).is_none() {
        return false;
    }
    // A wait that starts with parity 1 blocks in the second round only.
    let sure = wait.first(object.offset).and_then(|v| v.number) == Some(0) && !each_once;
    let span = flow.instr(wait.site.at).span;
    let init = flow.instr(object.init.site.at).span;
    kernel.report(errors::never_complete_round(
        span,
        &object_name(flow, (object.var, object.offset)),
        object.count,
        arrivals,
        init,
        sure,
    ));
    true
}

/// The arrivals of a phase, where each thread arrives at one of several statements: after one wait or another for the same stage of another
/// ring, as before a loop and in it. `None` if the statements are no such alternatives.
fn alternatives(kernel: &Kernel, rings: &Rings, object: &Object) -> Option<u64> {
    let Kernel { flow, lanes, .. } = *kernel;
    let mut released: Option<(u32, &[i64])> = None;
    let mut waits: Vec<u32> = Vec::new();
    let mut set: Set = [0; THREADS / 64];
    for a in &object.arrivals {
        if a.kind != OpKind::Arrive(Some(1)) {
            return None;
        }
        let before = |w: &&RingOp| {
            w.kind == OpKind::Wait
                && !w.any
                && rings.loops.innermost(a.site.block).is_some_and(|h| rings.loops.contains(h, w.site.block))
                && rings.success(flow, w).is_some_and(|behind| flow.cfg.dominates(behind, a.site.block))
        };
        // the last wait before it
        let wait = rings.uses.iter().filter(before).max_by_key(|w| w.site.at)?;
        let mut stages: Vec<i64> = wait.objects.clone();
        stages.sort_unstable();
        let ring = *released.get_or_insert((wait.var, &wait.objects));
        let same = ring.0 == wait.var && ring.1.len() == stages.len() && ring.1.iter().all(|o| stages.contains(o));
        if !same || waits.contains(&wait.site.at) || wait.objects.contains(&object.offset) && wait.var == object.var {
            return None;
        }
        waits.push(wait.site.at);
        let present = kernel.threads_at(a.site.block, a.site.at);
        if present.elected || present.not_elected || lanes.cta_size.exact.is_none() {
            return None;
        }
        union_with(&mut set, &present.set);
    }
    let n = lanes.cta_size.exact?;
    (waits.len() > 1).then(|| (0..n).filter(|t| has_thread(&set, *t)).count() as u64)
}

/// The largest number of threads that a CTA can have, if the kernel gives one.
fn at_most(kernel: &Kernel) -> Option<usize> {
    let lanes = kernel.lanes;
    if lanes.cta_size.exact.is_some() {
        return lanes.cta_size.exact;
    }
    let [x, y, z] = kernel.flow.function.maxntid?;
    let n = u64::from(x).saturating_mul(u64::from(y)).saturating_mul(u64::from(z));
    usize::try_from(n).ok()
}

/// Does each thread arrive at most once per phase? True outside of loops, after a wait of the same iteration on a ring of the
/// same size, and if every iteration waits on the same object.
fn once_a_phase(flow: &Flow, rings: &Rings, arrival: &RingOp) -> bool {
    let Some(inner) = rings.loops.innermost(arrival.site.block) else { return true };
    if arrival.header.is_some_and(|h| h != inner) {
        return false;
    }
    for w in &rings.uses {
        if w.kind != OpKind::Wait
            || w.objects.len() != arrival.objects.len()
            || !rings.loops.contains(inner, w.site.block)
        {
            continue;
        }
        let Some(behind) = rings.success(flow, w) else { continue };
        let same = w.var == arrival.var && w.objects == arrival.objects;
        if flow.cfg.dominates(behind, arrival.site.block) || (same && every_iteration(flow, inner, behind)) {
            return true;
        }
    }
    false
}

/// Does every iteration of a loop execute the block?
pub(crate) fn every_iteration(flow: &Flow, header: u32, block: u32) -> bool {
    for (p, _) in &flow.cfg.blocks[header as usize].pred {
        if flow.cfg.dominates(header, *p) && !flow.cfg.dominates(block, *p) {
            return false;
        }
    }
    true
}

/// More arrivals in one iteration than the count.
fn too_many(kernel: &Kernel, rings: &Rings, object: &Object, reported: &mut Vec<Span>) -> bool {
    let flow = kernel.flow;
    for a in &object.arrivals {
        let span = flow.instr(a.site.at).span;
        let Some(first) = a.first(object.offset) else { continue };
        let inner = rings.loops.innermost(a.site.block);
        // A loop that also waits for the object may arrive for several phases in one iteration.
        let waits_itself = waits_within(rings, inner, object);
        let mut arrivals = 0;
        for b in &object.arrivals {
            let OpKind::Arrive(Some(each)) = b.kind else { continue };
            let same = b.site.at == a.site.at
                || (!waits_itself
                    && !a.unordered
                    && !b.unordered
                    && rings.loops.innermost(b.site.block) == inner
                    && b.visits.iter().any(|v| v.iteration == first.iteration && v.offset == object.offset));
            if same && together(kernel, b.site) {
                arrivals += each * at_least(kernel, b.site);
            }
        }
        if arrivals > object.count {
            if !reported.contains(&span) {
                reported.push(span);
                let init = flow.instr(object.init.site.at).span;
                kernel.report(protocol::more_arrive(
                    span,
                    &object_name(flow, (object.var, object.offset)),
                    object.count,
                    arrivals,
                    init,
                ));
            }
            return true;
        }
    }
    false
}

/// Does the loop wait for the object? Without a loop: does the kernel?
fn waits_within(rings: &Rings, header: Option<u32>, object: &Object) -> bool {
    for w in rings.of(object.var) {
        let inside = match header {
            Some(h) => rings.loops.contains(h, w.site.block),
            None => true,
        };
        if w.kind == OpKind::Wait && inside && w.objects.contains(&object.offset) {
            return true;
        }
    }
    false
}

/// A lower bound of the threads that execute a site, if any does.
fn at_least(kernel: &Kernel, s: Site) -> u64 {
    let lanes = kernel.lanes;
    let present = kernel.threads_at(s.block, s.at);
    if present.elected || present.not_elected {
        return 0;
    }
    let mut sum = 0u64;
    let mut least = 32;
    for (_, bits) in present.warps(lanes.cta_size) {
        sum += u64::from(bits.count_ones());
        least = least.min(u64::from(bits.count_ones()));
    }
    match lanes.cta_size.exact {
        Some(_) => sum,
        None if lanes.cta_size.full_warps => least,
        None => 0,
    }
}

/// Do all reaching threads execute the site, or none? Every branch on the way is uniform in the CTA or known for each thread.
pub(crate) fn together(kernel: &Kernel, s: Site) -> bool {
    let Kernel { flow, lanes, .. } = *kernel;
    let known = |at: u32| match flow.guard(at) {
        Some((p, _)) => {
            let elected = matches!(lanes.facts.get(p as usize), Some(LaneFact::Pred(f)) if f.elected != [ptx_dsl_analysis::ssa::UNDEF; 2]);
            exact(flow, lanes, p) || (lanes.uniformity(p) == Uniformity::Cta && !elected)
        }
        None => false,
    };
    if flow.guard(s.at).is_some() && !known(s.at) {
        return false;
    }
    let mut b = s.block;
    loop {
        let up = flow.cfg.idom[b as usize];
        if up == NONE {
            return false;
        }
        if up == b {
            return true;
        }
        let conditional = flow.cfg.ipdom[up as usize] != b;
        if conditional && joins(flow, b) {
            return false;
        }
        if conditional
            && let Some(branch) = flow.cfg.branch(up)
            && !known(branch)
            && !polls(flow, up)
        {
            return false;
        }
        b = up;
    }
}

/// Do several branches lead to the block? Which threads come from each of them is not known.
fn joins(flow: &Flow, b: u32) -> bool {
    let from_before = |p: &&(u32, u32)| !flow.cfg.dominates(b, p.0);
    flow.cfg.blocks[b as usize].pred.iter().filter(from_before).count() > 1
}

/// Is the block a polling loop on an mbarrier? All threads leave it on the same edge.
fn polls(flow: &Flow, b: u32) -> bool {
    for n in 0..flow.cfg.blocks[b as usize].succ.len() {
        if crate::sync::states::succeeded_wait(flow, b, n).is_some() {
            return flow.cfg.in_loop(b);
        }
    }
    false
}
