//! The lifetime of an mbarrier from `init` to `inval` (PTX ISA 9.7.13.15.9, 9.7.13.15.10), and its visibility to other threads and
//! CTAs.

use crate::errors::protocol as errors;
use crate::kernel::Kernel;
use crate::may_synchronise::{may_follow_reinit, may_receive_init};
use crate::pending::{begin_pending, for_each_pending, is_pending, resolve};
use crate::sync::objects::{Objects, mbarrier_operand, object, object_name};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{mbarrier_wait, value_access};
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::reaching::ReachingThreads;
use ptx_dsl_analysis::sites::{Site, guard, in_loop};
use ptx_dsl_analysis::threads::{disjoint, has_thread, missing};
use ptx_dsl_isa::hir::{Instr, VarId};
use ptx_dsl_isa::isa::{Barrier, Mbarrier, MemoryOp, Tensor};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// Checks repeated `init`, data accesses to a live object, and visibility to other CTAs.
pub(crate) fn check(kernel: &Kernel, objects: &Objects) {
    after_inval(kernel);
    let mut inits: Vec<Init> = Vec::new();
    for o in &objects.list {
        for site in &o.inits {
            if inits.len() < 64 {
                inits.push(Init { site: *site, place: o.place, present: kernel.threads_at(site.block, site.at) });
            }
        }
    }
    lifetimes(kernel, (objects, &inits));
    arrays_unpublished(kernel, objects);
}

/// An `init`.
struct Init {
    site: Site,
    place: (u32, i64),
    present: ReachingThreads,
}

/// The number of an `init` among others.
fn number(inits: &[Init], at: u32) -> Option<usize> {
    for (k, init) in inits.iter().enumerate() {
        if init.site.at == at {
            return Some(k);
        }
    }
    None
}

fn lifetimes(kernel: &Kernel, (objects, inits): (&Objects, &[Init])) {
    let flow = kernel.flow;
    let n = inits.len();
    // The first n: initialised and not invalidated. The next n: not published to the cluster.
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if let Some(k) = number(inits, at) {
            begin_pending(set, k);
            begin_pending(set, n + k);
        } else if i.entry.effects.mbarrier == Mbarrier::Inval {
            let on = object(kernel, at, "addr");
            for (k, init) in inits.iter().enumerate() {
                if on.is_none() || on == Some(init.place) {
                    resolve(set, k);
                }
            }
        } else if may_publish(i) {
            let here = kernel.threads_at(flow.cfg.block_of(at), at);
            for (k, Init { present, .. }) in inits.iter().enumerate() {
                if publishes(i, &here, present) {
                    resolve(set, n + k);
                }
            }
        }
    };

    let mut reported = Bits::none(n);
    for_each_pending(flow, 2 * n, &step, &mut |b, at, i, set| {
        let touched = match plain_access(i) {
            Some((arg, writes)) => kernel.region(at, arg, i.bytes()).map(|r| (arg, r, writes)),
            None => None,
        };
        let new = number(inits, at);
        for (k, Init { site, place, .. }) in inits.iter().enumerate() {
            if reported.has(k) || !(is_pending(set, k) || is_pending(set, n + k)) {
                continue;
            }
            let again = matches!(new, Some(new) if inits[new].place == *place);
            let data = match &touched {
                Some((arg, r, writes)) if r.base == AddressBase::Var(VarId(place.0)) => match r.bytes {
                    Some((a, e)) if a < place.1 + 8 && place.1 < e && e != i64::MAX => Some((arg.span, *writes)),
                    _ => None,
                },
                _ => None,
            };
            let span = flow.instr(site.at).span;
            if (again || data.is_some()) && is_pending(set, k) && !in_loop(flow, b) {
                let first = if site.block == b { site.at < at } else { flow.cfg.dominates(site.block, b) };
                let runs = flow.guard(site.at).is_none() || guard(flow, site.at) == guard(flow, at);
                if first && runs {
                    reported.set(k);
                    kernel.report(match data {
                        Some((arg, writes)) if !again => {
                            errors::data_on_object(arg, &object_name(flow, *place), span, writes)
                        }
                        _ => errors::init_twice(i.span, &object_name(flow, *place), span),
                    });
                }
            }
            if i.opcode == op::barrier_cluster_arrive
                && !i.order().releases()
                && is_pending(set, n + k)
                && objects.shared.contains(&place.0)
            {
                reported.set(k);
                kernel.report(errors::not_published(i.span, &object_name(flow, *place), span));
            }
        }
    });
}

