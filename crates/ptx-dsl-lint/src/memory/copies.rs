//! Asynchronous copies (PTX ISA 9.7.9.25): neither source nor destination may be touched before a wait. A forward data-flow
//! analysis tracks the state of each copy or of its group.

use crate::errors::protocol as errors;
use crate::kernel::Kernel;
use crate::may_synchronise::may_synchronise_cta;
use crate::memory::parts::{Parts, is_steady};
use crate::pending::{Groups, begin_pending, ends_thread, for_each_pending, is_pending, resolve};
use crate::sync::rings::uses::Rings;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{mbarrier_wait, written};
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr, for_each_instr_edge};
use ptx_dsl_analysis::lanes::Uniformity;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::region::{MAX_REGIONS, Region};
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_analysis::threads::missing;
use ptx_dsl_isa::hir::{Arg, Instr};
use ptx_dsl_isa::isa::{Control, Group, Mbarrier, Step};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.cfg.has(op::cp_async) {
        async_copies(kernel);
    }
    if flow.cfg.any(&|i| matches!(i.entry.effects.group, Group::Bulk(_))) {
        stores(kernel);
        loads(kernel);
    }
}

/// Is the source shared memory?
fn from_shared(i: &Instr) -> bool {
    i.has(q::shared_cluster) && i.has(q::shared_cta)
}

/// The `cp.async` of a thread (9.7.9.25.3).
struct Copies {
    groups: Groups,
    /// By copy: what it writes.
    targets: Vec<Option<Region>>,
    /// Shared variables that only these copies write.
    exclusive: Vec<AddressBase>,
}

impl Copies {
    fn new(kernel: &Kernel) -> Copies {
        let mut groups = Groups { copies: Vec::new() };
        let mut targets: Vec<Option<Region>> = Vec::new();
        for (_, at, i) in kernel.flow.walk() {
            if i.entry.effects.group == Group::Copy(Step::Start) && groups.copies.len() < MAX_REGIONS {
                groups.copies.push(at);
                targets.push(kernel.region_of(at, "dst", i.constant("cp-size").unwrap_or(0)));
            }
        }
        let exclusive = only_async_writes(kernel, &targets);
        Copies { groups, targets, exclusive }
    }

    /// The transfer function of the groups.
    fn step(&self, at: u32, i: &Instr, set: &mut Bits) {
        let groups = &self.groups;
        match i.entry.effects.group {
            Group::Copy(Step::Start) => {
                if let Some(k) = groups.copy(at) {
                    groups.start(set, k);
                }
            }
            Group::Copy(Step::Commit) => groups.commit(set),
            // `wait_all` also waits for the copies that are in no group yet.
            Group::Copy(Step::Wait) => {
                groups.wait(set, i.constant("N").unwrap_or(0) as usize, i.operand("N").is_none());
            }
            _ if i.opcode == op::cp_async_mbarrier_arrive || i.entry.effects.control == Control::Call => {
                groups.wait(set, 0, true);
            }
            _ => {}
        }
    }

    /// The first copy that may still write the region, and whether no path commits it: the bytes overlap, or only these copies write
    /// the variable and none can be complete.
    fn unfinished(&self, flow: &Flow, set: &Bits, here: &Region, writes: bool) -> Option<(usize, bool)> {
        let mut none_done = self.exclusive.contains(&here.base) && !writes;
        for (k, t) in self.targets.iter().enumerate() {
            none_done &= !matches!(t, Some(t) if t.base == here.base) || !self.groups.perhaps_done(set, k);
        }
        for (k, t) in self.targets.iter().enumerate() {
            if let Some(never) = self.groups.open(set, k)
                && let Some(t) = t
                && (t.overlaps(flow, here) || (t.base == here.base && none_done))
            {
                return Some((k, never));
            }
        }
        None
    }
}

/// Accesses to the destination of a `cp.async` before a wait, and exits before it is complete.
fn async_copies(kernel: &Kernel) {
    let flow = kernel.flow;
    let copies = Copies::new(kernel);
    let groups = &copies.groups;
    let mut reported = Vec::new();
    let step = |at: u32, i: &Instr, set: &mut Bits| copies.step(at, i, set);
    for_each_instr(&flow.cfg, groups.bits(), &step, &mut |_, at, i, set| {
        if let Some((arg, writes)) = plain_access(i)
            && let Some(here) = kernel.region(at, arg, i.bytes())
            && let Some((k, never)) = copies.unfinished(flow, set, &here, writes)
            && !reported.contains(&k)
        {
            reported.push(k);
            kernel.report(errors::copy_not_awaited(arg.span, flow.instr(groups.copies[k]).span, writes, never));
        }
        if ends_thread(i)
            && i.pred.is_none()
            && flow.function.entry
            && reported.is_empty()
            && let Some((k, never)) = groups.first_open(set)
        {
            reported.push(k);
            kernel.report(errors::leaves_with_cp_async(i.span, flow.instr(groups.copies[k]).span, never));
        }
    });
}

