//! Lower bounds of addresses: the constants that are added to the start of a variable. Indices count as 0 or more, so the bound of
//! `base + 147456 + group * 32768` is 147456. A swizzle, `xor` with a number, is taken to stay at or above the bound of its operand.

use crate::flow::Flow;
use crate::provenance::{AddressBase, Provenance, ValueSource};
use crate::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Base, Instr, Operand};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// The lower bound of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Floor {
    /// No value yet.
    Bottom,
    /// No bound is known, or the value is no address of a variable.
    Unknown,
    /// The bound is `offset` bytes after the start of a variable; `lowered` counts how often it has become lower.
    At { var: u32, offset: i64, lowered: u8 },
}

/// A bound that becomes lower more often than this is given up: a pointer that a loop decrements has none.
const LOWERED: u8 = 4;

/// The lower bounds of all values of a function.
pub struct Floors(Vec<Floor>);

impl Floors {
    /// Solves for all values.
    pub fn new(flow: &Flow, provenance: &Provenance) -> Floors {
        let mut eval = |v: Val, value: &Value, facts: &[Floor]| match value {
            Value::Undef | Value::Param => Floor::Unknown,
            Value::Phi { args, .. } => {
                let all = args.iter().fold(Floor::Bottom, |all, a| join(all, facts[*a as usize]));
                lower(facts[v as usize], all)
            }
            Value::Def { instr, var, old } => {
                let i = flow.instr(*instr);
                let new = result(flow, provenance, *instr, i, *var, facts);
                match old {
                    Some(old) => lower(facts[v as usize], join(new, facts[*old as usize])),
                    None => new,
                }
            }
        };
        Floors(flow.ssa.solve(Floor::Bottom, &mut eval).unwrap_or_default())
    }

    /// The variable that an operand points to, and the lower bound of its offset.
    pub fn of(&self, flow: &Flow, at: u32, operand: &Operand) -> Option<(u32, i64)> {
        let (v, more) = match operand {
            Operand::Address(Base::Var(var), offset) | Operand::VarAddr(var, offset) => return Some((var.0, *offset)),
            Operand::Address(Base::Reg(r), offset) => (flow.ssa.read(at, *r, 0), *offset),
            Operand::Reg(r, lane) => (flow.ssa.read(at, *r, *lane), 0),
            _ => return None,
        };
        match self.0.get(v as usize)? {
            Floor::At { var, offset, .. } => Some((*var, offset.checked_add(more)?)),
            _ => None,
        }
    }
}

fn join(a: Floor, b: Floor) -> Floor {
    match (a, b) {
        (Floor::Bottom, x) | (x, Floor::Bottom) => x,
        (Floor::At { var: x, offset: a, lowered: m }, Floor::At { var: y, offset: b, lowered: n }) if x == y => {
            Floor::At { var: x, offset: a.min(b), lowered: m.max(n) }
        }
        _ => Floor::Unknown,
    }
}

/// The new bound of a value that had another one.
fn lower(old: Floor, new: Floor) -> Floor {
    match (old, new) {
        (Floor::At { offset: before, lowered, .. }, Floor::At { var, offset, .. }) if offset < before => {
            if lowered < LOWERED { Floor::At { var, offset, lowered: lowered + 1 } } else { Floor::Unknown }
        }
        // The uses of a value must not raise what they have counted.
        (Floor::At { lowered, .. }, Floor::At { var, offset, .. }) => Floor::At { var, offset, lowered },
        (Floor::Unknown, _) => Floor::Unknown,
        (_, new) => new,
    }
}

fn result(flow: &Flow, provenance: &Provenance, at: u32, i: &Instr, var: u32, facts: &[Floor]) -> Floor {
    match &i.operands[..] {
        [first, ..] if matches!(first.value, Operand::Reg(r, lane) if flow.ssa.var(r, lane) == var) => {}
        _ => return Floor::Unknown,
    }
    let get = |name: &str| match i.value(name) {
        Some(Operand::Reg(r, lane)) => facts[flow.ssa.read(at, *r, *lane) as usize],
        Some(Operand::VarAddr(id, offset)) => match is_placed(flow, id.0) {
            true => Floor::At { var: id.0, offset: *offset, lowered: 0 },
            false => Floor::Unknown,
        },
        _ => Floor::Unknown,
    };
    // A number, and whether it is no address.
    let number = |name: &str| match i.value(name) {
        Some(Operand::Imm(n)) => Some(signed(i, *n)),
        Some(Operand::Reg(r, lane)) => match provenance.sources.get(flow.ssa.read(at, *r, *lane) as usize) {
            Some(ValueSource::Number(n)) => Some(signed(i, *n as u64)),
            Some(ValueSource::Address(a)) if a.base != AddressBase::None => None,
            Some(ValueSource::Bottom) => None,
            _ => Some(0),
        },
        Some(Operand::Sreg(_) | Operand::Rust(_)) => Some(0),
        _ => None,
    };
    match i.opcode {
        op::mov | op::cvta | op::cvt | op::shfl_sync | op::mapa => get("a"),
        op::add if !i.has(q::cc) => match (get("a"), get("b")) {
            (Floor::Bottom, _) | (_, Floor::Bottom) => Floor::Bottom,
            (a @ Floor::At { .. }, Floor::Unknown) => plus(a, number("b")),
            (Floor::Unknown, b @ Floor::At { .. }) => plus(b, number("a")),
            _ => Floor::Unknown,
        },
        // An index that is subtracted may be anything.
        op::sub if !i.has(q::cc) => match i.value("b") {
            Some(Operand::Imm(n)) => plus(get("a"), signed(i, *n).checked_neg()),
            _ => Floor::Unknown,
        },
        op::mad => match get("c") {
            c @ Floor::At { .. } => plus(c, Some(product(i).unwrap_or(0))),
            other => other,
        },
        op::xor | op::or => match (get("a"), get("b")) {
            (Floor::Bottom, _) | (_, Floor::Bottom) => Floor::Bottom,
            (a @ Floor::At { .. }, Floor::Unknown) => a,
            (Floor::Unknown, b @ Floor::At { .. }) => b,
            _ => Floor::Unknown,
        },
        op::selp => join(get("a"), get("b")),
        _ => Floor::Unknown,
    }
}

/// Is the variable one whose place is known?
fn is_placed(flow: &Flow, var: u32) -> bool {
    flow.module.vars.get(var as usize).is_some_and(|v| v.space != ptx_dsl_isa::hir::Space::ParamFunc)
}

/// The product of two constants of `mad`.
fn product(i: &Instr) -> Option<i64> {
    signed(i, i.constant("a")?).checked_mul(signed(i, i.constant("b")?))
}

/// A number of the width of the instruction.
fn signed(i: &Instr, n: u64) -> i64 {
    let narrow = matches!(i.types.last(), Some(t) if t.bits() == 32);
    if narrow { i64::from(n as i32) } else { n as i64 }
}

fn plus(floor: Floor, more: Option<i64>) -> Floor {
    match (floor, more) {
        (Floor::At { var, offset, lowered }, Some(more)) => match offset.checked_add(more) {
            Some(offset) => Floor::At { var, offset, lowered },
            None => Floor::Unknown,
        },
        (Floor::At { .. }, None) => Floor::Unknown,
        (other, _) => other,
    }
}
