//! The generic and the asynchronous proxy (PTX ISA 8.2.4, 9.7.13.4): what threads wrote, a bulk copy, `wgmma` or `tcgen05` reads
//! after a proxy fence only, and what threads read, it writes over after one only.

use super::Flow;
use super::converge::Places;
use super::copies::mbarrier_wait;
use super::dataflow::{Bits, Meet, simple};
use super::lanes::Lanes;
use super::mbarriers::{Site, in_loop, steadily};
use super::memory::{MOST, Region, bytes, constant, plain, region};
use super::provenance::{Origin, Provenance};
use super::ssa::{Val, Value};
use crate::errors::protocol as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Arg, Instr, Operand, Space, VarId};

pub(super) fn check(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, out: &mut Vec<Diagnostic>) {
    if flow.calls {
        return;
    }
    let any = |f: &dyn Fn(&Instr) -> bool| flow.cfg.any(f);
    for space in [Space::Shared, Space::Global] {
        if any(&|i| source(i) == Some(space))
            && let Some(writes) = Writes::new(flow, lanes, places, from, space)
        {
            sources(flow, from, &writes, out);
        }
    }
    if any(&|i| matrix(i).is_some())
        && let Some(writes) = Writes::new(flow, lanes, places, from, Space::Shared)
    {
        matrices(flow, &writes, out);
    }
    if any(&fills) {
        reused(flow, lanes, from, out);
    }
}

/// The space of the source of a bulk copy.
fn source(i: &Instr) -> Option<Space> {
    i.operand("srcMem")?;
    if i.has(".shared::cta") && (i.has(".bulk_group") || i.has(".shared::cluster")) {
        return Some(Space::Shared);
    }
    (i.has(".global") && i.operand("dstMem").is_some() && !i.has(".bulk_group")).then_some(Space::Global)
}

/// Writes shared memory by the asynchronous proxy.
fn fills(i: &Instr) -> bool {
    (i.operand("dstMem").is_some() && !i.has(".bulk_group"))
        || matches!(i.entry.opcode, "clusterlaunchcontrol.try_cancel" | "st.async" | "red.async" | "st.bulk")
}

/// Reads matrices in shared memory: what the instruction is called.
fn matrix(i: &Instr) -> Option<&'static str> {
    let op = i.entry.opcode;
    match op {
        "wgmma.mma_async" | "wgmma.mma_async.sp" | "tcgen05.cp" => Some(op),
        _ if op.starts_with("tcgen05.mma") => Some("tcgen05.mma"),
        _ => None,
    }
}

/// A fence between the generic and the asynchronous proxy, in this space.
fn fences(i: &Instr, space: Space) -> bool {
    let named = i.has(".global") || i.has(".shared::cta") || i.has(".shared::cluster");
    let here =
        if space == Space::Global { i.has(".global") } else { i.has(".shared::cta") || i.has(".shared::cluster") };
    i.spelling.starts_with("fence.proxy.async")
        && (!named || here || (space == Space::Shared && i.spelling.starts_with("fence.proxy.async::")))
}

/// Lets threads meet.
fn meets(i: &Instr) -> bool {
    let op = i.entry.opcode;
    op.starts_with("bar.") || op.starts_with("barrier.") || mbarrier_wait(i)
}

/// What threads write in one space, and at each block whether it was fenced.
struct Writes {
    list: Vec<(u32, Region)>,
    /// Written by more threads than one.
    many: Vec<bool>,
    /// Written by others: copies, other CTAs, or by addresses that are not known.
    filled: Vec<Region>,
    unclear: bool,
    /// By fence: one thread runs it.
    lone: Vec<(u32, bool)>,
    space: Space,
    at_start: Vec<Bits>,
}

/// What became of a write: not fenced; not fenced, and threads have met; fenced by one thread after that; fenced.
const OPEN: usize = 0;
const MET: usize = 1;
const LATE: usize = 2;
const DONE: usize = 3;

impl Writes {
    fn new(flow: &Flow, lanes: &Lanes, places: &Places, from: &Provenance, space: Space) -> Option<Writes> {
        let (mut list, mut many, mut filled, mut lone) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut unclear = false;
        let here = std::cell::Cell::new(0);
        let alone = |at: u32| {
            let who = places.who(flow, lanes, here.get(), at);
            let one = who.warps(lanes.threads).iter().map(|w| w.1.count_ones()).sum::<u32>() <= 1;
            one || (who.elected && who.warps(lanes.threads).len() == 1)
        };
        flow.walk(
            |b| here.set(b),
            |at, i| {
                let copied = i.operand("dst").filter(|_| i.entry.opcode == "cp.async");
                let written = match (plain(i), copied) {
                    (Some((arg, true)), _) => Some((arg, bytes(i))),
                    (_, Some(arg)) => Some((arg, constant(i, "cp-size").unwrap_or(0))),
                    _ => None,
                };
                if let Some((arg, size)) = written {
                    let r = region(flow, from, at, arg, size);
                    let elsewhere = copied.is_none() && (i.has(".global") || i.has(".local"));
                    unclear |= !elsewhere && r.is_none_or(|r| r.base == Origin::None);
                    if let Some(r) = r.filter(|r| r.space == space && !r.mapped) {
                        list.push((at, r));
                        many.push(!alone(at));
                    }
                } else if fills(i) {
                    let arg = i.operand("dstMem").or_else(|| i.operand("addr")).or_else(|| i.operand("a"));
                    match arg.and_then(|a| region(flow, from, at, a, 0)) {
                        Some(r) if !r.mapped => filled.push(r),
                        _ => unclear = true,
                    }
                } else if fences(i, space) {
                    lone.push((at, alone(at)));
                }
            },
        );
        if list.len() > MOST {
            return None;
        }
        let mut out = Writes { list, many, filled, unclear, lone, space, at_start: Vec::new() };
        out.at_start = simple(&flow.cfg, 4 * out.list.len(), Meet::Any, &mut |at, i, s| out.step(at, i, s));
        Some(out)
    }

