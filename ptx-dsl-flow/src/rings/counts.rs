//! Who arrives on the objects of a ring, against what `mbarrier.init` says (PTX ISA 9.7.13.15.2), and objects that nothing
//! initialises (9.7.13.15.9).

use super::super::Flow;
use super::super::cfg::NONE;
use super::super::converge::Places;
use super::super::lanes::{Fact, Lanes, Shared};
use super::super::mbarriers::{Site, exact, in_loop, most, name};
use super::{Does, Rings, Use};
use crate::errors::{protocol, rings as errors};
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::span::Span;

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, rings: &Rings, out: &mut Vec<Diagnostic>) {
    let mut said: Vec<Span> = Vec::new();
    for wait in &rings.uses {
        // Fixed objects are another rule's business.
        if wait.does != Does::Wait || wait.any || !rings.own(wait.var) || said.contains(&flow.instr(wait.site.at).span)
        {
            continue;
        }
        for offset in &wait.objects {
            let Some(object) = Object::new(flow, rings, wait.var, *offset) else { continue };
            let found = too_few(flow, lanes, places, rings, wait, &object, out)
                || too_many(flow, lanes, places, rings, &object, &mut said, out);
            if found {
                said.push(flow.instr(wait.site.at).span);
                break;
            }
        }
    }
}

/// An object of a ring that is initialised once.
struct Object<'r> {
    var: u32,
    offset: i64,
    init: &'r Use,
    count: u64,
    arrivals: Vec<&'r Use>,
}

