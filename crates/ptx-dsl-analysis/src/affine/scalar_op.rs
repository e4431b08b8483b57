//! Selection of scalar operations: instructions that compute one value of a plain type from one to three others. The affine
//! lattice knows how each of them changes rows of lanes.

use super::sreg;
use crate::compare::Compare;
use ptx_dsl_isa::hir::{Function, Instr, Operand};
use ptx_dsl_isa::isa::Host;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{Qualifier, q};
use ptx_dsl_isa::ty::{Class, Ty};

/// The operation of a scalar instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// A copy: `mov`, `cvta` of global addresses.
    Mov,
    /// Wrapping sum.
    Add,
    /// Wrapping difference.
    Sub,
    /// The low half of the product.
    Mul,
    /// `Mul`, and a sum.
    Mad,
    /// The whole product of two 32-bit values.
    Wide,
    /// `Wide`, and a sum.
    MadWide,
    /// `and`
    And,
    /// `or`
    Or,
    /// `xor`
    Xor,
    /// `not`
    Not,
    /// Wrapping negation.
    Neg,
    /// Shift to the left; 0 by the width and more.
    Shl,
    /// Shift to the right; by the width at most.
    Shr,
    /// `min`
    Min,
    /// `max`
    Max,
    /// Unsigned quotient; all ones for a divisor of 0.
    Div,
    /// Unsigned remainder; all ones for a divisor of 0.
    Rem,
    /// `setp` of integers.
    Setp(Compare),
    /// `setp.f32`
    SetpFloat(Compare),
    /// `selp`
    Selp,
    /// Conversion between integers.
    Cvt,
    /// Conversion of a 32-bit integer to `.f32`.
    ToFloat,
    /// `add.f32`
    Fadd,
    /// `sub.f32`
    Fsub,
    /// `mul.f32`
    Fmul,
    /// `fma.rn.f32`
    Ffma,
    /// `mapa.shared::cluster.u32`
    Mapa,
}

/// An instruction as a scalar operation.
#[derive(Debug, Clone, Copy)]
pub struct ScalarOp {
    /// The operation.
    pub op: Op,
    /// Width of the operands.
    pub bits: u32,
    /// Are the operands signed?
    pub signed: bool,
    /// Width of the result.
    pub to: u32,
}

/// The scalar operation of an instruction of a function, if it is one. Registers must be as wide as the types say. `reqntid` is that of
/// the kernel.
pub fn scalar_op(function: &Function, reqntid: Option<[u32; 3]>, i: &Instr) -> Option<ScalarOp> {
    if !matches!(i.entry.host, Host::Lane | Host::Control) && !matches!(i.opcode, op::cvta | op::mapa) {
        return None;
    }
    let ty = *i.types.first()?;
    let found = if i.opcode == op::cvt { conversion(i) } else { operation(i, ty) }?;
    // every operand a value of the expected width
    let fits = |n: usize, o: &Operand| {
        let wanted = if n == 0 { found.to } else { found.source_bits(n - 1) };
        match o {
            Operand::Reg(r, _) => function.value_bits(*r) == wanted,
            Operand::NotReg(_) => n > 0 && wanted == 1,
            // a guarded special register is 32 bits wide
            Operand::Sreg(register) => n > 0 && (wanted == 32 || sreg::affine(reqntid, *register).guards == 0),
            Operand::Imm(_) | Operand::VarAddr(..) => n > 0,
            _ => false,
        }
    };
    let all_fit = i.operands.iter().enumerate().all(|(n, a)| fits(n, &a.value));
    (all_fit && i.operands.len() == found.sources() + 1).then_some(found)
}

/// The qualifiers that are no types.
fn modifiers(i: &Instr) -> impl Iterator<Item = Qualifier> {
    i.quals.iter().copied().filter(|q| q.ty().is_none())
}

/// The only modifier of an instruction, if any; `None` if it has more.
fn one_modifier(i: &Instr) -> Option<Option<Qualifier>> {
    let mut all = modifiers(i);
    let one = all.next();
    all.next().is_none().then_some(one)
}

/// Is it a `cvta` between generic addresses and those of global memory, which are the same?
fn is_cvta_global(i: &Instr) -> bool {
    modifiers(i).all(|q| matches!(q, q::to | q::global)) && i.has(q::global)
}

/// Is it an integer type that Rust has?
fn is_int(t: Ty) -> bool {
    matches!(t.class(), Class::Unsigned | Class::Signed) && matches!(t.bits(), 16 | 32 | 64)
}

