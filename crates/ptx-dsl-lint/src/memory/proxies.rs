//! The generic and the async proxy (PTX ISA 8.2.4, 9.7.13.4): a proxy fence must stand between accesses of threads and
//! accesses of bulk copies, `wgmma` and `tcgen05` to the same memory. A forward data-flow analysis tracks the state of each write.

use crate::errors::protocol as errors;
use crate::kernel::Kernel;
use crate::may_synchronise::waits_for_threads;
use crate::memory::parts::{Parts, target, writes_async};
use crate::memory::rewrites::Rewrite;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::value_access;
use ptx_dsl_analysis::dataflow::{Bits, Meet, for_each_instr, forward_instrs};
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::region::{MAX_REGIONS, Region};
use ptx_dsl_analysis::sites::{Site, in_loop, reaches};
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::{Arg, Instr, Operand, Space, VarId};
use ptx_dsl_isa::isa::{Control, Group, MemoryOp, Proxy, Step, Tensor};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::span::Span;

mod unordered;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.calls {
        return;
    }
    let any = |f: &dyn Fn(&Instr) -> bool| flow.cfg.any(f);
    for space in [Space::Shared, Space::Global] {
        if any(&|i| source(i) == Some(space))
            && let Some(writes) = Writes::new(kernel, space)
        {
            sources(kernel, &writes);
        }
    }
    if any(&|i| matrix(i).is_some())
        && let Some(writes) = Writes::new(kernel, Space::Shared)
    {
        matrices(kernel, &writes);
    }
    if any(&writes_async) {
        reused(kernel);
    }
}

/// The space of the source of a bulk copy.
fn source(i: &Instr) -> Option<Space> {
    i.operand("srcMem")?;
    if i.has(q::shared_cta) && (i.has(q::bulk_group) || i.has(q::shared_cluster)) {
        return Some(Space::Shared);
    }
    (i.has(q::global) && i.operand("dstMem").is_some() && !i.has(q::bulk_group)).then_some(Space::Global)
}

/// Does a thread copy asynchronously through the generic proxy?
fn copies(i: &Instr) -> bool {
    i.entry.effects.group == Group::Copy(Step::Start)
}

/// The name of an instruction that reads matrices in shared memory.
fn matrix(i: &Instr) -> Option<&'static str> {
    let effects = i.entry.effects;
    match (effects.memory, effects.proxy) {
        (MemoryOp::Load, Proxy::Async) if effects.tensor == Tensor::Mma => Some("tcgen05.mma"),
        (MemoryOp::Load, Proxy::Async) => Some(i.entry.opcode),
        _ => None,
    }
}

/// A fence between the generic and the async proxy, in this space.
fn fences(i: &Instr, space: Space) -> bool {
    if !(i.opcode == op::fence && i.has_any(&[q::_async, q::async_generic])) {
        return false;
    }
    let shared = i.has(q::shared_cta) || i.has(q::shared_cluster);
    let global = i.has(q::global);
    let here = if space == Space::Global { global } else { shared };
    here || !(global || shared) || (space == Space::Shared && i.has(q::async_generic))
}

/// The writes of threads to one space, and the state of each at the start of every block.
struct Writes {
    list: Vec<(u32, Region)>,
    /// By write: several threads may execute it.
    many: Vec<bool>,
    /// Regions that copies or other CTAs write; whether some address is unknown.
    filled: Vec<Region>,
    unclear: bool,
    /// The fences, each with whether one lane of a warp executes it.
    single_thread: Vec<(u32, bool)>,
    space: Space,
    at_start: Vec<Bits>,
}

/// Does at most one lane of each warp execute the instruction?
fn single_thread(kernel: &Kernel, block: u32, at: u32) -> bool {
    let present = kernel.threads_at(block, at);
    present.elected || present.warps(kernel.lanes.cta_size).iter().all(|(_, lanes)| lanes.count_ones() <= 1)
}

/// The state of a write: not fenced; not fenced before a synchronisation; fenced by one thread after it; by many threads, which have not
/// synchronised since; fenced.
const UNFENCED: usize = 0;
const SYNCHRONISED: usize = 1;
const FENCED_LATE: usize = 2;
const FENCED_BY_ALL: usize = 3;
const FENCED: usize = 4;
const STATES: usize = 5;

