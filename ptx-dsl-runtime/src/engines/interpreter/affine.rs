//! Instructions whose result is affine if their operands are: sums, products with uniform values, and widening where no lane wraps
//! around.

use super::registers::{AffineLine, RegisterKind, Scalar};
use super::runner::Runner;
use crate::numerics::lanes::{self, equal_lane};

use crate::numerics::qual::{Q, Ty, q};
use ptx_dsl_isa::image::{Instr, Register};
use ptx_dsl_isa::opcode::{Opcode, op};

/// The rule by which the result follows from the operands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AffineRule {
    Add,
    Sub,
    Mul,
    Mad,
    Shl,
    /// `mul.wide`, and `mad.wide` if there is a third operand.
    Wide {
        signed: bool,
    },
    /// Extension to 64 bits.
    Extend {
        signed: bool,
    },
    /// Truncation to 32 bits.
    Truncate,
    /// `setp` of 32 bits, where all lanes give the same.
    Compare {
        compare: Compare,
        signed: bool,
    },
}

/// A comparison of integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    fn of(q: Q) -> Option<Compare> {
        let all = [
            (q::eq, Compare::Eq),
            (q::ne, Compare::Ne),
            (q::lt, Compare::Lt),
            (q::lo, Compare::Lt),
            (q::le, Compare::Le),
            (q::ls, Compare::Le),
            (q::gt, Compare::Gt),
            (q::hi, Compare::Gt),
            (q::ge, Compare::Ge),
            (q::hs, Compare::Ge),
        ];
        all.into_iter().find(|(written, _)| q.has(*written)).map(|(_, compare)| compare)
    }

    /// The common result for all values from `low` to `high`, if they have one.
    fn of_range(self, low: i64, high: i64, with: i64) -> Option<bool> {
        let both = |first: bool, last: bool| (first == last).then_some(first);
        match self {
            Compare::Eq => (with < low || with > high).then_some(false),
            Compare::Ne => (with < low || with > high).then_some(true),
            Compare::Lt => both(low < with, high < with),
            Compare::Le => both(low <= with, high <= with),
            Compare::Gt => both(low > with, high > with),
            Compare::Ge => both(low >= with, high >= with),
        }
    }
}

impl AffineRule {
    pub fn of(opcode: Opcode, q: Q, i: &Instr, width: &dyn Fn(&Register) -> u8) -> Option<AffineRule> {
        let ty = q.ty[0];
        if opcode == op::setp && i.sources.len() == 2 && i.results.len() == 1 && ty.bits() == 32 && !ty.is_float() {
            return Some(AffineRule::Compare { compare: Compare::of(q)?, signed: ty.is_signed() });
        }
        let result = (*i.results.first()?)?;
        let bits = u32::from(width(&result));
        let integer = |ty: Ty| matches!(ty, Ty::U32 | Ty::S32 | Ty::B32 | Ty::U64 | Ty::S64 | Ty::B64);
        if !integer(ty) || q.has(q::sat) || q.has(q::cc) || i.results.len() != 1 {
            return None;
        }
        let same = ty.bits() == bits;
        match opcode {
            op::add if same => Some(AffineRule::Add),
            op::sub if same => Some(AffineRule::Sub),
            op::mul | op::mad if q.has(q::wide) => {
                (ty.bits() == 32 && bits == 64).then_some(AffineRule::Wide { signed: ty.is_signed() })
            }
            op::mul if same && q.has(q::lo) => Some(AffineRule::Mul),
            op::mad if same && q.has(q::lo) => Some(AffineRule::Mad),
            op::shl if same => Some(AffineRule::Shl),
            op::cvt if q.types == 2 && integer(q.ty[1]) && ty.bits() == bits => match (bits, q.ty[1].bits()) {
                (64, 32) => Some(AffineRule::Extend { signed: q.ty[1].is_signed() }),
                (32, 64) => Some(AffineRule::Truncate),
                _ => None,
            },
            _ => None,
        }
    }

