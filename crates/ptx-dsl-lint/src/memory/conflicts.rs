//! Races between warps in shared memory (PTX ISA 8.7). A data-flow analysis finds pairs of accesses without synchronisation between
//! them; then the addresses of all threads are evaluated for the first iterations of the loops and intersected.

use crate::errors::races as errors;
use crate::kernel::Kernel;
use crate::may_synchronise::may_synchronise_warps;
use crate::memory::turns::in_turns;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{mbarrier_wait, value_access};
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::dataflow::{Bits, Meet, forward};
use ptx_dsl_analysis::induction::{Induction, Thread};
use ptx_dsl_analysis::lanes::{Lanes, Uniformity};
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Base, Instr, Operand, Space};
use ptx_dsl_isa::isa::{Mbarrier, MemoryOp};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::meaning::order::Sem;
use ptx_dsl_isa::qualifier::q;

/// Limits: accesses, pairs of them, values that are evaluated.
const MOST: usize = 64;
const PAIRS: usize = 24;
const WORK: u32 = 200_000;
/// Iterations that are evaluated.
const ITERATIONS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccessKind {
    Reads,
    Writes,
    Atomic,
}

struct Access {
    block: u32,
    at: u32,
    var: u32,
    kind: AccessKind,
    size: i64,
}

/// An access and a later one, in the same iteration of the loops around both or in the next one.
struct Pair {
    first: usize,
    second: usize,
    next_iteration: bool,
    /// Each loop around the first is also around the second.
    together: bool,
}

pub(crate) fn check(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    let (Some(shape), Some(threads)) = (flow.function.reqntid, lanes.cta_size.exact) else { return };
    if threads <= 32 || !flow.function.entry || flow.calls {
        return;
    }
    let Some(list) = accesses(kernel) else { return };
    let loops = Loops::new(&flow.cfg);
    if loops.irreducible() {
        return;
    }
    let mut evaluator =
        Evaluator { flow, lanes, loops: &loops, shape, threads, list: &list, known: Vec::new(), work: WORK };
    let mut reported: Vec<u32> = Vec::new();
    for pair in pairs(flow, &loops, &list) {
        let (a, b) = (&list[pair.first], &list[pair.second]);
        if reported.contains(&a.var) {
            continue;
        }
        let conflict = (pair.together && evaluator.conflict(&pair)) || evaluator.anywhere(&pair);
        if conflict && !in_turns(kernel, [(a.block, a.at), (b.block, b.at)]) {
            reported.push(a.var);
            let [first, second] = [a, b].map(|x| flow.instr(x.at).span);
            let writes = [a, b].map(|x| x.kind != AccessKind::Reads);
            kernel.report(errors::between_warps(second, first, flow.variable_name(a.var), writes, pair.next_iteration));
        }
    }
}

/// Ordinary accesses to variables in shared memory. `None` if none of them can conflict, or if there are too many.
fn accesses(kernel: &Kernel) -> Option<Vec<Access>> {
    let flow = kernel.flow;
    let mut list = Vec::new();
    let mut writes = false;
    for (block, at, i) in flow.walk() {
        let kind = match value_access(i) {
            MemoryOp::Load => AccessKind::Reads,
            MemoryOp::Store => AccessKind::Writes,
            MemoryOp::Atomic | MemoryOp::Reduction => AccessKind::Atomic,
            MemoryOp::None | MemoryOp::Copy => continue,
        };
        let Some((arg, _)) = plain_access(i) else { continue };
        let order = i.order();
        if order.is_strong() && !(order.atomic && order.sem == Sem::Relaxed) {
            continue;
        }
        match kernel.region(at, arg, i.bytes()) {
            Some(r) if r.space == Space::Shared && !r.mapped => {
                let AddressBase::Var(v) = r.base else { continue };
                writes |= kind != AccessKind::Reads;
                list.push(Access { block, at, var: v.0, kind, size: i.bytes() as i64 });
            }
            _ => {}
        }
        if list.len() > MOST {
            return None;
        }
    }
    (writes && list.len() > 1).then_some(list)
}