impl Writes {
    fn new(kernel: &Kernel, space: Space) -> Option<Writes> {
        let flow = kernel.flow;
        let mut out = Writes {
            list: Vec::new(),
            many: Vec::new(),
            filled: Vec::new(),
            unclear: false,
            single_thread: Vec::new(),
            space,
            at_start: Vec::new(),
        };
        for (block, at, i) in flow.walk() {
            let one = || single_thread(kernel, block, at);
            if fences(i, space) {
                out.single_thread.push((at, one()));
            } else if let Some(r) = out.add(kernel, at, i) {
                out.list.push((at, r));
                out.many.push(!one());
            }
        }
        if out.list.len() > MAX_REGIONS {
            return None;
        }
        out.at_start = forward_instrs(&flow.cfg, STATES * out.list.len(), Meet::Any, &|at, i, s| out.step(at, i, s));
        Some(out)
    }

    /// The region that a thread writes in this space. Records other writes.
    fn add(&mut self, kernel: &Kernel, at: u32, i: &Instr) -> Option<Region> {
        let copy = copies(i);
        let written = match plain_access(i) {
            Some((arg, true)) => Some((arg, i.bytes())),
            _ if copy => i.operand("dst").map(|arg| (arg, i.constant("cp-size").unwrap_or(0))),
            _ => None,
        };
        if let Some((arg, size)) = written {
            let r = kernel.region(at, arg, size);
            let elsewhere = !copy && (i.has(q::global) || i.has(q::local));
            self.unclear |= !elsewhere && !matches!(&r, Some(r) if r.base != AddressBase::None);
            return match r {
                Some(r) if r.space == self.space && !r.mapped => Some(r),
                _ => None,
            };
        }
        if writes_async(i) {
            match target(i).map(|arg| kernel.region(at, arg, 0)) {
                Some(Some(r)) if !r.mapped => self.filled.push(r),
                _ => self.unclear = true,
            }
        }
        None
    }

    fn step(&self, at: u32, i: &Instr, set: &mut Bits) {
        for (k, (write, _)) in self.list.iter().enumerate() {
            if *write == at {
                set.set_state(STATES * k, STATES, UNFENCED);
                return;
            }
        }
        if fences(i, self.space) {
            let single_thread = self.single_thread.contains(&(at, true));
            for (k, many) in self.many.iter().enumerate() {
                set.transition(STATES * k + UNFENCED, STATES * k + FENCED);
                set.transition(
                    STATES * k + SYNCHRONISED,
                    STATES * k
                        + match (*many, single_thread) {
                            (false, _) => FENCED,
                            (true, true) => FENCED_LATE,
                            (true, false) => FENCED_BY_ALL,
                        },
                );
            }
        } else if waits_for_threads(i) {
            for k in 0..self.list.len() {
                set.transition(STATES * k + UNFENCED, STATES * k + SYNCHRONISED);
                set.transition(STATES * k + FENCED_BY_ALL, STATES * k + FENCED);
            }
        }
    }

    /// May something else write to the variable?
    fn by_others(&self, base: AddressBase) -> bool {
        for r in &self.filled {
            if r.base == base || r.base == AddressBase::None {
                return true;
            }
        }
        self.unclear
    }

    /// Is write `k` fenced on no path?
    fn is_pending(&self, set: &Bits, k: usize) -> bool {
        let has = |n: usize| set.has(STATES * k + n);
        (has(UNFENCED) || has(SYNCHRONISED)) && !has(FENCED_LATE) && !has(FENCED_BY_ALL) && !has(FENCED)
    }

    /// Is write `k` on all paths fenced only after a synchronisation, by a thread that reads it alone? `alone`: one thread reads.
    fn fenced_late(&self, set: &Bits, k: usize, alone: bool) -> bool {
        let has = |n: usize| set.has(STATES * k + n);
        let late = has(FENCED_LATE) || alone && has(FENCED_BY_ALL);
        let other = has(UNFENCED) || has(SYNCHRONISED) || has(FENCED) || !alone && has(FENCED_BY_ALL);
        late && !other
    }

    /// The first write in this state that a copy reads: the bytes overlap, or nothing else writes to the variable and all its
    /// writes are in this state.
    fn of_source(&self, flow: &Flow, here: &Region, is: &dyn Fn(usize) -> bool) -> Option<usize> {
        let mut all = self.space == Space::Shared && here.base != AddressBase::None && !self.by_others(here.base);
        for (k, (_, r)) in self.list.iter().enumerate() {
            all = all && (r.base != here.base || is(k));
        }
        for (k, (_, r)) in self.list.iter().enumerate() {
            if is(k) && (r.overlaps(flow, here) || (all && r.base == here.base)) {
                return Some(k);
            }
        }
        None
    }

