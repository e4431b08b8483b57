//! Conditions in a normal form: a predicate, or the integer comparison that makes it. Two comparisons of the same values are one
//! condition, a comparison and its opposite are one condition and its negation.

use crate::flow::Flow;
use crate::lanes::{LaneFact, Lanes};
use crate::ssa::Val;
use ptx_dsl_isa::constant::ConstId;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::sreg::{SpecialRegister, Varies};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::Class;

/// A condition: a predicate, or the comparison that makes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    Value(Val),
    /// Integers of this many bits.
    Compare(Order, u32, Key, Key),
    /// A comparison of other kinds, by its qualifiers. Its negation is not known to be the opposite comparison.
    Same(Vec<Qualifier>, Key, Key),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Value(Val),
    Number(u64),
    Special(SpecialRegister),
    Rust(ConstId),
}

/// Whether it is a conjunction; the parts, each with its polarity; whether these are all.
pub(super) type Parts = (bool, Vec<(Val, bool)>, bool);

/// The integer comparisons up to negation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Order {
    Equal,
    /// Signed.
    Less,
    LessOrEqual,
    /// Unsigned.
    Below,
    BelowOrEqual,
}

/// The condition of a predicate, and its polarity.
pub(super) fn condition(flow: &Flow, lanes: &Lanes, p: Val, depth: u32) -> (Condition, bool) {
    let v = flow.origin(p);
    let plain = (Condition::Value(v), true);
    let (Some(maker), true) = (flow.ssa.maker(v), depth < 8) else { return plain };
    let i = flow.instr(maker);
    let source = |name: &str| flow.source(maker, name);
    match i.opcode {
        op::not if i.has(q::pred) => match source("a") {
            Some(a) => {
                let (c, is) = condition(flow, lanes, a, depth + 1);
                (c, !is)
            }
            None => plain,
        },
        op::mov if i.has(q::pred) => match source("a") {
            Some(a) => condition(flow, lanes, a, depth + 1),
            None => plain,
        },
        op::setp => comparison(flow, lanes, maker, i).unwrap_or(plain),
        _ => plain,
    }
}

fn comparison(flow: &Flow, lanes: &Lanes, at: u32, i: &Instr) -> Option<(Condition, bool)> {
    let ty = i.types.last()?;
    let single = matches!(i.operands.first()?.value, Operand::Reg(..)) && i.operands.len() == 3;
    if !single {
        return None;
    }
    let bits = ty.bits();
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let key = |name: &str| {
        Some(match i.value(name)? {
            Operand::Imm(n) => Key::Number(*n & mask),
            Operand::Rust(id) => Key::Rust(*id),
            Operand::Reg(r, lane) => {
                let v = flow.ssa.read(at, *r, *lane);
                match lanes.facts.get(v as usize) {
                    Some(LaneFact::Const(n)) => Key::Number(*n & mask),
                    _ => Key::Value(flow.origin(v)),
                }
            }
            Operand::Sreg(register) if register.row().varies != Varies::InTime => Key::Special(*register),
            _ => return None,
        })
    };
    let (a, b) = (key("a")?, key("b")?);
    if !matches!(ty.class(), Class::Bits | Class::Unsigned | Class::Signed) || bits > 64 {
        return Some((Condition::Same(i.quals.clone(), a, b), true));
    }
    let signed = ty.class() == Class::Signed;
    for q in &i.quals {
        if let Some((op, is)) = order(*q, signed) {
            return Some((Condition::Compare(op, bits, a, b), is));
        }
    }
    None
}

/// The parts of a conjunction or disjunction.
pub(super) fn parts(flow: &Flow, v: Val) -> Option<Parts> {
    let maker = flow.ssa.maker(v)?;
    let i = flow.instr(maker);
    let of = |o: &Operand| match o {
        Operand::Reg(r, lane) => Some((flow.ssa.read(maker, *r, *lane), true)),
        Operand::NotReg(r) => Some((flow.ssa.read(maker, *r, 0), false)),
        _ => None,
    };
    match i.opcode {
        op::and | op::or if i.has(q::pred) => {
            let list = ["a", "b"].into_iter().filter_map(|name| of(i.value(name)?)).collect();
            Some((i.opcode == op::and, list, true))
        }
        op::setp if matches!(i.operands.first()?.value, Operand::Reg(..)) && (i.has(q::and) || i.has(q::or)) => {
            Some((i.has(q::and), vec![of(i.value("c")?)?], false))
        }
        _ => None,
    }
}

/// `.CmpOp` as an [`Order`] and its polarity.
fn order(qualifier: Qualifier, signed: bool) -> Option<(Order, bool)> {
    Some(match (qualifier, signed) {
        (q::eq, _) => (Order::Equal, true),
        (q::ne, _) => (Order::Equal, false),
        (q::lt, true) => (Order::Less, true),
        (q::ge, true) => (Order::Less, false),
        (q::le, true) => (Order::LessOrEqual, true),
        (q::gt, true) => (Order::LessOrEqual, false),
        (q::lt | q::lo, _) => (Order::Below, true),
        (q::ge | q::hs, _) => (Order::Below, false),
        (q::le | q::ls, _) => (Order::BelowOrEqual, true),
        (q::gt | q::hi, _) => (Order::BelowOrEqual, false),
        _ => return None,
    })
}
