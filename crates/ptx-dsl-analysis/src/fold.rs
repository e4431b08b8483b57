//! Constant folding of integer instructions.

use crate::compare::{Compare, holds};
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::ty::Class;

/// The result of an instruction from the values of its operands; `None` if unknown, undefined or no integer.
pub fn fold(i: &Instr, of: &mut dyn FnMut(&Operand) -> Option<u64>) -> Option<u64> {
    let mut get = |name: &str| of(i.value(name)?);
    let ty = *i.types.last()?;
    let first = *i.types.first()?;
    for t in &i.types {
        if !matches!(t.class(), Class::Bits | Class::Unsigned | Class::Signed | Class::Pred) || t.bits() > 64 {
            return None;
        }
    }
    if i.has_any(&[q::cc, q::sat, q::relu]) {
        return None;
    }
    let n = Number { bits: ty.bits(), signed: ty.class() == Class::Signed };
    Some(match i.opcode {
        // The offset in the variable is the same in each CTA.
        op::mapa => n.cut(get("a")?),
        op::mov | op::cvta if i.operands.len() == 2 => n.cut(get("a")?),
        // Converts from the last type to the first one.
        op::cvt => Number { bits: first.bits(), signed: false }.cut(n.wide(get("a")?) as u64),
        op::add => n.cut(get("a")?.wrapping_add(get("b")?)),
        op::sub => n.cut(get("a")?.wrapping_sub(get("b")?)),
        op::mul => n.product(i, get("a")?, get("b")?)?,
        op::mad => {
            let product = n.product(i, get("a")?, get("b")?)?;
            let wide = if i.has(q::wide) { 2 * n.bits } else { n.bits };
            Number { bits: wide, ..n }.cut(product.wrapping_add(get("c")?))
        }
        op::and => n.cut(get("a")? & get("b")?),
        op::or => n.cut(get("a")? | get("b")?),
        op::xor => n.cut(get("a")? ^ get("b")?),
        op::not => n.cut(!get("a")?),
        op::neg => n.cut(get("a")?.wrapping_neg()),
        op::shl => n.cut(if get("b")? < u64::from(n.bits) { get("a")? << get("b")? } else { 0 }),
        op::shr => n.right(get("a")?, get("b")?),
        op::min | op::max => {
            let (a, b) = (n.cut(get("a")?), n.cut(get("b")?));
            let first_less = if n.signed { n.wide(a) < n.wide(b) } else { a < b };
            if first_less == (i.opcode == op::min) { a } else { b }
        }
        op::div | op::rem => n.quotient(i.opcode == op::div, get("a")?, get("b")?)?,
        op::bfe if !n.signed => {
            let (at, length) = (get("b")? & 0xff, get("c")? & 0xff);
            let field = if at < 64 { n.cut(get("a")?) >> at } else { 0 };
            if length < 64 { field & ((1 << length) - 1) } else { field }
        }
        op::selp => n.cut(if get("c")? != 0 { get("a")? } else { get("b")? }),
        op::setp => n.compare(i, &mut get)?,
        _ => return None,
    })
}

/// A number of this many bits.
#[derive(Clone, Copy)]
struct Number {
    bits: u32,
    signed: bool,
}

impl Number {
    /// The lower bits.
    fn cut(self, x: u64) -> u64 {
        if self.bits >= 64 { x } else { x & ((1 << self.bits) - 1) }
    }

    /// The lower bits, sign-extended if signed.
    fn wide(self, x: u64) -> i128 {
        let x = self.cut(x);
        if self.signed && self.bits > 0 && x >> (self.bits - 1) & 1 == 1 {
            i128::from(x) - (1i128 << self.bits)
        } else {
            i128::from(x)
        }
    }

    fn product(self, i: &Instr, a: u64, b: u64) -> Option<u64> {
        // The upper half of a 64-bit product is not needed.
        let product = self.wide(a).wrapping_mul(self.wide(b));
        if i.has(q::wide) {
            return (self.bits <= 32).then(|| Number { bits: 2 * self.bits, ..self }.cut(product as u64));
        }
        if i.has(q::hi) {
            return (self.bits <= 32).then(|| self.cut((product >> self.bits) as u64));
        }
        Some(self.cut(product as u64))
    }

    fn right(self, a: u64, by: u64) -> u64 {
        let by = by.min(127) as u32;
        self.cut((self.wide(a) >> by.min(self.bits)) as u64)
    }

    fn quotient(self, div: bool, a: u64, b: u64) -> Option<u64> {
        let (a, b) = (self.wide(a), self.wide(b));
        Some(self.cut(if div { a.checked_div(b)? } else { a.checked_rem(b)? } as u64))
    }

    /// `setp` with one predicate; with a Boolean operator the third operand is joined.
    fn compare(self, i: &Instr, get: &mut dyn FnMut(&str) -> Option<u64>) -> Option<u64> {
        if !matches!(i.operands.first()?.value, Operand::Reg(..)) {
            return None;
        }
        let mut op = None;
        for q in &i.quals {
            op = op.or(Compare::of(*q));
        }
        let holds = holds(op?, self.signed, self.bits, get("a")?, get("b")?);
        if i.operands.len() == 3 {
            return Some(u64::from(holds));
        }
        let other = get("c")? != 0;
        Some(u64::from(match i.first_of(&[q::and, q::or, q::xor])? {
            q::and => holds && other,
            q::or => holds || other,
            _ => holds != other,
        }))
    }
}