    /// The parts of a variable in which copies and threads write. `None` if it is clear without them, or an address is not known.
    fn parts(&self, kernel: &Kernel) -> Option<Parts> {
        let mixed = |r: &Region| r.base != AddressBase::None && self.list.iter().any(|(_, w)| w.base == r.base);
        if self.space != Space::Shared || self.unclear || !self.filled.iter().any(mixed) {
            return None;
        }
        Some(Parts::new(kernel))
    }

    /// The first write in this state to the part of the variable in which a copy's source lies, if no copy writes there and all its
    /// writes are in this state.
    fn of_part(
        &self,
        kernel: &Kernel,
        parts: &Parts,
        source: (u32, &Arg),
        is: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let flow = kernel.flow;
        let (var, offset) = parts.floor(kernel, source.0, source.1)?;
        let (from, to) = parts.free(var, offset)?;
        let mut first = None;
        for (k, (at, r)) in self.list.iter().enumerate().filter(|(_, (_, r))| r.base == AddressBase::Var(VarId(var))) {
            let i = flow.instr(*at);
            let arg = plain_access(i).map(|(arg, _)| arg).or(i.operand("dst"))?;
            let floor = match r.bytes {
                Some((start, _)) => start,
                None => parts.floor(kernel, *at, arg)?.1,
            };
            if (from..to).contains(&floor) {
                if !is(k) {
                    return None;
                }
                first = first.or(Some(k));
            }
        }
        first
    }

    /// The first executed write to a variable, if all executed ones are in this state.
    fn of_matrix(&self, var: VarId, set: &Bits, is: &dyn Fn(usize) -> bool) -> Option<usize> {
        let mut first = None;
        for (k, (_, r)) in self.list.iter().enumerate() {
            let run = set.has(STATES * k + UNFENCED)
                || set.has(STATES * k + SYNCHRONISED)
                || set.has(STATES * k + FENCED_LATE)
                || set.has(STATES * k + FENCED_BY_ALL)
                || set.has(STATES * k + FENCED);
            if run && r.base == AddressBase::Var(var) {
                if !is(k) {
                    return None;
                }
                first = first.or(Some(k));
            }
        }
        first
    }

    /// A write to a variable that is read in a block, if all its writes are on other paths than the read, as where warps have roles, and no
    /// fence can follow one of them or precede the read. A store comes before a `cp.async`.
    fn of_other_roles(&self, flow: &Flow, read: u32, base: AddressBase) -> Option<usize> {
        if !matches!(base, AddressBase::Var(_)) || self.by_others(base) {
            return None;
        }
        let to = |k: &usize| self.list[*k].1.base == base;
        let block = |at: u32| flow.cfg.block_of(at);
        let apart = |k: usize| !reaches(flow, block(self.list[k].0), read);
        let fenced =
            |k: usize| self.single_thread.iter().any(|(fence, _)| reaches(flow, block(self.list[k].0), block(*fence)));
        let before = || self.single_thread.iter().any(|(fence, _)| reaches(flow, block(*fence), read));
        let all = || (0..self.list.len()).filter(to);
        if all().any(|k| !apart(k) || fenced(k)) || before() {
            return None;
        }
        all().min_by_key(|k| copies(flow.instr(self.list[*k].0)))
    }

    /// The finding that an operation reads write `k`, which is not fenced.
    fn unfenced(&self, flow: &Flow, k: usize, operand: Span, operation: &str) -> Diagnostic {
        let write = flow.instr(self.list[k].0);
        match copies(write) {
            true => errors::copied_without_fence(operand, operation, write.span),
            false => errors::no_proxy_fence(operand, operation, write.span, self.space == Space::Global),
        }
    }

    /// Calls `see` with the states of the writes before each instruction.
    fn each(&self, flow: &Flow, see: &mut dyn FnMut(Site, &Instr, &Bits)) {
        for &b in &flow.cfg.rpo {
            let mut set = self.at_start[b as usize].clone();
            for at in flow.cfg.range(b) {
                let i = flow.instr(at);
                see(Site { block: b, at }, i, &set);
                self.step(at, i, &mut set);
            }
        }
    }
}