/// Shared variables that only `cp.async` with a known target writes.
fn only_async_writes(kernel: &Kernel, target: &[Option<Region>]) -> Vec<AddressBase> {
    let flow = kernel.flow;
    let mut vars = Vec::new();
    for t in target {
        match t {
            Some(t) if matches!(t.base, AddressBase::Var(_)) => {
                if !t.mapped {
                    vars.push(t.base);
                }
            }
            _ => return Vec::new(),
        }
    }
    if flow.calls {
        return Vec::new();
    }
    for (_, at, i) in flow.walk() {
        if i.entry.effects.group == Group::Copy(Step::Start) {
            continue;
        }
        let Some(arg) = written(i) else { continue };
        match kernel.region(at, arg, 0) {
            Some(Region { base: base @ AddressBase::Var(_), .. }) => vars.retain(|v| *v != base),
            _ => vars.clear(),
        }
    }
    vars
}

/// A copy out of shared memory: its block, its source, its tensor map.
struct Store {
    block: u32,
    source: Option<Region>,
    map: Option<Region>,
}

/// Copies out of shared memory: groups of the thread that issued them (9.7.9.25.6).
fn stores(kernel: &Kernel) {
    let flow = kernel.flow;
    let mut groups = Groups { copies: Vec::new() };
    let mut list = Vec::new();
    for (block, at, i) in flow.walk() {
        if i.has(q::bulk_group) && i.operand("srcMem").is_some() && groups.copies.len() < MAX_REGIONS {
            groups.copies.push(at);
            let source = kernel.region_of(at, "srcMem", i.constant("size").unwrap_or(0));
            list.push(Store { block, source, map: kernel.region_of(at, "tensorMap", 128) });
        }
    }
    if !list.is_empty() {
        sources(kernel, &groups, &list);
    }
}

/// The transfer function of the groups. Two bits for each copy follow them: it may be in flight for threads that did not wait; a
/// synchronisation may have told them.
fn update_groups(groups: &Groups, at: u32, i: &Instr, set: &mut Bits) {
    let flags = groups.bits();
    match i.entry.effects.group {
        Group::Bulk(Step::Commit) => groups.commit(set),
        Group::Bulk(Step::Wait) => groups.wait(set, i.constant("N").unwrap_or(0) as usize, false),
        _ if i.entry.effects.control == Control::Call => {
            groups.wait(set, 0, true);
            for k in 0..groups.copies.len() {
                set.unset(flags + 2 * k);
                set.set(flags + 2 * k + 1);
            }
        }
        _ => {
            if let Some(k) = groups.copy(at) {
                groups.start(set, k);
                set.set(flags + 2 * k);
                set.unset(flags + 2 * k + 1);
            } else if may_synchronise_cta(i) {
                for k in 0..groups.copies.len() {
                    if set.has(flags + 2 * k) && groups.open(set, k).is_none() {
                        set.unset(flags + 2 * k);
                        set.set(flags + 2 * k + 1);
                    }
                }
            }
        }
    }
}