impl<'r> Object<'r> {
    fn new(flow: &Flow, rings: &'r Rings, var: u32, offset: i64) -> Option<Object<'r>> {
        let (mut init, mut arrivals, mut ring) = (None, Vec::new(), false);
        for u in rings.of(var) {
            if !u.objects.contains(&offset) {
                continue;
            }
            ring |= u.visits.len() > 1;
            match u.does {
                Does::Init | Does::Arrive(_) if u.any => return None,
                Does::Init if init.is_some() => return None,
                Does::Init => init = Some((u, u.first(offset)?.number?)),
                Does::Arrive(_) => arrivals.push(u),
                _ => {}
            }
        }
        let (init, count) = init?;
        // What is begun anew in each round of a larger loop has no rounds of its own here.
        let again = init.header.is_none() && in_loop(flow, init.site.block);
        (ring && !again).then_some(Object { var, offset, init, count, arrivals })
    }
}

/// A wait for more arrivals than can come in a round.
fn too_few(
    flow: &Flow,
    lanes: &Lanes,
    places: &Places,
    rings: &Rings,
    wait: &Use,
    object: &Object,
    out: &mut Vec<Diagnostic>,
) -> bool {
    let Some(threads) = at_most(flow, lanes) else { return false };
    let mut come = 0u64;
    for a in &object.arrivals {
        let Does::Arrive(Some(each)) = a.does else { return false };
        if !once_a_phase(flow, rings, a) {
            return false;
        }
        let who = places.who(flow, lanes, a.site.block, a.site.at);
        come = come.saturating_add(each.saturating_mul(most(&who, lanes, threads)));
    }
    if come >= object.count || rings.success(flow, wait).is_none() {
        return false;
    }
    // Whoever begins with the phase before waits when the ring has come round.
    let sure = wait.first(object.offset).and_then(|v| v.number) == Some(0);
    let span = flow.instr(wait.site.at).span;
    let init = flow.instr(object.init.site.at).span;
    out.push(errors::never_complete_round(
        span,
        &name(flow, (object.var, object.offset)),
        object.count,
        come,
        init,
        sure,
    ));
    true
}

/// As many threads as a CTA can have, if that is said.
fn at_most(flow: &Flow, lanes: &Lanes) -> Option<usize> {
    if lanes.threads.exact.is_some() {
        return lanes.threads.exact;
    }
    let [x, y, z] = flow.function.maxntid?;
    let n = u64::from(x).saturating_mul(u64::from(y)).saturating_mul(u64::from(z));
    usize::try_from(n).ok()
}

/// Does a thread arrive here at most once in each phase? It does so outside of loops; behind a wait of the same round for an object
/// of a ring with as many stages; and where it waits for the same object before the next round.
fn once_a_phase(flow: &Flow, rings: &Rings, arrival: &Use) -> bool {
    let Some(inner) = rings.loops.of(arrival.site.block) else { return true };
    if arrival.header.is_some_and(|h| h != inner) {
        return false;
    }
    for w in &rings.uses {
        if w.does != Does::Wait
            || w.objects.len() != arrival.objects.len()
            || !rings.loops.contains(inner, w.site.block)
        {
            continue;
        }
        let Some(behind) = rings.success(flow, w) else { continue };
        let same = w.var == arrival.var && w.objects == arrival.objects;
        if flow.cfg.dominates(behind, arrival.site.block) || (same && every_round(flow, inner, behind)) {
            return true;
        }
    }
    false
}

/// Does each round of a loop come through the block?
fn every_round(flow: &Flow, header: u32, block: u32) -> bool {
    for (p, _) in &flow.cfg.blocks[header as usize].pred {
        if flow.cfg.dominates(header, *p) && !flow.cfg.dominates(block, *p) {
            return false;
        }
    }
    true
}

/// Arrivals of one round that are more than `init` says.
fn too_many(
    flow: &Flow,
    lanes: &Lanes,
    places: &Places,
    rings: &Rings,
    object: &Object,
    said: &mut Vec<Span>,
    out: &mut Vec<Diagnostic>,
) -> bool {
    for a in &object.arrivals {
        let span = flow.instr(a.site.at).span;
        let Some(first) = a.first(object.offset) else { continue };
        let inner = rings.loops.of(a.site.block);
        // Where the same loop waits for the object, what it does in one round may be for several phases.
        let alone = waits_within(rings, inner, object);
        let mut come = 0;
        for b in &object.arrivals {
            let Does::Arrive(Some(each)) = b.does else { continue };
            let same = b.site.at == a.site.at
                || (!alone
                    && rings.loops.of(b.site.block) == inner
                    && b.visits.iter().any(|v| v.round == first.round && v.offset == object.offset));
            if same && together(flow, lanes, b.site) {
                come += each * at_least(lanes, places, flow, b.site);
            }
        }
        if come > object.count {
            if !said.contains(&span) {
                said.push(span);
                let init = flow.instr(object.init.site.at).span;
                out.push(protocol::more_arrive(
                    span,
                    &name(flow, (object.var, object.offset)),
                    object.count,
                    come,
                    init,
                ));
            }
            return true;
        }
    }
    false
}

/// Is there a wait for the object in this loop, or in none if that is where we are?
fn waits_within(rings: &Rings, header: Option<u32>, object: &Object) -> bool {
    for w in rings.of(object.var) {
        let inside = match header {
            Some(h) => rings.loops.contains(h, w.site.block),
            None => true,
        };
        if w.does == Does::Wait && inside && w.objects.contains(&object.offset) {
            return true;
        }
    }
    false
}

/// So many threads come there, if any does.
fn at_least(lanes: &Lanes, places: &Places, flow: &Flow, s: Site) -> u64 {
    let who = places.who(flow, lanes, s.block, s.at);
    if who.elected || who.passed {
        return 0;
    }
    let mut sum = 0u64;
    let mut least = 32;
    for (_, bits) in who.warps(lanes.threads) {
        sum += u64::from(bits.count_ones());
        least = least.min(u64::from(bits.count_ones()));
    }
    match lanes.threads.exact {
        Some(_) => sum,
        None if lanes.threads.full_warps => least,
        None => 0,
    }
}

/// Do all threads that may be at a place come there, or none: is each branch on the way one that all threads take alike, or one of
/// which the threads are known?
fn together(flow: &Flow, lanes: &Lanes, s: Site) -> bool {
    let known = |at: u32| match flow.guard(at) {
        Some((p, _)) => {
            let elected = matches!(lanes.facts.get(p as usize), Some(Fact::Pred(f)) if f.elected != [super::super::ssa::UNDEF; 2]);
            exact(flow, lanes, p) || (lanes.shared(p) == Shared::Cta && !elected)
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
        if flow.cfg.ipdom[up as usize] != b
            && let Some(branch) = flow.cfg.branch(up)
            && !known(branch)
            && !polls(flow, up)
        {
            return false;
        }
        b = up;
    }
}

/// Does the block end with the branch of a loop which waits for an mbarrier, and which all threads leave the same way?
fn polls(flow: &Flow, b: u32) -> bool {
    for n in 0..flow.cfg.blocks[b as usize].succ.len() {
        if super::super::states::passed(flow, b, n).is_some() {
            return flow.cfg.in_loop(b);
        }
    }
    false
}
