//! Named barriers (PTX ISA 9.7.13.1): the thread count of the operand against the threads that arrive, once or in each iteration of loops.

use crate::errors::protocol as errors;
use crate::kernel::Kernel;
use crate::memory::turns::in_turns;
use crate::sync::rings::counts::{every_iteration, together};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::induction::{Induction, Thread};
use ptx_dsl_analysis::lanes::Uniformity;
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::sites::{Site, in_loop};
use ptx_dsl_analysis::threads::{Set, THREADS, union_with};
use ptx_dsl_isa::hir::Operand;
use ptx_dsl_isa::isa::{Barrier, Meeting};

/// The threads that a barrier counts for these lanes: 32 for each warp, once even if its lanes arrive at several sites.
fn by_warps(met: &mut Set, set: &Set, n: usize) -> u64 {
    let mut arrived = 0;
    for w in 0..n.div_ceil(32) {
        let lanes = |s: &Set| (s[w / 2] >> (32 * (w % 2))) as u32;
        let (old, new) = (lanes(met), lanes(set));
        if new != 0 && (old == 0 || old & new != 0) {
            arrived += 32;
        }
    }
    union_with(met, set);
    arrived
}

/// A named barrier, or those that loops use in turn.
struct Named {
    ids: Vec<u64>,
    count: u64,
    arrived: u64,
    /// The threads that arrive.
    set: Set,
    sure: bool,
    /// All arrive once in each iteration of a loop.
    looped: bool,
    /// All arrivals wait.
    waits_only: bool,
    wait: Option<u32>,
}

/// Named barriers whose thread count does not match the threads that arrive.
pub(crate) fn check(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    if !flow.function.entry || flow.calls || !flow.cfg.any(&|i| i.entry.effects.barrier == Barrier::Cta) {
        return;
    }
    let Some(n) = lanes.cta_size.exact else { return };
    if let Some(all) = coming(kernel, n) {
        too_few(kernel, &all, n);
        shared_by_groups(kernel, &all, n);
    }
    let mut list: Vec<Named> = Vec::new();
    let loops = Loops::new(&flow.cfg);
    for (block, at, i) in flow.walk() {
        if i.entry.effects.barrier != Barrier::Cta {
            continue;
        }
        let site = Site { block, at };
        let Some(ids) = numbers(flow, &loops, site) else { return };
        let present = kernel.threads_at(block, at);
        let count = i.constant("b");
        let known = (count.is_some() || i.operand("b").is_none()) && !present.elected && !present.not_elected;
        let count = count.unwrap_or(0);
        let wait = if i.entry.effects.meeting == Meeting::Arrive { None } else { Some(at) };
        let x = barrier(&mut list, ids, count);
        x.arrived += by_warps(&mut x.set, &present.set, n);
        x.sure &= known && x.count == count && kernel.executes_exactly(site) && !in_loop(flow, block);
        let each = |header: u32| {
            kernel.executes_every_iteration(site) || every_iteration(flow, header, block) && together(kernel, site)
        };
        x.looped &= known && x.count == count && loops.innermost(block).is_some_and(each);
        x.waits_only &= known && x.count == count && wait.is_some();
        x.wait = x.wait.or(wait);
    }
    for x in &list {
        // who waits does not arrive a second time
        let too_few = x.waits_only && threads(&x.set, n) < x.count;
        let mismatch = x.arrived % x.count.max(1) != 0;
        if x.count > 0
            && x.arrived > 0
            && (too_few || mismatch && (x.sure || x.looped))
            && apart(&list, x)
            && let Some(at) = x.wait
        {
            let i = flow.instr(at);
            let span = if let Some(b) = i.operand("b") { b.span } else { i.span };
            let come = if too_few && !x.sure { threads(&x.set, n) } else { x.arrived };
            kernel.report(errors::barrier_count(span, x.ids[0], x.count, come, !x.sure));
        }
    }
}

/// Threads that come to a barrier at one statement.
struct Coming {
    at: u32,
    id: u64,
    waits: bool,
    set: Set,
}

/// Barriers for more threads than ever come there, also in loops and with a number that depends on the warp.
fn too_few(kernel: &Kernel, all: &[Coming], n: usize) {
    let flow = kernel.flow;
    let mut reported: Vec<u64> = Vec::new();
    for here in all.iter().filter(|here| here.waits) {
        let Some(count) = flow.instr(here.at).constant("b") else { continue };
        let mut set: Set = [0; THREADS / 64];
        let mut waits = true;
        for other in all.iter().filter(|other| other.id == here.id) {
            waits &= other.waits;
            union_with(&mut set, &other.set);
        }
        let come = by_warps(&mut [0; THREADS / 64], &set, n);
        // who only arrives may do so several times
        if waits && come > 0 && come < count && !reported.contains(&here.id) {
            reported.push(here.id);
            let i = flow.instr(here.at);
            let span = if let Some(b) = i.operand("b") { b.span } else { i.span };
            kernel.report(errors::barrier_count(span, here.id, count, come, true));
        }
    }
}