    fn step(&self, at: u32, i: &Instr, set: &mut Bits) {
        let become_ = |set: &mut Bits, k: usize, from: usize, to: usize| {
            if set.has(4 * k + from) {
                set.unset(4 * k + from);
                set.set(4 * k + to);
            }
        };
        let all = 0..self.list.len();
        if let Some(k) = self.list.iter().position(|s| s.0 == at) {
            (0..4).for_each(|n| set.put(4 * k + n, n == OPEN));
        } else if fences(i, self.space) {
            let lone = self.lone.iter().any(|f| f.0 == at && f.1);
            for k in all {
                become_(set, k, OPEN, DONE);
                become_(set, k, MET, if lone && self.many[k] { LATE } else { DONE });
            }
        } else if meets(i) {
            all.for_each(|k| become_(set, k, OPEN, MET));
        }
    }

    /// Is write `k` not fenced on any way here?
    fn owed(&self, set: &Bits, k: usize) -> bool {
        let has = |n: usize| set.has(4 * k + n);
        (has(OPEN) || has(MET)) && !has(LATE) && !has(DONE)
    }

    /// Is it fenced by one thread only, and behind a barrier, on all ways?
    fn late(&self, set: &Bits, k: usize) -> bool {
        let has = |n: usize| set.has(4 * k + n);
        has(LATE) && !has(OPEN) && !has(MET) && !has(DONE)
    }

    /// Calls `see` with what became of the writes before each instruction.
    fn each(&self, flow: &Flow, see: &mut dyn FnMut(u32, &Instr, &Bits)) {
        for &b in &flow.cfg.rpo {
            let mut set = self.at_start[b as usize].clone();
            for at in flow.cfg.range(b) {
                let i = flow.cfg.instrs[at as usize];
                see(at, i, &set);
                self.step(at, i, &mut set);
            }
        }
    }
}

/// Stores, then a bulk copy of the same bytes.
fn sources(flow: &Flow, from: &Provenance, writes: &Writes, out: &mut Vec<Diagnostic>) {
    let list = &writes.list;
    let mut said = false;
    writes.each(flow, &mut |at, i, set| {
        if said || source(i) != Some(writes.space) {
            return;
        }
        let Some(arg) = i.operand("srcMem") else { return };
        let Some(here) = region(flow, from, at, arg, constant(i, "size").unwrap_or(0)) else { return };
        // Either the bytes are the same, or nobody else writes to the variable and no store to it is fenced.
        let of_it = |r: &Region| r.base == here.base && here.base != Origin::None;
        let only = writes.space == Space::Shared
            && !writes.unclear
            && !writes.filled.iter().any(|r| r.base == here.base || r.base == Origin::None);
        let all = |is: &dyn Fn(usize) -> bool| only && (0..list.len()).all(|k| !of_it(&list[k].1) || is(k));
        let find = |is: &dyn Fn(usize) -> bool| {
            let all = all(is);
            (0..list.len()).find(|k| is(*k) && (list[*k].1.meets(flow, &here) || (all && of_it(&list[*k].1))))
        };
        let span = |k: usize| flow.cfg.instrs[list[k].0 as usize].span;
        if let Some(k) = find(&|k| writes.owed(set, k)) {
            said = true;
            out.push(errors::no_proxy_fence(arg.span, i.entry.opcode, span(k), writes.space == Space::Global));
        } else if let Some(k) = find(&|k| writes.late(set, k)) {
            said = true;
            out.push(errors::proxy_fence_late(arg.span, i.entry.opcode, span(k)));
        }
    });
}

/// The shared variable whose address a descriptor is made of, if there is one only.
fn descends(flow: &Flow, at: u32, arg: &Arg) -> Option<VarId> {
    let mut found: Option<VarId> = None;
    let mut stack: Vec<Val> = Vec::new();
    let mut one = true;
    let mut budget = 300;
    super::ssa::registers(&arg.value, &mut |r, lane| stack.push(flow.ssa.read(at, r, lane)));
    let mut seen: Vec<Val> = Vec::new();
    while let Some(v) = stack.pop() {
        budget -= 1;
        if budget == 0 {
            return None;
        }
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        match &flow.ssa.values[v as usize] {
            Value::Def { instr, old, .. } => {
                let i = flow.cfg.instrs[*instr as usize];
                // What is loaded may be anything.
                if matches!(i.entry.opcode, "ld" | "call" | "atom") && !i.has(".param") {
                    return None;
                }
                for a in &i.operands {
                    if let Operand::VarAddr(id, _) = a.value {
                        one &= found.is_none_or(|f| f == id);
                        found = Some(id);
                    }
                }
                stack.extend(flow.ssa.uses(*instr).iter().map(|u| u.1));
                stack.extend(old);
            }
            Value::Phi { args, .. } => stack.extend(args),
            Value::Undef | Value::Param => {}
        }
    }
    found.filter(|_| one)
}

