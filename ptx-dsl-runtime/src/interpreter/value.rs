//! Operands of planned steps: scalars whose place is known.

use super::op::Operand;
use super::registers::{Kind, Line, Scalar};
use super::runner::Runner;
use crate::Ctx;
use ptx_dsl_isa::image::Register;

/// An operand that is a scalar.
pub(super) enum Value {
    Scalar(Scalar),
    /// A register of this kind.
    Register(Register, Kind),
    /// A register of this kind and an offset, modulo the width of the register.
    Offset {
        base: Register,
        kind: Kind,
        offset: i64,
        low: u64,
    },
    /// A special register that is the same in all threads of a CTA.
    Special(fn(&Ctx<'_>, usize) -> u64),
}

impl Clone for Value {
    fn clone(&self) -> Self {
        *self
    }
}

impl Copy for Value {}

impl Value {
    /// An operand that is a scalar now.
    pub fn of(r: &Runner<'_, '_>, o: &Operand) -> Option<Value> {
        let scalar = r.scalar_operand(o)?;
        let kind = scalar.kind();
        Some(match o {
            Operand::Register(register) => Value::Register(*register, kind),
            Operand::Address { base, offset } => {
                Value::Offset { base: *base, kind, offset: *offset, low: r.registers.slot(*base).truncated(u64::MAX) }
            }
            Operand::Special(s) if s.uniform => Value::Special(s.read),
            Operand::Special(_) | Operand::Constant(_) => Value::Scalar(scalar),
            Operand::Not(_) | Operand::Frame { .. } => return None,
        })
    }

    /// Its kind while the plan holds.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Scalar(scalar) => scalar.kind(),
            Value::Register(_, kind) | Value::Offset { kind, .. } => *kind,
            Value::Special(_) => Kind::Uniform,
        }
    }

    #[inline(always)]
    pub fn scalar(&self, r: &Runner<'_, '_>) -> Scalar {
        match self {
            Value::Register(register, _) => r.scalar(*register),
            Value::Scalar(scalar) => *scalar,
            Value::Offset { base, offset, low, .. } => match r.scalar(*base) {
                Scalar::Uniform(v) => Scalar::Uniform(v.wrapping_add_signed(*offset) & low),
                Scalar::Affine { base, x, y } => Scalar::Affine { base: base.wrapping_add_signed(*offset) & low, x, y },
                Scalar::Rows => Scalar::Rows,
            },
            Value::Special(read) => Scalar::Uniform(read(r.x, 0)),
        }
    }

    /// Its value, if it is uniform: the base of an affine one.
    #[inline(always)]
    pub fn uniform(&self, r: &Runner<'_, '_>) -> u64 {
        match *self {
            Value::Register(register, _) => r.registers.base(r.lo, register),
            Value::Scalar(Scalar::Uniform(v)) => v,
            Value::Scalar(scalar) => scalar.line().0,
            Value::Offset { base, offset, low, .. } => r.registers.base(r.lo, base).wrapping_add_signed(offset) & low,
            Value::Special(read) => read(r.x, 0),
        }
    }

    /// Base and strides.
    #[inline(always)]
    pub fn line(&self, r: &Runner<'_, '_>) -> Line {
        let (base, register) = match *self {
            Value::Scalar(scalar) => return scalar.line(),
            Value::Register(register, Kind::Affine) | Value::Offset { base: register, kind: Kind::Affine, .. } => {
                (self.uniform(r), register)
            }
            _ => return (self.uniform(r), 0, 0),
        };
        let (_, x, y) = r.registers.line(r.lo, register);
        (base, x, y)
    }
}
