//! Regions of memory: the bytes after an address operand, and whether two regions overlap.

use crate::flow::Flow;
use crate::provenance::{Address, AddressBase, Provenance, sum};
use crate::ssa::Val;
use ptx_dsl_isa::hir::{Arg, Base, Operand, Space};
use ptx_dsl_isa::opcode::op;

/// Limit of regions: more in one kernel would cost seconds.
pub const MAX_REGIONS: usize = 96;

/// Bytes after an address.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// The variable or pointer.
    pub base: AddressBase,
    /// The state space.
    pub space: Space,
    /// First byte and the one past the last, if known; `i64::MAX` for an unknown size.
    pub bytes: Option<(i64, i64)>,
    /// The address as a value and a constant: equal ones are the same address.
    pub value: Option<(Val, i64)>,
    /// May the address be one of another CTA?
    pub mapped: bool,
}

/// The address that an operand is, its constant included.
pub fn address(flow: &Flow, from: &Provenance, at: u32, o: &Operand) -> Option<(Address, Option<(Val, i64)>)> {
    match o {
        Operand::Address(Base::Var(v), offset) => {
            let space = flow.module.vars.get(v.0 as usize)?.space;
            let base = AddressBase::Var(*v);
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
            let (origin, more) = constant_part(flow, v);
            let value = sum(Some(more), *offset).map(|o| (origin, o));
            Some((Address { offset: sum(a.offset, *offset), ..a }, value))
        }
        // The tensor map stands before the coordinates.
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
pub fn columns(flow: &Flow, at: u32, o: &Operand) -> Option<(Val, i64)> {
    let Operand::Address(Base::Reg(r), offset) = o else { return None };
    let (value, constant) = constant_part(flow, flow.ssa.read(at, *r, 0));
    Some((value, constant.checked_add(*offset)?))
}

/// Strips constant additions and conversions from a value: the remaining value and the sum of the constants.
pub fn constant_part(flow: &Flow, v: Val) -> (Val, i64) {
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
                let Some(n) = i.constant("b") else { break };
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

/// The bytes after an operand; `size` 0: not known.
pub fn region(flow: &Flow, from: &Provenance, at: u32, arg: &Arg, size: u64) -> Option<Region> {
    let (a, value) = address(flow, from, at, &arg.value)?;
    if a.base == AddressBase::None && value.is_none() {
        return None;
    }
    let bytes = match a.offset {
        Some(o) if size == 0 => Some((o, i64::MAX)),
        Some(o) => Some((o, o.saturating_add(size as i64))),
        None => None,
    };
    Some(Region { base: a.base, space: a.space, bytes, value, mapped: a.mapped })
}

/// The bytes after the operand of this name.
pub fn behind(flow: &Flow, from: &Provenance, at: u32, name: &str, size: u64) -> Option<Region> {
    region(flow, from, at, flow.instr(at).operand(name)?, size)
}

impl Region {
    /// Do the two certainly have a byte in common?
    pub fn overlaps(&self, flow: &Flow, other: &Region) -> bool {
        if self.space != other.space || self.mapped || other.mapped {
            return false;
        }
        if self.value.is_some() && self.value == other.value {
            return true;
        }
        if self.base == AddressBase::None || self.base != other.base {
            return false;
        }
        match (self.bytes, other.bytes) {
            // Of an unknown size at least the first byte counts.
            (Some((a, b)), Some((c, d))) => {
                let b = if b == i64::MAX { a + 1 } else { b };
                let d = if d == i64::MAX { c + 1 } else { d };
                a < d && c < b
            }
            (Some(x), None) | (None, Some(x)) => is_whole(flow, self.base, x.0, x.1),
            (None, None) => false,
        }
    }

    /// May the two have a byte in common?
    pub fn may_overlap(&self, other: &Region) -> bool {
        if self.base == AddressBase::None || other.base == AddressBase::None {
            return true;
        }
        self.base == other.base
            && match (self.bytes, other.bytes) {
                (Some((a, b)), Some((c, d))) => a < d && c < b,
                _ => true,
            }
    }
}

/// Do the bytes from `from` up to `to` after an address include the whole variable there?
fn is_whole(flow: &Flow, base: AddressBase, from: i64, to: i64) -> bool {
    let AddressBase::Var(v) = base else { return false };
    let Some(var) = flow.module.vars.get(v.0 as usize) else { return false };
    !var.is_open() && var.size > 0 && from <= 0 && to != i64::MAX && to >= i64::from(var.size)
}