/// Matrices that only threads have written.
fn matrices(flow: &Flow, writes: &Writes, out: &mut Vec<Diagnostic>) {
    if !flow.function.entry || writes.list.is_empty() {
        return;
    }
    let list = &writes.list;
    // Where nothing but threads writes, and nothing fences at all, it does not matter where the matrices are.
    let bare = !flow.cfg.any(&|i| fills(i) || fences(i, Space::Shared));
    let mut said = false;
    writes.each(flow, &mut |at, i, set| {
        let Some(op) = matrix(i).filter(|_| !said) else { return };
        let span = |k: usize| flow.cfg.instrs[list[k].0 as usize].span;
        let descriptors = || i.operands.iter().filter(|a| a.name.ends_with("desc"));
        for arg in descriptors() {
            let Some(var) = descends(flow, at, arg) else { continue };
            let of_it = |r: &Region| r.base == Origin::Var(var);
            if writes.unclear || writes.filled.iter().any(|r| of_it(r) || r.base == Origin::None) {
                continue;
            }
            let find = |is: &dyn Fn(usize) -> bool| {
                let mut of = (0..list.len()).filter(|k| of_it(&list[*k].1) && (0..4).any(|n| set.has(4 * k + n)));
                of.clone().all(is).then(|| of.next()).flatten()
            };
            if let Some(k) = find(&|k| writes.owed(set, k)) {
                said = true;
                out.push(errors::no_proxy_fence(arg.span, op, span(k), false));
            } else if let Some(k) = find(&|k| writes.late(set, k)) {
                said = true;
                out.push(errors::proxy_fence_late(arg.span, op, span(k)));
            }
            if said {
                return;
            }
        }
        let first = (0..list.len()).find(|k| writes.owed(set, *k));
        if let (true, Some(arg), Some(_)) = (bare, descriptors().next(), first) {
            said = true;
            out.push(errors::no_proxy_fence(arg.span, op, span(0), false));
        }
    });
}

/// Loads of threads, then an asynchronous operation that writes over what they read. By the thread itself, in straight order,
/// this may still be right where something orders the two that is not seen here: a hint.
fn reused(flow: &Flow, lanes: &Lanes, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let mut list = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            if let Some((arg, false)) = plain(i)
                && let Some(r) = region(flow, from, at, arg, bytes(i)).filter(|r| r.space == Space::Shared)
                && list.len() < MOST
            {
                list.push((at, r));
            }
        },
    );
    // For each load: nothing since; a release to the other proxy; fenced.
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        let become_ = |set: &mut Bits, k: usize, from: usize, to: usize| {
            if set.has(3 * k + from) {
                set.unset(3 * k + from);
                set.set(3 * k + to);
            }
        };
        if let Some(k) = list.iter().position(|s| s.0 == at) {
            (0..3).for_each(|n| set.put(3 * k + n, n == 0));
        } else if fences(i, Space::Shared) {
            let half = i.spelling.starts_with("fence.proxy.async::");
            for k in 0..list.len() {
                match (half, i.has(".release")) {
                    (false, _) => {
                        become_(set, k, 0, 2);
                        become_(set, k, 1, 2);
                    }
                    (true, true) => become_(set, k, 0, 1),
                    (true, false) => become_(set, k, 1, 2),
                }
            }
        }
    };
    let at_start = simple(&flow.cfg, 3 * list.len(), Meet::Any, &mut |at, i, s| step(at, i, s));
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            let arg = i.operand("dstMem").or_else(|| i.operand("addr")).or_else(|| i.operand("a"));
            let size = if i.entry.opcode.starts_with("cluster") { 16 } else { constant(i, "size").unwrap_or(0) };
            // What fills in some rounds only may do so before anything was loaded.
            let each = || !in_loop(flow, b) || steadily(flow, lanes, Site { block: b, at });
            if let Some(arg) = arg.filter(|_| fills(i) && each())
                && let Some(here) = region(flow, from, at, arg, size)
            {
                let open = |k: usize| (set.has(3 * k) || set.has(3 * k + 1)) && !set.has(3 * k + 2);
                if let Some(k) = (0..list.len()).find(|k| open(*k) && list[*k].1.meets(flow, &here)) {
                    let half = set.has(3 * k + 1) && !set.has(3 * k);
                    let load = flow.cfg.instrs[list[k].0 as usize].span;
                    out.push(errors::reused_without_fence(arg.span, i.entry.opcode, load, half));
                    return;
                }
            }
            step(at, i, &mut set);
        }
    }
}