/// Bits for an access: pending in this iteration, perhaps synchronised, perhaps released; the same for the previous iteration.
const BITS: usize = 6;
/// The bits of one iteration.
const HALF: usize = BITS / 2;

/// Does the instruction only wait for what others have released? Then it orders no access of its thread that nothing has released.
fn only_acquires(i: &Instr) -> bool {
    mbarrier_wait(i) || value_access(i) == MemoryOp::Load && i.order().is_strong()
}

/// Does the instruction only tell others that earlier accesses are done?
fn only_releases(i: &Instr) -> bool {
    i.entry.effects.mbarrier != Mbarrier::None && !mbarrier_wait(i)
        || value_access(i) == MemoryOp::Store && i.order().is_strong()
}

/// What a synchronising instruction does to the state of an access, whose bits begin at `base`.
fn synchronise(i: &Instr, set: &mut Bits, base: usize) {
    if !set.has(base) {
        return;
    }
    if only_releases(i) {
        set.set(base + 2);
    } else if !only_acquires(i) || set.has(base + 2) {
        set.unset(base);
        set.set(base + 1);
    }
}

/// Is the access with these bits pending on every path that comes from it?
fn unordered(set: &Bits, base: usize) -> bool {
    set.has(base) && !set.has(base + 1)
}

/// Pairs of accesses to one variable without synchronisation between on any path: first a release, then an acquire.
fn pairs(flow: &Flow, loops: &Loops, list: &[Access]) -> Vec<Pair> {
    let n = list.len();
    let mut number = vec![NONE; flow.cfg.instrs.len()];
    for (k, a) in list.iter().enumerate() {
        number[a.at as usize] = k as u32;
    }
    let step = |at: u32, i: &Instr, set: &mut Bits| match number[at as usize] {
        NONE if may_synchronise_warps(i) => {
            for k in 0..2 * n {
                synchronise(i, set, HALF * k);
            }
        }
        NONE => {}
        k => set.set_state(BITS * k as usize, HALF, 0),
    };
    let mut block = |b: u32, set: &mut Bits| {
        for at in flow.cfg.range(b) {
            step(at, flow.instr(at), set);
        }
    };
    let mut edge = |b: u32, edge_number: usize, set: &mut Bits| {
        let to = flow.cfg.blocks[b as usize].succ[edge_number].to;
        if !flow.cfg.dominates(to, b) {
            return;
        }
        // On a back edge this iteration becomes the previous one. For accesses outside of the loop and in inner loops, only the
        // first iteration counts.
        for (k, a) in list.iter().enumerate() {
            let own = loops.innermost(a.block) == Some(to);
            for bit in BITS * k..BITS * k + HALF {
                set.put(bit + HALF, own && set.has(bit));
                set.unset(bit);
            }
        }
    };
    let at_start = forward(&flow.cfg, BITS * n, Meet::Any, &mut block, &mut edge);
    let mut out = Vec::new();
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            if let Some(x) = list.get(number[at as usize] as usize) {
                let second = number[at as usize] as usize;
                for (first, a) in list.iter().enumerate() {
                    if a.var != x.var || out.len() >= PAIRS || !conflicting(a.kind, x.kind) {
                        continue;
                    }
                    let now = unordered(&set, BITS * first) && first != second;
                    let before =
                        unordered(&set, BITS * first + HALF) && loops.innermost(a.block) == loops.innermost(x.block);
                    for (there, next_iteration) in [(now, false), (before, true)] {
                        if there {
                            let together = next_iteration || around(loops, a, x);
                            out.push(Pair { first, second, next_iteration, together });
                        }
                    }
                }
            }
            step(at, flow.instr(at), &mut set);
        }
    }
    out
}

/// Do the two conflict? Several warps often store the same value on purpose.
fn conflicting(a: AccessKind, b: AccessKind) -> bool {
    match (a, b) {
        (AccessKind::Reads, x) | (x, AccessKind::Reads) => x != AccessKind::Reads,
        (AccessKind::Atomic, AccessKind::Atomic) | (AccessKind::Writes, AccessKind::Writes) => false,
        _ => true,
    }
}