fn sources(kernel: &Kernel, groups: &Groups, list: &[Store]) {
    let flow = kernel.flow;
    let n = list.len();
    let behind_groups = groups.bits();
    let mut reported = Bits::none(n);
    let step = |at: u32, i: &Instr, set: &mut Bits| update_groups(groups, at, i, set);
    let bypasses = bypasses(kernel, groups, list);
    let roles: Vec<Vec<(Val, bool)>> = groups.copies.iter().map(|at| role(flow, *at)).collect();
    let edge = |b: u32, to: u32, set: &mut Bits| {
        // A thread of another role has not started the copy.
        let of_others = |k: &usize| {
            let (p, _) = flow.cfg.branch(b).and_then(|branch| flow.guard(branch))?;
            let mut edges = flow.cfg.blocks[b as usize].succ.iter().filter(|e| e.to == to);
            let when = edges.next().filter(|_| edges.next().is_none())?.when?;
            roles[*k].contains(&(flow.origin(p), !when)).then_some(())
        };
        for k in (0..n).filter(|k| of_others(k).is_some()) {
            groups.forget(set, k);
            set.unset(behind_groups + 2 * k);
            set.unset(behind_groups + 2 * k + 1);
        }
        for (_, _, k) in bypasses.iter().filter(|(from, over, _)| (*from, *over) == (b, to)) {
            set.unset(behind_groups + 2 * k);
            set.unset(behind_groups + 2 * k + 1);
        }
    };
    let shared = SharedSources::new(kernel, groups, list);
    for_each_instr_edge(&flow.cfg, behind_groups + 2 * n, &step, &edge, &mut |b, at, i, set| {
        let written = match plain_access(i) {
            Some((arg, true)) => Some((arg, i.bytes())),
            _ if i.opcode == op::tensormap_replace => i.operand("addr").map(|a| (a, 128)),
            _ => None,
        };
        let target = match written {
            Some((arg, size)) => kernel.region(at, arg, size),
            None => None,
        };
        let overlaps = |r: &Option<Region>| matches!((r, &target), (Some(r), Some(target)) if r.overlaps(flow, target));
        for (k, store) in list.iter().enumerate() {
            if reported.has(k) {
                continue;
            }
            let copy = flow.instr(groups.copies[k]);
            let open = groups.open(set, k);
            if let Some((arg, _)) = written {
                let (source, map) = (overlaps(&store.source), overlaps(&store.map));
                if (source || map) && open.is_some() {
                    reported.set(k);
                    kernel.report(errors::source_rewritten(arg.span, copy.span, open == Some(true), map));
                } else if let (Some(false), Some(shared), true) = (open, &shared, i.opcode != op::tensormap_replace)
                    && shared.rewrites(kernel, k, at, arg)
                {
                    (0..n).for_each(|k| reported.set(k));
                    kernel.report(errors::source_perhaps_rewritten(arg.span, copy.span));
                } else if source
                    && set.has(behind_groups + 2 * k)
                    && !set.has(behind_groups + 2 * k + 1)
                    && another_thread(kernel, (store.block, groups.copies[k]), (b, at))
                {
                    reported.set(k);
                    kernel.report(errors::source_rewritten_by_others(arg.span, copy.span));
                }
            }
            if ends_thread(i) && i.pred.is_none() && flow.function.entry && open.is_some() {
                reported.set(k);
                kernel.report(errors::leaves_with_copy(i.span, copy.span, open == Some(true)));
            }
        }
    });
}

/// The edges on which threads pass by copies that other threads of the CTA execute meanwhile: the block, its successor, the copy. What is
/// known of the copy where both ways meet is what those threads did.
fn bypasses(kernel: &Kernel, groups: &Groups, list: &[Store]) -> Vec<(u32, u32, usize)> {
    let Kernel { flow, lanes, .. } = *kernel;
    let mut out = Vec::new();
    for (k, store) in list.iter().enumerate().take(groups.copies.len()) {
        let mut b = store.block;
        for _ in 0..200 {
            let up = flow.cfg.idom[b as usize];
            if up == NONE || up == b {
                break;
            }
            let succ = &flow.cfg.blocks[up as usize].succ;
            let leads = |to: u32| flow.cfg.dominates(to, store.block);
            if let Some(branch) = flow.cfg.branch(up)
                && matches!(flow.guard(branch), Some((p, _)) if lanes.uniformity(p) < Uniformity::Cta)
                && succ.iter().any(|e| leads(e.to))
            {
                out.extend(succ.iter().filter(|e| !leads(e.to)).map(|e| (up, e.to, k)));
            }
            b = up;
        }
    }
    out
}

/// The sources of copies in arrays that hold more than these: each from its start to the next one's.
struct SharedSources {
    parts: Parts,
    /// By copy: the variable and the bytes, if its address is the same each time.
    sources: Vec<Option<(u32, std::ops::Range<i64>)>>,
}