/// A `cvt`.
fn conversion(i: &Instr) -> Option<ScalarOp> {
    let [to, from] = i.types[..] else { return None };
    let (bits, signed) = (from.bits(), from.class() == Class::Signed);
    match one_modifier(i)? {
        None if is_int(to) && is_int(from) => Some(ScalarOp { op: Op::Cvt, bits, signed, to: to.bits() }),
        Some(q::rn) if to == Ty::F32 && is_int(from) && bits == 32 => {
            Some(ScalarOp { op: Op::ToFloat, bits, signed, to: 32 })
        }
        _ => None,
    }
}

/// Any other instruction.
fn operation(i: &Instr, ty: Ty) -> Option<ScalarOp> {
    let (class, bits) = (ty.class(), ty.bits());
    let signed = class == Class::Signed;
    if i.opcode == op::cvta {
        return if is_cvta_global(i) { Some(ScalarOp { op: Op::Mov, bits, signed, to: bits }) } else { None };
    }
    let modifier = one_modifier(i)?;
    let one = i.types.len() == 1;
    let scalar = one && matches!(class, Class::Bits | Class::Unsigned | Class::Signed) && matches!(bits, 16 | 32 | 64);
    let f32 = ty == Ty::F32 && one && matches!(modifier, None | Some(q::rn));
    let plain = scalar && modifier.is_none();
    let logic = plain || ty == Ty::Pred;
    let two = i.operands.len() == 3;
    let (op, to) = match i.opcode {
        op::mov if one && modifier.is_none() && matches!(bits, 1 | 16 | 32 | 64) => (Op::Mov, bits),
        op::mapa if modifier == Some(q::shared_cluster) && bits == 32 => (Op::Mapa, 32),
        op::add if plain => (Op::Add, bits),
        op::sub if plain => (Op::Sub, bits),
        op::add if f32 => (Op::Fadd, 32),
        op::sub if f32 => (Op::Fsub, 32),
        op::mul if f32 => (Op::Fmul, 32),
        op::fma if f32 => (Op::Ffma, 32),
        op::mul if scalar && modifier == Some(q::lo) => (Op::Mul, bits),
        op::mad if scalar && modifier == Some(q::lo) => (Op::Mad, bits),
        op::mul if scalar && bits == 32 && modifier == Some(q::wide) => (Op::Wide, 64),
        op::mad if scalar && bits == 32 && modifier == Some(q::wide) => (Op::MadWide, 64),
        op::and if logic => (Op::And, bits),
        op::or if logic => (Op::Or, bits),
        op::xor if logic => (Op::Xor, bits),
        op::not if logic => (Op::Not, bits),
        op::neg if plain => (Op::Neg, bits),
        op::shl if plain => (Op::Shl, bits),
        op::shr if plain => (Op::Shr, bits),
        op::min if plain && two => (Op::Min, bits),
        op::max if plain && two => (Op::Max, bits),
        op::div if plain && !signed => (Op::Div, bits),
        op::rem if plain && !signed => (Op::Rem, bits),
        op::selp if one && modifier.is_none() && matches!(bits, 16 | 32 | 64) => (Op::Selp, bits),
        op::setp if scalar && two => (Op::Setp(Compare::of(modifier?)?), 1),
        op::setp if one && two && ty == Ty::F32 => (Op::SetpFloat(Compare::of(modifier?)?), 1),
        _ => return None,
    };
    Some(ScalarOp { op, bits, signed, to })
}

impl ScalarOp {
    /// The number of source operands.
    pub fn sources(self) -> usize {
        match self.op {
            Op::Mov | Op::Not | Op::Neg | Op::Cvt | Op::ToFloat => 1,
            Op::Mad | Op::MadWide | Op::Selp | Op::Ffma => 3,
            _ => 2,
        }
    }

    /// Width of a source.
    pub fn source_bits(self, n: usize) -> u32 {
        match (self.op, n) {
            (Op::Shl | Op::Shr, 1) => 32,
            (Op::Selp, 2) => 1,
            (Op::MadWide, 2) => 64,
            _ => self.bits,
        }
    }

    /// May its result be a NaN that is not canonical? So it is for f32 arithmetic.
    pub fn gives_any_nan(self) -> bool {
        matches!(self.op, Op::Fadd | Op::Fsub | Op::Fmul | Op::Ffma)
    }

    /// Does it give the same result for all NaNs of a source?
    pub fn takes_any_nan(self) -> bool {
        self.gives_any_nan() || matches!(self.op, Op::SetpFloat(_))
    }
}