/// A fence, or an arrival at the cluster barrier that releases.
fn may_publish(i: &Instr) -> bool {
    (i.opcode == op::fence && !i.has(q::proxy)) || (i.opcode == op::barrier_cluster_arrive && i.order().releases())
}

/// Does it publish the `init` of these threads to the cluster? A fence does so for its own thread.
fn publishes(i: &Instr, here: &ReachingThreads, inits: &ReachingThreads) -> bool {
    let exclusive = here.elected && inits.not_elected || here.not_elected && inits.elected;
    i.opcode != op::fence || (!exclusive && !disjoint(&here.set, &inits.set))
}

/// Arrays of objects that are initialised in a loop and used by other CTAs, with a relaxed arrival that does not publish them.
fn arrays_unpublished(kernel: &Kernel, objects: &Objects) {
    let flow = kernel.flow;
    let mut inits: Vec<(Site, u32, ReachingThreads)> = Vec::new();
    for (site, var) in &objects.array_inits {
        if objects.shared.contains(var) && inits.len() < 64 {
            inits.push((*site, *var, kernel.threads_at(site.block, site.at)));
        }
    }
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        let here = may_publish(i).then(|| kernel.threads_at(flow.cfg.block_of(at), at));
        for (k, (site, _, present)) in inits.iter().enumerate() {
            if site.at == at {
                begin_pending(set, k);
            } else if matches!(&here, Some(here) if publishes(i, here, present)) {
                resolve(set, k);
            }
        }
    };
    let mut reported: Vec<u32> = Vec::new();
    for_each_pending(flow, inits.len(), &step, &mut |_, _, i, set| {
        if i.opcode != op::barrier_cluster_arrive || i.order().releases() {
            return;
        }
        for (k, (site, var, _)) in inits.iter().enumerate() {
            if is_pending(set, k) && !reported.contains(var) {
                reported.push(*var);
                kernel.report(errors::not_published(i.span, flow.variable_name(*var), flow.instr(site.at).span));
            }
        }
    });
}

/// An `init`, or an allocation of Tensor Memory.
struct Initialisation {
    present: ReachingThreads,
    object: Location,
    at: u32,
    alloc: bool,
}

/// A variable, and the offset in it if that is known.
#[derive(Clone, Copy, PartialEq)]
struct Location {
    var: u32,
    offset: Option<i64>,
}

impl Location {
    /// The address operand of an instruction.
    fn of(kernel: &Kernel, at: u32, i: &Instr) -> Option<Location> {
        let r = kernel.region(at, i.address()?, 4)?;
        match r.base {
            AddressBase::Var(v) if !r.mapped => Some(Location { var: v.0, offset: r.bytes.map(|(o, _)| o) }),
            _ => None,
        }
    }

    fn may_alias(self, other: Location) -> bool {
        self.var == other.var && (self.offset.is_none() || other.offset.is_none() || self.offset == other.offset)
    }
}

/// Objects that some threads initialise or allocate and others use without synchronisation.
pub(crate) fn visibility(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    let Some(n) = lanes.cta_size.exact else { return };
    if n <= 1 {
        return;
    }
    let mut made: Vec<Initialisation> = Vec::new();
    let mut all_known = true;
    for (block, at, i) in flow.walk() {
        let alloc = i.entry.effects.tensor == Tensor::Alloc;
        if i.entry.effects.mbarrier != Mbarrier::Init && !alloc {
            continue;
        }
        match Location::of(kernel, at, i) {
            Some(object) if made.len() < 64 => {
                made.push(Initialisation { present: kernel.threads_at(block, at), object, at, alloc });
            }
            _ => all_known = false,
        }
    }
    used_unsynchronised(kernel, &Initialisations { threads: n, made, all_known });
}

/// The initialisations of a kernel.
struct Initialisations {
    /// Of the CTA.
    threads: usize,
    made: Vec<Initialisation>,
    /// No `init` or allocation is missing.
    all_known: bool,
}