/// A statement at which several groups of threads, each as large as the count, wait at one barrier. Nothing keeps the warps of one group
/// together: the first that come pass, unless the groups take turns.
fn shared_by_groups(kernel: &Kernel, all: &[Coming], n: usize) {
    let flow = kernel.flow;
    let loops = Loops::new(&flow.cfg);
    let mut seen: Vec<u64> = Vec::new();
    for here in all.iter().filter(|here| here.waits) {
        let Some(count) = flow.instr(here.at).constant("b").filter(|count| *count > 0) else { continue };
        if seen.contains(&here.id) || all.iter().any(|other| other.id == here.id && !other.waits) {
            continue;
        }
        let mut set: Set = [0; THREADS / 64];
        for other in all.iter().filter(|other| other.id == here.id && other.at == here.at) {
            union_with(&mut set, &other.set);
        }
        let come = by_warps(&mut [0; THREADS / 64], &set, n);
        if come <= count || !come.is_multiple_of(count) {
            continue;
        }
        seen.push(here.id);
        let site = Site { block: flow.cfg.block_of(here.at), at: here.at };
        let present = kernel.threads_at(site.block, site.at);
        let each = |header: u32| {
            kernel.executes_every_iteration(site) || every_iteration(flow, header, site.block) && together(kernel, site)
        };
        let all_come = match loops.innermost(site.block) {
            Some(header) => each(header),
            None => kernel.executes_exactly(site),
        };
        let accesses = [(site.block, site.at); 2];
        if all_come && !present.elected && !present.not_elected && !in_turns(kernel, accesses) {
            let i = flow.instr(here.at);
            let span = i.operand("b").map_or(i.span, |b| b.span);
            kernel.report(errors::barrier_of_groups(span, here.id, count, come));
        }
    }
}

/// All threads that come to barriers of the CTA. `None` if the number of one is not known.
fn coming(kernel: &Kernel, n: usize) -> Option<Vec<Coming>> {
    let Kernel { flow, lanes, .. } = *kernel;
    let loops = Loops::new(&flow.cfg);
    let mut all = Vec::new();
    for (block, at, i) in flow.walk().filter(|(_, _, i)| i.entry.effects.barrier == Barrier::Cta) {
        let waits = i.entry.effects.meeting != Meeting::Arrive;
        let present = kernel.threads_at(block, at);
        if let Some(id) = i.constant("a") {
            all.push(Coming { at, id, waits, set: present.set });
            continue;
        }
        let v = flow.source(at, "a").filter(|v| lanes.uniformity(*v) >= Uniformity::Warp)?;
        let mut number = Induction::new(flow, &loops, NONE, &[v], None)?;
        for (warp, bits) in present.warps(lanes.cta_size) {
            number.begin(Some(Thread { number: 32 * warp, shape: flow.function.reqntid }));
            let id = number.value(v)?;
            let mut set: Set = [0; THREADS / 64];
            set[warp / 2] |= u64::from(bits) << (32 * (warp % 2));
            all.push(Coming { at, id, waits, set });
        }
    }
    (all.len() <= n).then_some(all)
}

/// Does no other barrier have one of these numbers?
fn apart(list: &[Named], x: &Named) -> bool {
    list.iter().filter(|y| y.ids.iter().any(|id| x.ids.contains(id))).count() == 1
}

/// The threads of all warps of which some lane is in the set: a barrier counts warps.
fn threads(set: &Set, n: usize) -> u64 {
    by_warps(&mut [0; THREADS / 64], set, n)
}

/// Iterations that are evaluated.
const ITERATIONS: usize = 20;

/// The numbers of the barrier at a site: one, or those of the iterations of its loop in ascending order.
fn numbers(flow: &Flow, loops: &Loops, Site { block, at }: Site) -> Option<Vec<u64>> {
    let i = flow.instr(at);
    if let Some(id) = i.constant("a") {
        return Some(vec![id]);
    }
    let operand = &i.operand("a")?.value;
    let Operand::Reg(r, lane) = operand else { return None };
    let header = loops.innermost(block).filter(|_| !loops.irreducible())?;
    let mut of = Induction::new(flow, loops, header, &[flow.ssa.read(at, *r, *lane)], None)?;
    let mut ids = Vec::new();
    for _ in 0..ITERATIONS {
        let id = of.operand(at, operand)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
        if of.ends() {
            break;
        }
        of.next();
    }
    ids.sort_unstable();
    Some(ids)
}

/// The barrier with these numbers; a new one if it is the first use.
fn barrier(list: &mut Vec<Named>, ids: Vec<u64>, count: u64) -> &mut Named {
    let at = list.iter().position(|x| x.ids == ids).unwrap_or(list.len());
    if at == list.len() {
        let set = [0; THREADS / 64];
        list.push(Named { ids, count, arrived: 0, set, sure: true, looped: true, waits_only: true, wait: None });
    }
    &mut list[at]
}