impl SharedSources {
    /// `None` if the bytes of all sources are known without it.
    fn new(kernel: &Kernel, groups: &Groups, list: &[Store]) -> Option<SharedSources> {
        let unknown = |store: &Store| {
            store.source.as_ref().is_some_and(|r| matches!(r.base, AddressBase::Var(_)) && r.bytes.is_none())
        };
        if !list.iter().any(unknown) {
            return None;
        }
        let parts = Parts::new(kernel);
        let start = |at: &u32| {
            let arg = kernel.flow.instr(*at).operand("srcMem").filter(|arg| is_steady(kernel, *at, arg))?;
            parts.floor(kernel, *at, arg)
        };
        let starts: Vec<Option<(u32, i64)>> = groups.copies.iter().map(start).collect();
        let source = |start: &Option<(u32, i64)>| {
            let (var, from) = (*start)?;
            let (_, free) = parts.free(var, from)?;
            let next = starts.iter().flatten().filter(|(v, at)| *v == var && *at > from).map(|(_, at)| *at).min();
            Some((var, from..next.unwrap_or(i64::MAX).min(free)))
        };
        let sources = starts.iter().map(source).collect();
        Some(SharedSources { parts, sources })
    }

    /// Does a store begin in the source of copy `k`, each time at one place?
    fn rewrites(&self, kernel: &Kernel, k: usize, at: u32, arg: &Arg) -> bool {
        let Some((var, bytes)) = self.sources.get(k).and_then(Option::as_ref) else { return false };
        let floor = self.parts.floor(kernel, at, arg);
        floor.is_some_and(|(v, from)| v == *var && bytes.contains(&from)) && is_steady(kernel, at, arg)
    }
}

/// The predicates that a thread needs to come to an instruction, if they have one value for each thread: nothing in a loop computes them.
fn role(flow: &Flow, at: u32) -> Vec<(Val, bool)> {
    let steady = |p: Val| flow.ssa.maker(p).is_some_and(|maker| !flow.cfg.in_loop(flow.cfg.block_of(maker)));
    let mut all: Vec<(Val, bool)> = flow.guard(at).map(|(p, is)| (flow.origin(p), is)).into_iter().collect();
    let mut b = flow.cfg.block_of(at);
    for _ in 0..200 {
        let up = flow.cfg.idom[b as usize];
        if up == NONE || up == b {
            break;
        }
        if let Some((p, _)) = flow.cfg.branch(up).and_then(|branch| flow.guard(branch))
            && flow.cfg.only_predecessor(b, up)
            && let Some(when) = flow.cfg.blocks[up as usize].succ.iter().find(|e| e.to == b).and_then(|e| e.when)
        {
            all.push((flow.origin(p), when));
        }
        b = up;
    }
    all.retain(|(p, _)| steady(*p));
    all
}

/// Is there certainly a thread that reaches the second site and not the first?
fn another_thread(kernel: &Kernel, first: (u32, u32), second: (u32, u32)) -> bool {
    let lanes = kernel.lanes;
    let Some(n) = lanes.cta_size.exact else { return false };
    let a = kernel.threads_at(first.0, first.1);
    let b = kernel.threads_at(second.0, second.1);
    let all = kernel.every_lane(&b, second.0, second.1) && missing(&b.set, n).is_none();
    all && ((a.elected && n > 1) || missing(&a.set, n).is_some())
}

/// A copy into shared memory that completes on an mbarrier.
struct Load {
    at: u32,
    into: Region,
    mbar: Region,
    map: Option<Region>,
    waited: bool,
    /// It completes on an object of a ring, which one is unknown.
    in_ring: bool,
}

/// These copies; `None` if something that may concern them is unknown.
fn find_loads(kernel: &Kernel) -> Option<Vec<Load>> {
    let flow = kernel.flow;
    let mut list: Vec<Load> = Vec::new();
    let mut waits: Vec<Region> = Vec::new();
    let known = |r: &Region| matches!(r.base, AddressBase::Var(_)) && !r.mapped;
    let mut other = flow.calls;
    for (_, at, i) in flow.walk() {
        if mbarrier_wait(i) {
            match kernel.region_of(at, "addr", 8) {
                Some(w) if known(&w) => waits.push(w),
                _ => other = true,
            }
        } else if i.has(q::mbarrier_complete_tx_bytes) && i.operand("dstMem").is_some() {
            let into = kernel.region_of(at, "dstMem", i.constant("size").unwrap_or(0));
            match (into, kernel.region_of(at, "mbar", 8)) {
                (Some(into), Some(mbar)) if list.len() < MAX_REGIONS => {
                    let (map, in_ring) = (kernel.region_of(at, "tensorMap", 128), mbar.bytes.is_none());
                    list.push(Load { at, into, mbar, map, waited: false, in_ring });
                }
                _ => other = true,
            }
        }
    }
    if other {
        return None;
    }
    list.retain(|l| known(&l.mbar) && !l.into.mapped && !from_shared(flow.instr(l.at)));
    for l in &mut list {
        for w in &waits {
            l.waited |= w.may_overlap(&l.mbar);
        }
    }
    Some(list)
}