impl Initialisations {
    /// The initialisation of the object that these threads use, if other threads certainly execute it.
    fn initialised_by_others(
        &self,
        used: Location,
        alloc: bool,
        present: &ReachingThreads,
        every: bool,
    ) -> Option<(&Initialisation, Option<usize>)> {
        let (mut first, mut exclusive) = (None, self.all_known);
        for m in &self.made {
            if m.alloc != alloc || !m.object.may_alias(used) {
                continue;
            }
            if used.offset.is_some() && m.object == used && every && missing(&present.set, self.threads).is_none() {
                let other = missing(&m.present.set, self.threads);
                return (other.is_some() || m.present.elected).then_some((m, other));
            }
            first = first.or(Some(m));
            exclusive &= disjoint(&m.present.set, &present.set);
        }
        let user = (0..self.threads).find(|t| has_thread(&present.set, *t));
        first.filter(|_| exclusive && user.is_some()).map(|m| (m, user))
    }
}

fn used_unsynchronised(kernel: &Kernel, initialisations: &Initialisations) {
    let apart = barriers_apart(kernel, initialisations);
    let mut reported: Vec<Location> = Vec::new();
    let mut see = |b: u32, at: u32, i: &Instr, set: &Bits| {
        let n = initialisations.made.len();
        let loads = value_access(i) == MemoryOp::Load;
        if !loads && matches!(i.entry.effects.mbarrier, Mbarrier::None | Mbarrier::Init) {
            return;
        }
        if set.has(n) && (0..n).all(|k| set.has(k)) {
            return;
        }
        let Some(p) = Location::of(kernel, at, i) else { return };
        if reported.contains(&p) || (loads && p.offset.is_none()) {
            return;
        }
        let concern = |m: &Initialisation| m.alloc == loads && m.object.may_alias(p);
        let made = initialisations.made.iter().enumerate();
        if set.has(n) && made.filter(|(_, m)| concern(m)).any(|(k, _)| set.has(k)) {
            return;
        }
        let present = kernel.threads_at(b, at);
        let every = kernel.every_lane(&present, b, at);
        if let Some((m, other)) = initialisations.initialised_by_others(p, loads, &present, every) {
            reported.push(p);
            let made = kernel.flow.instr(m.at);
            let name = object_name(kernel.flow, (p.var, p.offset.unwrap_or(0)));
            kernel.report(errors::not_seen(i.span, &name, other, made.span, made.entry.opcode));
        }
    };
    for_each_synchronised(kernel, initialisations, &apart, &mut see);
}

/// Calls `see` with each instruction and what is synchronised before it on some path. The last bit: some instruction synchronised. Before
/// it, a bit for each initialisation: synchronised since its threads are known. A wait on the object itself does not count, and neither
/// does a barrier whose number is in `apart`.
fn for_each_synchronised(
    kernel: &Kernel,
    initialisations: &Initialisations,
    apart: &[BarrierNumber],
    see: &mut dyn FnMut(u32, u32, &Instr, &Bits),
) {
    let flow = kernel.flow;
    let n = initialisations.made.len();
    let decided = decisions(flow, &initialisations.made);
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        for (k, decision) in decided.iter().enumerate() {
            if *decision == at {
                set.unset(k);
            }
        }
        if !may_receive_init(i, initialisations.threads) || BarrierNumber::of(i).is_some_and(|n| apart.contains(&n)) {
            return;
        }
        if mbarrier_wait(i)
            && let Some(p) = Location::of(kernel, at, i)
            && initialisations.made.iter().any(|m| m.object.may_alias(p))
        {
            return;
        }
        for k in 0..=n {
            set.set(k);
        }
    };
    for_each_instr(&flow.cfg, n + 1, &step, see);
}

/// The number of a barrier of the CTA. A computed number may be any.
#[derive(Clone, Copy, PartialEq)]
enum BarrierNumber {
    Constant(u64),
    Computed,
}

impl BarrierNumber {
    fn of(i: &Instr) -> Option<BarrierNumber> {
        let barrier = i.entry.effects.barrier == Barrier::Cta;
        barrier.then(|| i.constant("a").map_or(BarrierNumber::Computed, BarrierNumber::Constant))
    }

