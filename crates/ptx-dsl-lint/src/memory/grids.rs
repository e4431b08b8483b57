//! Stores of two CTAs to the same bytes of global memory (PTX ISA 8.7): the number of the CTA moves the addresses by fewer bytes than the
//! threads of one CTA write. Addresses are evaluated for each thread, for CTA 0 and for the next one in each dimension.

use crate::errors::races as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::accesses::value_access;
use ptx_dsl_analysis::fold::fold;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::sites::{Site, in_loop};
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_analysis::threads::has_thread;
use ptx_dsl_isa::hir::{Arg, Base, Instr, Operand, Space};
use ptx_dsl_isa::isa::MemoryOp;
use ptx_dsl_isa::isa::sreg::{SpecialRegister, special};
use ptx_dsl_isa::meaning::access::plain_access;
use std::cell::Cell;
use std::collections::HashMap;

/// Limits: stores, values that are evaluated for one address, and for all of them.
const STORES: usize = 16;
const VALUES: u32 = 64;
const SPENT: u32 = 60_000;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let (Some(shape), Some(n)) = (flow.function.reqntid, kernel.lanes.cta_size.exact) else { return };
    let reads = |i: &Instr| i.operands.iter().any(|a| matches!(a.value, Operand::Sreg(r) if dimension(r).is_some()));
    if !flow.function.entry || flow.calls || !flow.cfg.any(&reads) {
        return;
    }
    let grid = Grid { kernel, shape: shape.map(|n| n.max(1) as usize), spent: Cell::new(0) };
    let mut stores: Vec<Store> = Vec::new();
    for (block, at, i) in flow.walk() {
        if let Some(store) = Store::new(kernel, Site { block, at }, i) {
            stores.push(store);
        }
        if stores.len() > STORES {
            return;
        }
    }
    for store in &stores {
        for axis in 0..3 {
            let same = |other: &&Store| other.parameter == store.parameter;
            let Some(step) = grid.step(store, axis, n).filter(|step| *step != 0) else { continue };
            if let Some(other) = stores.iter().filter(same).find(|other| grid.meets(store, other, (axis, step), n)) {
                let (to, from) = (store.arg.span, flow.instr(other.site.at).span);
                let from = (other.site.at != store.site.at).then_some(from);
                kernel.report(errors::of_two_ctas(to, step.unsigned_abs(), ["x", "y", "z"][axis], from));
                return;
            }
        }
    }
}

/// The dimension of a number of the CTA.
fn dimension(register: SpecialRegister) -> Option<usize> {
    [special::ctaid_x, special::ctaid_y, special::ctaid_z].iter().position(|r| *r == register)
}

/// A plain store to global memory that all threads of a set execute once.
struct Store<'h> {
    site: Site,
    arg: &'h Arg,
    /// The pointer of the kernel through which it writes.
    parameter: u32,
    bytes: i64,
}

impl<'h> Store<'h> {
    fn new(kernel: &Kernel<'_, 'h>, site: Site, i: &'h Instr) -> Option<Store<'h>> {
        let (arg, true) = plain_access(i)? else { return None };
        let stores = value_access(i) == MemoryOp::Store && !i.order().is_strong();
        // All may write the same number, such as a flag.
        let constant = i.operands.iter().any(|a| matches!(a.value, Operand::Imm(_)));
        if !stores || constant || in_loop(kernel.flow, site.block) || !kernel.executes_exactly(site) {
            return None;
        }
        let present = kernel.threads_at(site.block, site.at);
        let r = kernel.region(site.at, arg, i.bytes())?;
        match r.base {
            AddressBase::Pointer(parameter) if r.space == Space::Global && !present.elected && !present.not_elected => {
                Some(Store { site, arg, parameter, bytes: i.bytes() as i64 })
            }
            _ => None,
        }
    }
}

/// A kernel of which each thread of some CTAs is evaluated.
struct Grid<'k, 'a, 'h> {
    kernel: &'k Kernel<'a, 'h>,
    shape: [usize; 3],
    spent: Cell<u32>,
}

/// One thread of one CTA.
struct Lane {
    thread: [usize; 3],
    cta: [u64; 3],
    parameter: u32,
    /// The results so far.
    known: HashMap<Val, Option<u64>>,
}