/// Stores, then a bulk copy of the same bytes.
fn sources(kernel: &Kernel, writes: &Writes) {
    let flow = kernel.flow;
    let mut reported = false;
    let parts = writes.parts(kernel);
    unordered::check(kernel, writes, parts.as_ref());
    writes.each(flow, &mut |Site { block, at }, i, set| {
        if reported || source(i) != Some(writes.space) {
            return;
        }
        let Some(arg) = i.operand("srcMem") else { return };
        let Some(here) = kernel.region(at, arg, i.constant("size").unwrap_or(0)) else { return };
        let span = |k: usize| flow.instr(writes.list[k].0).span;
        if let Some(k) = writes.of_source(flow, &here, &|k| writes.is_pending(set, k)) {
            reported = true;
            kernel.report(errors::no_proxy_fence(arg.span, i.entry.opcode, span(k), writes.space == Space::Global));
        } else if let alone = single_thread(kernel, block, at)
            && let Some(k) = writes.of_source(flow, &here, &|k| writes.fenced_late(set, k, alone))
            && !is_own(&writes.list[k].1, flow.instr(writes.list[k].0).bytes(), &here, i.constant("size"))
        {
            reported = true;
            kernel.report(errors::proxy_fence_late(arg.span, i.entry.opcode, span(k)));
        } else if let Some(k) = writes.of_other_roles(flow, block, here.base) {
            reported = true;
            kernel.report(writes.unfenced(flow, k, arg.span, i.entry.opcode));
        } else if let Some(parts) = &parts {
            let alone = single_thread(kernel, block, at);
            let of_part = |is: &dyn Fn(usize) -> bool| writes.of_part(kernel, parts, (at, arg), is);
            if let Some(k) = of_part(&|k| writes.is_pending(set, k)) {
                reported = true;
                kernel.report(writes.unfenced(flow, k, arg.span, i.entry.opcode));
            } else if let Some(k) = of_part(&|k| writes.fenced_late(set, k, alone)) {
                reported = true;
                kernel.report(errors::proxy_fence_late(arg.span, i.entry.opcode, span(k)));
            }
        }
    });
}

/// Does a thread copy only what it has itself written, this many bytes of `written`?
fn is_own(written: &Region, bytes: u64, copied: &Region, size: Option<u64>) -> bool {
    copied.value.is_some() && copied.value == written.value && size.is_some_and(|size| size <= bytes)
}

/// The shared variable of a descriptor, if its slice has only one.
fn descriptor_variable(flow: &Flow, at: u32, arg: &Arg) -> Option<VarId> {
    let mut found: Option<VarId> = None;
    let mut stack: Vec<Val> = Vec::new();

    let mut budget = 300;
    arg.value.registers(&mut |r, lane| stack.push(flow.ssa.read(at, r, lane)));
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
            Value::Def { instr, .. } => {
                let i = flow.instr(*instr);
                // What is loaded may be anything.
                let called = i.entry.effects.control == Control::Call;
                if (called || value_access(i).returns()) && !i.has(q::param) {
                    return None;
                }
                for a in &i.operands {
                    if let Operand::VarAddr(id, _) = a.value {
                        if found.is_some_and(|f| f != id) {
                            return None;
                        }
                        found = Some(id);
                    }
                }
            }
            Value::Phi { .. } | Value::Undef | Value::Param => {}
        }
        flow.ssa.push_sources(v, &mut stack);
    }
    found
}