    /// The order in which [`Runner::set_line`] takes the operands: a uniform factor is second. `None` if they have no affine result.
    pub fn order(self, [a, b, _]: [RegisterKind; 3]) -> Option<[usize; 3]> {
        match self {
            AffineRule::Mul | AffineRule::Mad | AffineRule::Wide { .. } if b != RegisterKind::Uniform => {
                (a == RegisterKind::Uniform).then_some([1, 0, 2])
            }
            AffineRule::Shl if b != RegisterKind::Uniform => None,
            _ => Some([0, 1, 2]),
        }
    }

    /// The result for these operands, if it is affine in a register of `bits`. One that is not there is 0. `shape`: of the CTA.
    #[inline(always)]
    pub fn apply(self, shape: (u32, u32), s: impl Fn(usize) -> AffineLine, bits: u32) -> Option<AffineLine> {
        let (base, x, y) = match self {
            AffineRule::Add => sum(s(0), s(1)),
            AffineRule::Sub => sum(s(0), scaled(s(1), u64::MAX)),
            AffineRule::Mul => scaled(s(0), s(1).0),
            AffineRule::Mad => sum(scaled(s(0), s(1).0), s(2)),
            AffineRule::Shl => {
                let by = s(1).0 as u32;
                if by >= bits {
                    return None;
                }
                scaled(s(0), 1 << by)
            }
            AffineRule::Wide { signed } => {
                let factor = s(1).0 as u32;
                let factor = if signed { factor as i32 as i64 as u64 } else { factor.into() };
                sum(scaled(extended(shape, s(0), signed)?, factor), s(2))
            }
            AffineRule::Extend { signed } => extended(shape, s(0), signed)?,
            AffineRule::Truncate => s(0),
            AffineRule::Compare { .. } => return None,
        };
        Some(match bits {
            64 => (base, x, y),
            _ => (base as u32 as u64, x as i32 as i64, y as i32 as i64),
        })
    }
}

#[inline(always)]
fn sum(a: AffineLine, b: AffineLine) -> AffineLine {
    (a.0.wrapping_add(b.0), a.1.wrapping_add(b.1), a.2.wrapping_add(b.2))
}

#[inline(always)]
fn scaled((base, x, y): AffineLine, by: u64) -> AffineLine {
    (base.wrapping_mul(by), x.wrapping_mul(by as i64), y.wrapping_mul(by as i64))
}

/// A 32-bit value in 64 bits, if no lane wraps around.
#[inline(always)]
fn extended(shape: (u32, u32), line: AffineLine, signed: bool) -> Option<AffineLine> {
    range(shape, line, signed)?;
    let base = if signed { line.0 as u32 as i32 as i64 } else { line.0 as u32 as i64 };
    Some((base as u64, i64::from(line.1 as i32), i64::from(line.2 as i32)))
}

/// The distances of the lowest and the highest value of all threads from the base.
#[inline(always)]
fn extent((nx, ny): (u32, u32), x: i64, y: i64) -> Option<(i64, i64)> {
    let (dx, dy) = (x.checked_mul(i64::from(nx - 1))?, y.checked_mul(i64::from(ny - 1))?);
    Some((dx.min(0).checked_add(dy.min(0))?, dx.max(0).checked_add(dy.max(0))?))
}

/// The lowest and the highest value of a 32-bit value, if no lane wraps around.
#[inline(always)]
fn range(shape: (u32, u32), (base, x, y): AffineLine, signed: bool) -> Option<(i64, i64)> {
    let base = if signed { base as u32 as i32 as i64 } else { base as u32 as i64 };
    let (below, above) = extent(shape, x as i32 as i64, y as i32 as i64)?;
    let (low, high) = (base + below, base + above);
    let fits =
        if signed { low >= i32::MIN.into() && high <= i32::MAX.into() } else { low >= 0 && high <= u32::MAX.into() };
    fits.then_some((low, high))
}

impl Runner<'_, '_> {
    /// The lowest and the highest value of all threads of the CTA, if none wraps around.
    pub fn ends(&self, (base, x, y): AffineLine, bits: u32) -> Option<[u64; 2]> {
        if bits == 32 {
            return range(self.registers.shape, (base, x, y), false).map(|(low, high)| [low as u64, high as u64]);
        }
        let (below, above) = extent(self.registers.shape, x, y)?;
        Some([base.checked_add_signed(below)?, base.checked_add_signed(above)?])
    }

