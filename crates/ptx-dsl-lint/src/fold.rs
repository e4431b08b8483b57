//! Integer arithmetic on numbers that are known.

use super::ask::value;
use super::lanes::{Compare, holds};
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::ty::Class;

/// The only result of an instruction, from what its operands are; `None` where that is not known, not defined, or no integer.
pub(super) fn fold(i: &Instr, of: &mut dyn FnMut(&Operand) -> Option<u64>) -> Option<u64> {
    let mut get = |name: &str| of(value(i, name)?);
    let ty = *i.types.last()?;
    let first = *i.types.first()?;
    for t in &i.types {
        if !matches!(t.class(), Class::Bits | Class::Unsigned | Class::Signed | Class::Pred) || t.bits() > 64 {
            return None;
        }
    }
    if i.has_any(&[".cc", ".sat", ".relu", ".hilo"]) {
        return None;
    }
    let n = Number { bits: ty.bits(), signed: ty.class() == Class::Signed };
    Some(match i.entry.opcode {
        // The place in a variable is the same in each CTA.
        "mapa" => n.cut(get("a")?),
        "mov" | "cvta" if i.operands.len() == 2 => n.cut(get("a")?),
        // From the type that is written last to that written first.
        "cvt" => Number { bits: first.bits(), signed: false }.cut(n.wide(get("a")?) as u64),
        "add" => n.cut(get("a")?.wrapping_add(get("b")?)),
        "sub" => n.cut(get("a")?.wrapping_sub(get("b")?)),
        "mul" => n.product(i, get("a")?, get("b")?)?,
        "mad" => {
            let product = n.product(i, get("a")?, get("b")?)?;
            let wide = if i.has(".wide") { 2 * n.bits } else { n.bits };
            Number { bits: wide, ..n }.cut(product.wrapping_add(get("c")?))
        }
        "and" => n.cut(get("a")? & get("b")?),
        "or" => n.cut(get("a")? | get("b")?),
        "xor" => n.cut(get("a")? ^ get("b")?),
        "not" => n.cut(!get("a")?),
        "neg" => n.cut(get("a")?.wrapping_neg()),
        "shl" => n.cut(if get("b")? < u64::from(n.bits) { get("a")? << get("b")? } else { 0 }),
        "shr" => n.right(get("a")?, get("b")?),
        "min" | "max" => {
            let (a, b) = (n.cut(get("a")?), n.cut(get("b")?));
            let first_less = if n.signed { n.wide(a) < n.wide(b) } else { a < b };
            if first_less == (i.entry.opcode == "min") { a } else { b }
        }
        "div" | "rem" => n.quotient(i.entry.opcode == "div", get("a")?, get("b")?)?,
        "bfe" if !n.signed => {
            let (at, length) = (get("b")? & 0xff, get("c")? & 0xff);
            let field = if at < 64 { n.cut(get("a")?) >> at } else { 0 };
            if length < 64 { field & ((1 << length) - 1) } else { field }
        }
        "selp" => n.cut(if get("c")? != 0 { get("a")? } else { get("b")? }),
        "setp" => n.compare(i, &mut get)?,
        _ => return None,
    })
}

/// A number of so many bits.
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

    /// The number that the lower bits stand for.
    fn wide(self, x: u64) -> i128 {
        let x = self.cut(x);
        if self.signed && self.bits > 0 && x >> (self.bits - 1) & 1 == 1 {
            i128::from(x) - (1i128 << self.bits)
        } else {
            i128::from(x)
        }
    }

    fn product(self, i: &Instr, a: u64, b: u64) -> Option<u64> {
        // Of two numbers of 64 bits without a sign the upper half would not fit.
        let product = self.wide(a).wrapping_mul(self.wide(b));
        if i.has(".wide") {
            return (self.bits <= 32).then(|| Number { bits: 2 * self.bits, ..self }.cut(product as u64));
        }
        if i.has(".hi") {
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
            op = op.or(Compare::of(q));
        }
        let holds = holds(op?, self.signed, self.bits, get("a")?, get("b")?);
        if i.operands.len() == 3 {
            return Some(u64::from(holds));
        }
        let other = get("c")? != 0;
        Some(u64::from(match i.first_of(&[".and", ".or", ".xor"])? {
            ".and" => holds && other,
            ".or" => holds || other,
            _ => holds != other,
        }))
    }
}