    fn may_equal(self, other: BarrierNumber) -> bool {
        self == other || self == BarrierNumber::Computed || other == BarrierNumber::Computed
    }
}

/// The numbers of barriers that tell nobody of an initialisation: no initialising thread comes to them, nor one that something else may
/// have told before.
fn barriers_apart(kernel: &Kernel, initialisations: &Initialisations) -> Vec<BarrierNumber> {
    let flow = kernel.flow;
    let mut apart: Vec<BarrierNumber> = Vec::new();
    for number in flow.cfg.instrs.iter().filter_map(|i| BarrierNumber::of(i)) {
        if !apart.contains(&number) {
            apart.push(number);
        }
    }
    if !initialisations.all_known {
        return Vec::new();
    }
    for (block, at, i) in flow.walk() {
        let Some(number) = BarrierNumber::of(i).filter(|number| apart.contains(number)) else { continue };
        let present = kernel.threads_at(block, at);
        if initialisations.made.iter().any(|m| !disjoint(&m.present.set, &present.set)) {
            apart.retain(|other| !other.may_equal(number));
        }
    }
    // What one barrier tells, another may pass on.
    while !apart.is_empty() {
        let mut told = Vec::new();
        for_each_synchronised(kernel, initialisations, &apart, &mut |_, _, i, set| {
            told.extend(BarrierNumber::of(i).filter(|n| apart.contains(n) && set.has(initialisations.made.len())));
        });
        if told.is_empty() {
            break;
        }
        apart.retain(|other| !told.iter().any(|number| number.may_equal(*other)));
    }
    apart
}

/// By initialisation: the last instruction before threads part into those that execute it and those that pass it by. If some thread
/// comes from there to a use and meets no synchronisation, nothing tells it that the object is ready.
fn decisions(flow: &Flow, made: &[Initialisation]) -> Vec<u32> {
    let at_branch = |m: &Initialisation| {
        let block = flow.cfg.block_of(m.at);
        let up = flow.cfg.idom[block as usize];
        let apart = up != NONE && up != block && !flow.cfg.post_dominates(block, up);
        if apart { flow.cfg.branch(up).unwrap_or(m.at) } else { m.at }
    };
    made.iter().map(at_branch).collect()
}

/// Uses of an object after its `mbarrier.inval` without an `init` or a synchronisation between.
fn after_inval(kernel: &Kernel) {
    let mut ends: Vec<(u32, (u32, i64))> = Vec::new();
    for (_, at, i) in kernel.flow.walk() {
        if i.entry.effects.mbarrier == Mbarrier::Inval
            && ends.len() < 64
            && let Some(p) = object(kernel, at, mbarrier_operand(i))
        {
            ends.push((at, p));
        }
    }
    used_after(kernel, &ends);
}

fn used_after(kernel: &Kernel, ends: &[(u32, (u32, i64))]) {
    let flow = kernel.flow;
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        let init = i.entry.effects.mbarrier == Mbarrier::Init;
        let synchronises = may_follow_reinit(i);
        if i.entry.effects.mbarrier != Mbarrier::Inval && !init && !synchronises {
            return;
        }
        let on = if init { object(kernel, at, mbarrier_operand(i)) } else { None };
        for (k, (end, place)) in ends.iter().enumerate() {
            if *end == at {
                begin_pending(set, k);
            } else if synchronises || (init && (on.is_none() || on == Some(*place))) {
                resolve(set, k);
            }
        }
    };
    let mut reported = Vec::new();
    for_each_pending(flow, ends.len(), &step, &mut |_, at, i, set| {
        if matches!(i.entry.effects.mbarrier, Mbarrier::Init | Mbarrier::Query) {
            return;
        }
        let Some(p) = object(kernel, at, mbarrier_operand(i)) else { return };
        for (k, (end, place)) in ends.iter().enumerate() {
            if *place == p && is_pending(set, k) {
                if !reported.contains(&p) && flow.guard(*end).is_none() {
                    reported.push(p);
                    kernel.report(errors::after_inval(i.span, &object_name(flow, p), flow.instr(*end).span));
                }
                return;
            }
        }
    });
}