    /// The kind of what [`Runner::set_line`] sets for these operands, at least one of which is affine. `None` if it cannot.
    pub fn kind_of_line(
        &self,
        rule: AffineRule,
        s: [AffineLine; 3],
        kinds: [RegisterKind; 3],
        result: Register,
    ) -> Option<RegisterKind> {
        let AffineRule::Compare { compare, signed } = rule else {
            let bits = self.registers.slot(result).bits;
            return rule.apply(self.registers.shape, |i| s[i], bits).map(|_| RegisterKind::Affine);
        };
        if kinds[0] != RegisterKind::Affine || kinds[1] != RegisterKind::Uniform {
            return None;
        }
        match self.compared(compare, signed, s[0], s[1].0) {
            Some(_) => Some(RegisterKind::Uniform),
            None => self.compares_threads(signed, s[0]).then_some(RegisterKind::Rows),
        }
    }

    /// Computes an affine result, or that of a comparison. False, with nothing done, if it is not of that kind.
    #[inline(always)]
    pub fn set_line(&mut self, rule: AffineRule, s: [AffineLine; 3], result: Register, kind: RegisterKind) -> bool {
        if let AffineRule::Compare { compare, signed } = rule {
            return self.set_compared(compare, signed, (s[0], s[1].0), result, kind);
        }
        let bits = self.registers.slot(result).bits;
        let Some((base, x, y)) = rule.apply(self.registers.shape, |i| s[i], bits) else { return false };
        self.registers.set_scalar(self.lo, result, Scalar::Affine { base, x, y });
        true
    }

    /// Sets the result of a comparison.
    #[inline]
    fn set_compared(
        &mut self,
        compare: Compare,
        signed: bool,
        (line, with): (AffineLine, u64),
        result: Register,
        kind: RegisterKind,
    ) -> bool {
        if kind == RegisterKind::Rows {
            return self.compare_rows(compare, signed, line, with, result);
        }
        let Some(holds) = self.compared(compare, signed, line, with) else { return false };
        self.registers.set_scalar(self.lo, result, Scalar::Uniform(holds.into()));
        true
    }

    /// A comparison of an affine value with a uniform one, if all threads of the CTA give the same.
    fn compared(&self, compare: Compare, signed: bool, line: AffineLine, with: u64) -> Option<bool> {
        let (low, high) = range(self.registers.shape, line, signed)?;
        let with = if signed { with as u32 as i32 as i64 } else { with as u32 as i64 };
        compare.of_range(low, high, with)
    }

    /// Does a comparison of this affine value with a uniform one hold in the lanes up to some thread, because it is like `%tid.x`?
    fn compares_threads(&self, signed: bool, line: AffineLine) -> bool {
        line.1 == 1 && self.registers.shape.1 == 1 && range(self.registers.shape, line, signed).is_some()
    }

    /// Runs a comparison of an affine value with a uniform one. False, with nothing done, if the affine value is not like `%tid.x`.
    fn compare_rows(&mut self, compare: Compare, signed: bool, line: AffineLine, with: u64, result: Register) -> bool {
        if !self.compares_threads(signed, line) {
            return false;
        }
        // the order of unsigned numbers, with the sign bit inverted for signed ones
        let flip = if signed { 1 << 31 } else { 0 };
        let (base, with) = (line.0 as u32 ^ flip, with as u32 ^ flip);
        let rows = self.registers.row(result, self.lo);
        for (k, row) in self.registers.masks[rows..rows + self.n].iter().enumerate() {
            let first = base.wrapping_add(((self.lo + k) * 32) as u32);
            row.set(match compare {
                Compare::Lt => lanes::below(first, with),
                Compare::Ge => !lanes::below(first, with),
                Compare::Le => lanes::up_to(first, with),
                Compare::Gt => !lanes::up_to(first, with),
                Compare::Eq => equal_lane(first, with),
                Compare::Ne => !equal_lane(first, with),
            });
        }
        self.registers.set_scalar(self.lo, result, Scalar::Rows);
        true
    }
}