impl Grid<'_, '_, '_> {
    /// How many bytes the address moves from CTA 0 to the next one, if that is the same for the first and the last thread.
    fn step(&self, store: &Store, axis: usize, n: usize) -> Option<i64> {
        let present = self.kernel.threads_at(store.site.block, store.site.at);
        let mut there = (0..n).filter(|t| has_thread(&present.set, *t));
        let first = there.next()?;
        let last = there.next_back().unwrap_or(first);
        let mut next = [0; 3];
        next[axis] = 1;
        let step = |t: usize| Some(self.address(store, t, next)? - self.address(store, t, [0; 3])?);
        let (a, b) = (step(first)?, step(last)?);
        (a == b).then_some(a)
    }

    /// Does the store in one CTA write bytes that the other one writes in the CTA before it?
    fn meets(&self, store: &Store, other: &Store, (axis, step): (usize, i64), n: usize) -> bool {
        if self.step(other, axis, n) != Some(step) {
            return false;
        }
        let (Some([a, b]), Some([c, d])) = (self.ends(store, n), self.ends(other, n)) else { return false };
        // Usually the steps are at least as large as what a CTA writes.
        if a + step > d || c > b + step {
            return false;
        }
        let (Some(here), Some(mut there)) = (self.all(store, n), self.all(other, n)) else { return false };
        there.sort_unstable();
        here.iter().any(|from| {
            let from = from + step;
            let next = there.partition_point(|place| place + other.bytes <= from);
            there.get(next).is_some_and(|place| *place < from + store.bytes)
        })
    }

    /// The lowest and the highest address of the first and the last thread.
    fn ends(&self, store: &Store, n: usize) -> Option<[i64; 2]> {
        let present = self.kernel.threads_at(store.site.block, store.site.at);
        let mut there = (0..n).filter(|t| has_thread(&present.set, *t));
        let first = there.next()?;
        let last = there.next_back().unwrap_or(first);
        let (a, b) = (self.address(store, first, [0; 3])?, self.address(store, last, [0; 3])?);
        Some([a.min(b), a.max(b) + store.bytes - 1])
    }

    /// The addresses of all threads in CTA 0.
    fn all(&self, store: &Store, n: usize) -> Option<Vec<i64>> {
        let present = self.kernel.threads_at(store.site.block, store.site.at);
        let there = (0..n).filter(|t| has_thread(&present.set, *t));
        there.map(|t| self.address(store, t, [0; 3])).collect()
    }

    /// The address, counted from the pointer of the kernel.
    fn address(&self, store: &Store, number: usize, cta: [u64; 3]) -> Option<i64> {
        let Operand::Address(Base::Reg(r), offset) = store.arg.value else { return None };
        let [x, y, _] = self.shape;
        let thread = [number % x, number / x % y, number / (x * y)];
        let mut lane = Lane { thread, cta, parameter: store.parameter, known: HashMap::new() };
        let base = self.value(&mut lane, self.kernel.flow.ssa.read(store.site.at, r, 0))?;
        Some((base as i64).wrapping_add(offset))
    }

    fn value(&self, lane: &mut Lane, v: Val) -> Option<u64> {
        let flow = self.kernel.flow;
        let v = flow.origin(v);
        if let Some(known) = lane.known.get(&v) {
            return *known;
        }
        self.spent.set(self.spent.get() + 1);
        if self.spent.get() > SPENT || lane.known.len() as u32 > VALUES {
            return None;
        }
        lane.known.insert(v, None);
        let result = self.result(lane, v);
        lane.known.insert(v, result);
        result
    }

    fn result(&self, lane: &mut Lane, v: Val) -> Option<u64> {
        let flow = self.kernel.flow;
        let Value::Def { instr, var, old: None } = flow.ssa.values[v as usize] else { return None };
        if let Some(address) = self.kernel.provenance.pointee(v)
            && address.base == AddressBase::Pointer(lane.parameter)
            && let Some(offset) = address.offset
        {
            return Some(offset as u64);
        }
        let i = flow.instr(instr);
        let Operand::Reg(r, of) = i.operands.first()?.value else { return None };
        if flow.ssa.var(r, of) != var || i.pred.is_some() {
            return None;
        }
        fold(i, &mut |o| match o {
            Operand::Imm(n) => Some(*n),
            Operand::Reg(r, of) => self.value(lane, flow.ssa.read(instr, *r, *of)),
            Operand::Sreg(register) => self.special(lane, *register),
            _ => None,
        })
    }

    fn special(&self, lane: &Lane, register: SpecialRegister) -> Option<u64> {
        if let Some(axis) = dimension(register) {
            return Some(lane.cta[axis]);
        }
        let threads = [special::tid_x, special::tid_y, special::tid_z].iter().position(|r| *r == register);
        let sizes = [special::ntid_x, special::ntid_y, special::ntid_z].iter().position(|r| *r == register);
        match (threads, sizes) {
            (Some(axis), _) => Some(lane.thread[axis] as u64),
            (_, Some(axis)) => Some(self.shape[axis] as u64),
            _ => None,
        }
    }
}