/// Is each loop around the first also around the second?
fn around(loops: &Loops, a: &Access, b: &Access) -> bool {
    loops.innermost(a.block).is_none_or(|h| loops.contains(h, b.block))
}

/// By thread: the offset in the variable, `None` if the thread does not execute the access.
type Offsets = Vec<Option<i64>>;

/// The evaluator, with the accesses that were evaluated.
struct Evaluator<'a, 'h> {
    flow: &'a Flow<'h>,
    lanes: &'a Lanes,
    loops: &'a Loops,
    shape: [u32; 3],
    threads: usize,
    list: &'a [Access],
    /// By access: its iterations, `None` if some part is unknown.
    known: Vec<(usize, Option<Vec<Offsets>>)>,
    work: u32,
}

impl Evaluator<'_, '_> {
    /// Do threads of different warps certainly access the same bytes?
    fn conflict(&mut self, pair: &Pair) -> bool {
        let Some(first) = self.induction(pair.first) else { return false };
        let Some(second) = self.induction(pair.second) else { return false };
        let (a, b) = (&self.list[pair.first], &self.list[pair.second]);
        let same = self.loops.innermost(a.block) == self.loops.innermost(b.block);
        let later = usize::from(pair.next_iteration);
        for round in 0..if same { first.len() } else { 1 } {
            if let (Some(x), Some(y)) = (first.get(round), second.get(round + later))
                && overlap((x, a.size), (y, b.size))
            {
                return true;
            }
        }
        false
    }

    /// Is one of the two an atomic operation of several warps at an address that depends on data, and the other an access of several
    /// warps, each thread at an address of its own?
    fn anywhere(&mut self, pair: &Pair) -> bool {
        let (a, b) = (&self.list[pair.first], &self.list[pair.second]);
        let (any, own) = match (a.kind, b.kind) {
            (AccessKind::Atomic, _) => (a, pair.second),
            (_, AccessKind::Atomic) => (b, pair.first),
            _ => return false,
        };
        if !self.by_data(any) || !self.all_execute(any) {
            return false;
        }
        let Some(places) = self.induction(own) else { return false };
        // Different offsets, in several warps.
        let Some(first) = places.first() else { return false };
        let mut seen: Vec<(i64, usize)> = first.iter().enumerate().filter_map(|(t, p)| Some(((*p)?, t / 32))).collect();
        seen.sort_unstable();
        seen.windows(2).all(|w| w[0].0 != w[1].0) && seen.windows(2).any(|w| w[0].1 != w[1].1)
    }

    /// Does the address depend on loaded data, and on no thread number?
    fn by_data(&self, access: &Access) -> bool {
        let Some(Operand::Address(Base::Reg(r), _)) = self.flow.instr(access.at).address().map(|a| &a.value) else {
            return false;
        };
        let (mut loaded, mut seen) = (false, Vec::new());
        let mut stack = vec![self.flow.ssa.read(access.at, *r, 0)];
        while let Some(v) = stack.pop() {
            let v = self.flow.origin(v);
            if seen.contains(&v) {
                continue;
            }
            seen.push(v);
            match &self.flow.ssa.values[v as usize] {
                Value::Def { instr, old: None, .. } => {
                    let i = self.flow.instr(*instr);
                    let special = i.operands.iter().any(|a| matches!(a.value, Operand::Sreg(_)));
                    if seen.len() > 64 || special {
                        return false;
                    }
                    if value_access(i) == MemoryOp::Load {
                        loaded |= !i.has_any(&[q::param, q::_const]);
                        continue;
                    }
                }
                Value::Phi { .. } => {}
                _ => return false,
            }
            self.flow.ssa.push_sources(v, &mut stack);
        }
        loaded
    }

    /// Do the first and the last thread of the CTA execute the access?
    fn all_execute(&self, access: &Access) -> bool {
        let first = |t: usize| {
            let mut fixed = Induction::new(self.flow, self.loops, NONE, &[], None)?;
            fixed.begin(Some(Thread { number: t, shape: Some(self.shape) }));
            self.executes(&fixed, access)
        };
        first(0) == Some(true) && first(self.threads - 1) == Some(true)
    }