/// Copies into shared memory: the data is there after a wait.
fn loads(kernel: &Kernel) {
    if let Some(list) = find_loads(kernel) {
        unfinished(kernel, &list);
    }
}

/// Waits for another object than that of a copy, by which a thread may learn that the copy is complete: some thread that waits for the
/// copy then arrives there. The waits for free stages that return at once in the first two iterations tell nothing.
fn told(kernel: &Kernel, list: &[Load]) -> Vec<(u32, usize)> {
    let flow = kernel.flow;
    let Some(rings) = Rings::new(kernel) else { return Vec::new() };
    let early: Vec<u32> = rings.returns_at_once().filter(|w| w.passes_twice()).map(|w| w.site.at).collect();
    let waits = |at: u32, i: &Instr| if mbarrier_wait(i) { kernel.region_of(at, "addr", 8) } else { None };
    let mut out = Vec::new();
    for (k, l) in list.iter().enumerate() {
        let blocks = flow.walk().filter(|(_, at, i)| waits(*at, i).is_some_and(|w| w.may_overlap(&l.mbar)));
        let after = flow.cfg.reachable_from(blocks.map(|(block, _, _)| block));
        let arrivals: Vec<Region> = flow
            .walk()
            .filter(|(block, _, i)| after[*block as usize] && i.entry.effects.mbarrier == Mbarrier::Arrive)
            .filter_map(|(_, at, _)| kernel.region_of(at, "addr", 8))
            .collect();
        for (_, at, i) in flow.walk() {
            if let Some(w) = waits(at, i)
                && !early.contains(&at)
                && arrivals.iter().any(|a| a.may_overlap(&w))
            {
                out.push((at, k));
            }
        }
    }
    out
}

fn unfinished(kernel: &Kernel, list: &[Load]) {
    let flow = kernel.flow;
    let tells = if list.iter().any(|l| l.in_ring) { told(kernel, list) } else { Vec::new() };
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if mbarrier_wait(i) {
            let on = kernel.region_of(at, "addr", 8);
            for (k, l) in list.iter().enumerate() {
                if on.is_none_or(|w| w.may_overlap(&l.mbar)) || tells.contains(&(at, k)) {
                    resolve(set, k);
                }
            }
            return;
        }
        let synchronises = may_synchronise_cta(i) || i.opcode == op::fence;
        for (k, l) in list.iter().enumerate() {
            if l.at == at {
                begin_pending(set, k);
            } else if synchronises && l.waited {
                // Another thread may have waited.
                resolve(set, k);
            }
        }
    };
    let mut reported = Bits::none(list.len());
    for_each_pending(flow, list.len(), &step, &mut |_, at, i, set| {
        let touched = match plain_access(i) {
            Some((arg, writes)) => Some((arg, i.bytes(), writes)),
            None if i.opcode == op::tensormap_replace => i.operand("addr").map(|a| (a, 128, true)),
            None if i.has(q::bulk_group) => i.operand("srcMem").map(|a| (a, i.constant("size").unwrap_or(0), false)),
            None => None,
        };
        let Some((arg, size, writes)) = touched else { return };
        let Some(here) = kernel.region(at, arg, size) else { return };
        for (k, l) in list.iter().enumerate() {
            if reported.has(k) || !is_pending(set, k) {
                continue;
            }
            let map = writes && matches!(&l.map, Some(m) if m.overlaps(flow, &here));
            if map || !l.in_ring && l.into.overlaps(flow, &here) {
                reported.set(k);
                let copy = flow.instr(l.at).span;
                kernel.report(errors::load_unfinished(arg.span, copy, writes, map, l.waited, i.has(q::bulk_group)));
            }
        }
    });
    for (k, l) in list.iter().enumerate() {
        if !l.waited && !reported.has(k) && flow.function.entry {
            let name = match l.mbar.base {
                AddressBase::Var(v) => flow.variable_name(v.0),
                _ => "",
            };
            kernel.report(errors::nobody_waits(flow.instr(l.at).span, name));
            break;
        }
    }
}
