//! Operands of planned steps: scalars whose place is known.

use super::op::Operand;
use super::registers::{AffineLine, Own, RegisterKind, Scalar};
use super::runner::Runner;
use crate::machine::Ctx;
use ptx_dsl_isa::image::Register;

/// An operand that is a scalar, in one form for all kinds: what a register holds, if there is one, plus a constant. It is read without
/// a decision.
#[derive(Clone, Copy)]
pub(super) struct Value {
    register: Register,
    kind: RegisterKind,
    /// All bits, or none where there is no register.
    of_register: u64,
    /// All bits, or none where the register is not affine.
    of_strides: i64,
    /// The addend: base and strides.
    add: AffineLine,
    /// The bits of the result.
    low: u64,
    /// A special register that is the same in all threads of a CTA, instead of a register.
    special: Option<fn(&Ctx<'_>, usize) -> u64>,
}

impl Value {
    /// A constant.
    pub fn constant(scalar: Scalar) -> Value {
        let kind = scalar.kind();
        Value { register: 0, kind, of_register: 0, of_strides: 0, add: scalar.line(), low: u64::MAX, special: None }
    }

    /// A register of this kind and an offset, modulo the width of the register.
    fn of_register(r: &Runner<'_, '_>, register: Register, offset: i64) -> Option<Value> {
        let kind = r.scalar(register).kind();
        let value = Value {
            register,
            kind,
            of_register: u64::MAX,
            of_strides: if kind == RegisterKind::Affine { -1 } else { 0 },
            add: (offset.cast_unsigned(), 0, 0),
            low: r.registers.slot(register).truncated(u64::MAX),
            special: None,
        };
        (kind != RegisterKind::Rows).then_some(value)
    }

    /// An operand that is a scalar now.
    pub fn of(r: &Runner<'_, '_>, o: &Operand) -> Option<Value> {
        match o {
            Operand::Register(register) => Value::of_register(r, *register, 0),
            Operand::Address { base, offset } => Value::of_register(r, *base, *offset),
            Operand::Special(s) if s.uniform => {
                Some(Value { special: Some(s.read), ..Value::constant(Scalar::Uniform(0)) })
            }
            Operand::Special(_) | Operand::Constant(_) => r.scalar_operand(o).map(Value::constant),
            Operand::Not(_) | Operand::Frame { .. } => None,
        }
    }

    /// The kind of the value while the plan holds.
    pub fn kind(&self) -> RegisterKind {
        self.kind
    }

    /// Whether the value is the same wherever and whenever it is read.
    pub fn is_constant(&self) -> bool {
        self.of_register == 0 && self.special.is_none()
    }

    #[inline(always)]
    pub fn scalar(&self, r: &Runner<'_, '_>) -> Scalar {
        let (base, x, y) = self.line(r);
        if self.kind == RegisterKind::Affine { Scalar::Affine { base, x, y } } else { Scalar::Uniform(base) }
    }

    /// The value, if it is uniform: the base of an affine one.
    #[inline(always)]
    pub fn uniform(&self, r: &Runner<'_, '_>) -> u64 {
        let base = match self.special {
            None => r.registers.base(r.lo, self.register) & self.of_register,
            Some(read) => read(r.x, 0),
        };
        base.wrapping_add(self.add.0) & self.low
    }

    /// Base and strides.
    #[inline(always)]
    pub fn line(&self, r: &Runner<'_, '_>) -> AffineLine {
        let (_, x, y) = r.registers.line(r.lo, self.register);
        self.with_strides(self.uniform(r), x, y)
    }

    /// [`Value::uniform`] from the scalars in `own`.
    #[inline(always)]
    pub fn uniform_of(&self, own: &Own<'_>, x: &Ctx<'_>) -> u64 {
        let base = match self.special {
            None => own.bases[self.register as usize] & self.of_register,
            Some(read) => read(x, 0),
        };
        base.wrapping_add(self.add.0) & self.low
    }

    /// [`Value::line`] from the scalars in `own`.
    #[inline(always)]
    pub fn line_of(&self, own: &Own<'_>, x: &Ctx<'_>) -> AffineLine {
        let (base, at) = (self.uniform_of(own, x), self.register as usize);
        self.with_strides(base, own.xs[at], own.ys[at])
    }

    #[inline(always)]
    fn with_strides(&self, base: u64, x: i64, y: i64) -> AffineLine {
        let (_, add_x, add_y) = self.add;
        (base, (x & self.of_strides).wrapping_add(add_x), (y & self.of_strides).wrapping_add(add_y))
    }
}
