//! Places in memory that instructions name, and what is owed since one of them: the common part of the rules about
//! asynchronous operations.

use super::Flow;

use super::ask::{value, vector};
use super::dataflow::{Bits, each};
use super::provenance::{Address, Origin, Provenance, sum};
use super::ssa::Val;
use ptx_dsl_isa::hir::{Arg, Base, Instr, Operand, Space};
use ptx_dsl_isa::opcode::op;

/// More places than this are not followed: generated code of such a size would cost seconds.
pub(super) const MOST: usize = 96;

/// Bytes behind an address.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Region {
    /// The variable or pointer.
    pub base: Origin,
    pub space: Space,
    /// First byte and the one past the last, if known; `i64::MAX` for an unknown size.
    pub bytes: Option<(i64, i64)>,
    /// The value in the address register and the constant behind it: equal ones are the same address.
    pub value: Option<(Val, i64)>,
    /// In another CTA, perhaps.
    pub mapped: bool,
}

/// The address that an operand is, its constant included.
pub(super) fn address(flow: &Flow, from: &Provenance, at: u32, o: &Operand) -> Option<(Address, Option<(Val, i64)>)> {
    match o {
        Operand::Address(Base::Var(v), offset) => {
            let space = flow.module.vars.get(v.0 as usize)?.space;
            let base = Origin::Var(*v);
            let address = Address {
                space,
                generic: false,
                base,
                offset: Some(*offset),
                mapped: false,
                map: u32::MAX,
                by: u32::MAX,
            };
            Some((address, None))
        }
        Operand::Address(Base::Reg(r), offset) => {
            let v = flow.ssa.read(at, *r, 0);
            let a = from.pointee(v)?;
            let (origin, more) = number(flow, v);
            let value = sum(Some(more), *offset).map(|o| (origin, o));
            Some((Address { offset: sum(a.offset, *offset), ..a }, value))
        }
        // A tensor's map, before the coordinates.
        Operand::Addresses(list) => match list.first()? {
            Operand::Reg(r, lane) => {
                let v = flow.ssa.read(at, *r, *lane);
                Some((from.pointee(v)?, Some((flow.origin(v), 0))))
            }
            Operand::VarAddr(v, offset) => {
                let o = Operand::Address(Base::Var(*v), *offset);
                address(flow, from, at, &o)
            }
            first @ Operand::Address(..) => address(flow, from, at, first),
            _ => None,
        },
        _ => None,
    }
}

/// An address of Tensor Memory as a value and a constant.
pub(super) fn columns(flow: &Flow, at: u32, o: &Operand) -> Option<(Val, i64)> {
    let Operand::Address(Base::Reg(r), offset) = o else { return None };
    let (value, constant) = number(flow, flow.ssa.read(at, *r, 0));
    Some((value, constant.checked_add(*offset)?))
}

/// The number from which an address is made by a constant, whatever space it is in.
fn number(flow: &Flow, v: Val) -> (Val, i64) {
    let mut v = flow.origin(v);
    let mut offset = 0i64;
    for _ in 0..16 {
        let Some(at) = flow.ssa.maker(v) else { break };
        let i = flow.instr(at);
        let mut whole = true;
        for t in &i.types {
            whole &= matches!(t.bits(), 32 | 64);
        }
        match i.opcode {
            op::cvta => {}
            op::mov | op::cvt if whole && i.operands.len() == 2 => {}
            op::add if whole => {
                let Some(n) = constant(i, "b") else { break };
                let narrow = matches!(i.types.last(), Some(t) if t.bits() == 32);
                let n = if narrow { i64::from(n as i32) } else { n as i64 };
                let Some(sum) = offset.checked_add(n) else { break };
                offset = sum;
            }
            _ => break,
        }
        let Some(next) = flow.source(at, "a") else { break };
        v = flow.origin(next);
    }
    (v, offset)
}

/// The bytes behind an operand; `size` 0: not known.
pub(super) fn region(flow: &Flow, from: &Provenance, at: u32, arg: &Arg, size: u64) -> Option<Region> {
    let (a, value) = address(flow, from, at, &arg.value)?;
    if a.base == Origin::None && value.is_none() {
        return None;
    }
    let bytes = match a.offset {
        Some(o) if size == 0 => Some((o, i64::MAX)),
        Some(o) => Some((o, o.saturating_add(size as i64))),
        None => None,
    };
    Some(Region { base: a.base, space: a.space, bytes, value, mapped: a.mapped })
}

/// The bytes behind the operand of this name.
pub(super) fn behind(flow: &Flow, from: &Provenance, at: u32, name: &str, size: u64) -> Option<Region> {
    region(flow, from, at, flow.instr(at).operand(name)?, size)
}

impl Region {
    /// Do the two certainly have a byte in common?
    pub(super) fn meets(&self, flow: &Flow, other: &Region) -> bool {
        if self.space != other.space || self.mapped || other.mapped {
            return false;
        }
        if self.value.is_some() && self.value == other.value {
            return true;
        }
        if self.base == Origin::None || self.base != other.base {
            return false;
        }
        match (self.bytes, other.bytes) {
            // Of an unknown size at least the first byte counts.
            (Some((a, b)), Some((c, d))) => {
                let b = if b == i64::MAX { a + 1 } else { b };
                let d = if d == i64::MAX { c + 1 } else { d };
                a < d && c < b
            }
            (Some(x), None) | (None, Some(x)) => whole(flow, self.base, x),
            (None, None) => false,
        }
    }