    /// The offsets of an access in the first iterations of its loop.
    fn induction(&mut self, access: usize) -> Option<Vec<Offsets>> {
        if let Some((_, known)) = self.known.iter().find(|k| k.0 == access) {
            return known.clone();
        }
        let list = self.list;
        let found = self.work_out(&list[access]);
        self.known.push((access, found.clone()));
        found
    }

    fn work_out(&mut self, access: &Access) -> Option<Vec<Offsets>> {
        if self.work == 0 {
            return None;
        }
        let address = &self.flow.instr(access.at).address()?.value;
        let header = self.loops.innermost(access.block).unwrap_or(NONE);
        let mut values: Vec<Val> = Vec::new();
        if let Operand::Address(Base::Reg(r), _) = address {
            values.push(self.flow.ssa.read(access.at, *r, 0));
        }
        let at = Some((access.block, access.at));
        let mut induction = Induction::new(self.flow, self.loops, header, &values, at)?;
        let mut out: Vec<Offsets> = vec![Vec::new(); ITERATIONS];
        for t in 0..self.threads {
            if induction.spent() > self.work {
                self.work = 0;
                return None;
            }
            induction.begin(Some(Thread { number: t, shape: Some(self.shape) }));
            let mut over = false;
            for places in &mut out {
                let executes = !over && self.executes(&induction, access)?;
                places.push(if executes { Some(place(&induction, access.at, address)?) } else { None });
                over |= header == NONE || induction.ends();
                if !over {
                    induction.next();
                }
            }
        }
        self.work -= induction.spent();
        Some(out)
    }

    /// Does the thread execute the access in this iteration? `None` if that is unknown and not uniform in the CTA.
    fn executes(&self, induction: &Induction, access: &Access) -> Option<bool> {
        let cfg = &self.flow.cfg;
        if let Some((p, positive)) = self.flow.guard(access.at) {
            match induction.value(p) {
                Some(n) if (n != 0) != positive => return Some(false),
                Some(_) => {}
                None if self.lanes.uniformity(p) == Uniformity::Cta => {}
                None => return None,
            }
        }
        let mut b = access.block;
        for _ in 0..200 {
            let up = cfg.idom[b as usize];
            if up == NONE || up == b {
                return Some(true);
            }
            if cfg.ipdom[up as usize] != b
                && let Some(branch) = cfg.branch(up)
            {
                let (p, _) = self.flow.guard(branch)?;
                match induction.value(p) {
                    Some(n) if !induction.leads(up, n != 0, b) => return Some(false),
                    Some(_) => {}
                    None if self.lanes.uniformity(p) == Uniformity::Cta => {}
                    None => return None,
                }
            }
            b = up;
        }
        None
    }
}

fn place(induction: &Induction, at: u32, address: &Operand) -> Option<i64> {
    match address {
        Operand::Address(Base::Var(_), offset) => Some(*offset),
        Operand::Address(Base::Reg(r), offset) => {
            Some(i64::from((induction.operand(at, &Operand::Reg(*r, 0))? as i64).wrapping_add(*offset) as i32))
        }
        _ => None,
    }
}

/// Do threads of different warps access a byte in common?
fn overlap((a, a_size): (&Offsets, i64), (b, b_size): (&Offsets, i64)) -> bool {
    let mut sorted: Vec<(i64, usize)> = Vec::with_capacity(a.len());
    for (t, p) in a.iter().enumerate() {
        if let Some(p) = p {
            sorted.push((*p, t / 32));
        }
    }
    sorted.sort_unstable();
    for (t, p) in b.iter().enumerate() {
        let Some(p) = p else { continue };
        let from = sorted.partition_point(|(q, _)| *q + a_size <= *p);
        for (q, warp) in &sorted[from..] {
            if *q >= *p + b_size {
                break;
            }
            if *warp != t / 32 {
                return true;
            }
        }
    }
    false
}