/// Matrices that only threads have written.
fn matrices(kernel: &Kernel, writes: &Writes) {
    let flow = kernel.flow;
    if !flow.function.entry || writes.list.is_empty() {
        return;
    }
    // Without any asynchronous write or fence, the location of the matrices does not matter.
    let bare = !flow.cfg.any(&|i| writes_async(i) || fences(i, Space::Shared));
    let mut reported = false;
    writes.each(flow, &mut |Site { block, at }, i, set| {
        let (Some(op), false) = (matrix(i), reported) else { return };
        let span = |k: usize| flow.instr(writes.list[k].0).span;
        let mut first = None;
        for arg in &i.operands {
            if !arg.name.ends_with("desc") {
                continue;
            }
            first = first.or(Some(arg.span));
            let Some(var) = descriptor_variable(flow, at, arg) else { continue };
            if writes.by_others(AddressBase::Var(var)) {
                continue;
            }
            if let Some(first) = writes.of_matrix(var, set, &|k| writes.is_pending(set, k)) {
                reported = true;
                let stored = |k: &usize| {
                    let (at, r) = &writes.list[*k];
                    r.base == AddressBase::Var(var) && writes.is_pending(set, *k) && !copies(flow.instr(*at))
                };
                let k = (0..writes.list.len()).find(stored).unwrap_or(first);
                kernel.report(writes.unfenced(flow, k, arg.span, op));
                return;
            }
            let alone = single_thread(kernel, block, at);
            if let Some(k) = writes.of_matrix(var, set, &|k| writes.fenced_late(set, k, alone)) {
                reported = true;
                kernel.report(errors::proxy_fence_late(arg.span, op, span(k)));
                return;
            }
            if let Some(k) = writes.of_other_roles(flow, block, AddressBase::Var(var)) {
                reported = true;
                kernel.report(writes.unfenced(flow, k, arg.span, op));
                return;
            }
        }
        let Some(arg) = first.filter(|_| bare) else { return };
        let is_pending = |k: &usize| writes.is_pending(set, *k);
        let copied = |k: &usize| copies(flow.instr(writes.list[*k].0));
        let all = || (0..writes.list.len()).filter(is_pending);
        if let Some(first) = all().next() {
            reported = true;
            let k = all().find(|k| !copied(k)).unwrap_or(first);
            kernel.report(writes.unfenced(flow, k, arg, op));
        }
    });
}

/// Loads of threads, then an asynchronous write to the same memory. Something that is not seen may order the two, so this is a
/// hint.
fn reused(kernel: &Kernel) {
    let flow = kernel.flow;
    // The address from `tcgen05.alloc` is read once, before its memory is reused.
    let mut addresses = Vec::new();
    for (_, at, i) in flow.walk() {
        if i.entry.effects.tensor == Tensor::Alloc {
            addresses.extend(kernel.region_of(at, "dst", 4));
        }
    }
    let mut list = Vec::new();
    for (_, at, i) in flow.walk() {
        if let Some((arg, false)) = plain_access(i)
            && let Some(r) = kernel.region(at, arg, i.bytes())
            && r.space == Space::Shared
            && !addresses.iter().any(|a| a.overlaps(flow, &r))
            && list.len() < MAX_REGIONS
        {
            list.push((at, r));
        }
    }
    rewritten(kernel, &list);
}

fn rewritten(kernel: &Kernel, list: &[(u32, Region)]) {
    let flow = kernel.flow;
    // States of a load: no fence; a release to the other proxy; fenced.
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        for (k, (load, _)) in list.iter().enumerate() {
            if *load == at {
                set.set_state(3 * k, 3, 0);
                return;
            }
        }
        if !fences(i, Space::Shared) {
            return;
        }
        let half = i.has(q::async_generic);
        for k in 0..list.len() {
            match (half, i.has(q::release)) {
                (false, _) => {
                    set.transition(3 * k, 3 * k + 2);
                    set.transition(3 * k + 1, 3 * k + 2);
                }
                (true, true) => set.transition(3 * k, 3 * k + 1),
                (true, false) => set.transition(3 * k + 1, 3 * k + 2),
            }
        }
    };
    let mut reported = false;
    let loops = Loops::new(&flow.cfg);
    for_each_instr(&flow.cfg, 3 * list.len(), &step, &mut |b, at, i, set| {
        if reported || !writes_async(i) {
            return;
        }
        // A write that executes in some iterations only may come before the load.
        let always = !in_loop(flow, b) || kernel.executes_invariantly(Site { block: b, at });
        let size = if i.opcode == op::clusterlaunchcontrol_try_cancel { 16 } else { i.constant("size").unwrap_or(0) };
        let Some(arg) = target(i) else { return };
        let Some(here) = kernel.region(at, arg, size) else { return };
        for (k, (load, r)) in list.iter().enumerate() {
            let (fresh, half) = (set.has(3 * k), set.has(3 * k + 1));
            let unfenced = (fresh || half) && !set.has(3 * k + 2);
            let write = Rewrite { site: Site { block: b, at }, target: arg, size };
            if unfenced
                && (always && r.overlaps(flow, &here) || r.base == here.base && write.follows(kernel, &loops, *load))
            {
                reported = true;
                let half = half && !fresh;
                kernel.report(errors::reused_without_fence(arg.span, i.entry.opcode, flow.instr(*load).span, half));
                return;
            }
        }
    });
}