    /// May the two have a byte in common?
    pub(super) fn may_meet(&self, other: &Region) -> bool {
        if self.base == Origin::None || other.base == Origin::None {
            return true;
        }
        self.base == other.base
            && match (self.bytes, other.bytes) {
                (Some((a, b)), Some((c, d))) => a < d && c < b,
                _ => true,
            }
    }
}

fn whole(flow: &Flow, base: Origin, (from, to): (i64, i64)) -> bool {
    let Origin::Var(v) = base else { return false };
    let Some(var) = flow.module.vars.get(v.0 as usize) else { return false };
    !var.dynamic && var.size > 0 && from <= 0 && to != i64::MAX && to >= i64::from(var.size)
}

/// A constant operand.
pub(super) fn constant(i: &Instr, name: &str) -> Option<u64> {
    match value(i, name) {
        Some(Operand::Imm(n)) => Some(*n),
        _ => None,
    }
}

/// Bytes that a plain access moves.
pub(super) fn bytes(i: &Instr) -> u64 {
    match i.types.last() {
        Some(t) => u64::from(t.bytes() * vector(i)),
        None => 0,
    }
}

/// What a thread itself reads or writes through the generic proxy: the operand, and whether it writes.
pub(super) fn plain(i: &Instr) -> Option<(&Arg, bool)> {
    let writes = match i.opcode {
        op::ld | op::ldu | op::ldmatrix => false,
        op::st | op::stmatrix | op::red | op::atom => true,
        _ => return None,
    };
    Some((i.address()?, writes))
}

/// Marks that something is owed since here. Two bits for each debt: it is owed; something may have settled it since.
pub(super) fn owe(set: &mut Bits, n: usize) {
    set.set(2 * n);
    set.unset(2 * n + 1);
}

/// What settles it.
pub(super) fn settle(set: &mut Bits, n: usize) {
    if set.has(2 * n) {
        set.unset(2 * n);
        set.set(2 * n + 1);
    }
}

/// Is it owed, and on no way here anything has settled it?
pub(super) fn owed(set: &Bits, n: usize) -> bool {
    set.has(2 * n) && !set.has(2 * n + 1)
}

/// Carries debts over the graph, and calls `see` with the set before each instruction.
pub(super) fn debts(
    flow: &Flow,
    n: usize,
    step: &dyn Fn(u32, &Instr, &mut Bits),
    see: &mut dyn FnMut(u32, u32, &Instr, &Bits),
) {
    if n > 0 {
        each(&flow.cfg, 2 * n, step, see);
    }
}

/// Does the instruction end the thread?
pub(super) fn leaves(i: &Instr) -> bool {
    matches!(i.opcode, op::ret | op::exit)
}

/// Groups of asynchronous copies: since each copy either it is not committed yet, or so many groups were committed after its own.
pub(super) struct Groups {
    /// Bits for each copy: open; then [`Groups::AGE`] ages; then perhaps done.
    pub copies: Vec<u32>,
}

impl Groups {
    const AGE: usize = 4;
    const BITS: usize = Groups::AGE + 2;

    pub(super) fn bits(&self) -> usize {
        self.copies.len() * Groups::BITS
    }

    /// The copy that the instruction is.
    pub(super) fn copy(&self, at: u32) -> Option<usize> {
        for (k, copy) in self.copies.iter().enumerate() {
            if *copy == at {
                return Some(k);
            }
        }
        None
    }

    pub(super) fn start(&self, set: &mut Bits, k: usize) {
        let base = k * Groups::BITS;
        for n in 0..Groups::BITS {
            set.put(base + n, n == 0);
        }
    }

    pub(super) fn commit(&self, set: &mut Bits) {
        for k in 0..self.copies.len() {
            let base = k * Groups::BITS;
            let oldest = set.has(base + Groups::AGE) || set.has(base + Groups::AGE - 1);
            for n in (1..Groups::AGE).rev() {
                let younger = set.has(base + n - 1);
                set.put(base + n, younger);
            }
            set.unset(base);
            set.put(base + Groups::AGE, oldest);
        }
    }

    /// All but the newest `n` groups are done.
    pub(super) fn wait(&self, set: &mut Bits, n: usize, open_too: bool) {
        for k in 0..self.copies.len() {
            let base = k * Groups::BITS;
            let mut done = false;
            for age in 1..=Groups::AGE {
                // The last one stands for that age and all higher ones.
                let reached = age > n || age == Groups::AGE;
                if reached && set.has(base + age) {
                    set.unset(base + age);
                    done = true;
                }
            }
            if open_too && set.has(base) {
                set.unset(base);
                done = true;
            }
            if done {
                set.set(base + Groups::AGE + 1);
            }
        }
    }

    /// May copy `k` be done on some way?
    pub(super) fn perhaps_done(&self, set: &Bits, k: usize) -> bool {
        set.has(k * Groups::BITS + Groups::AGE + 1)
    }

    /// Is copy `k` certainly not done? Then: is it committed on no way?
    pub(super) fn open(&self, set: &Bits, k: usize) -> Option<bool> {
        let base = k * Groups::BITS;
        let mut committed = false;
        for age in 1..=Groups::AGE {
            committed |= set.has(base + age);
        }
        let flying = committed || set.has(base);
        (flying && !set.has(base + Groups::AGE + 1)).then_some(!committed)
    }

    /// The first copy that is not done, and whether it is committed on no way.
    pub(super) fn first_open(&self, set: &Bits) -> Option<(usize, bool)> {
        for k in 0..self.copies.len() {
            if let Some(never) = self.open(set, k) {
                return Some((k, never));
            }
        }
        None
    }
}
