//! Instructions whose result is affine if their operands are: sums, products with uniform values, and widening where no lane wraps
//! around.

use super::registers::{Kind, Scalar};
use super::runner::Runner;
use crate::lanes::{self, just};

use crate::qual::{Q, Ty, q};
use ptx_dsl_isa::image::{Instr, Register};
use ptx_dsl_isa::opcode::{Opcode, op};

/// How the result follows from the operands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rule {
    Add,
    Sub,
    Mul,
    Mad,
    Shl,
    /// `mul.wide`, and `mad.wide` if there is a third operand.
    Wide {
        signed: bool,
    },
    /// To 64 bits.
    Extend {
        signed: bool,
    },
    /// To 32 bits.
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

    /// The result for all values from `low` to `high`, if it is one.
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

/// An affine value of 32 or 64 bits: base and strides.
type Line = (u64, i64, i64);

impl Rule {
    pub fn of(opcode: Opcode, q: Q, i: &Instr, width: &dyn Fn(&Register) -> u8) -> Option<Rule> {
        let ty = q.ty[0];
        if opcode == op::setp && i.sources.len() == 2 && i.results.len() == 1 && ty.bits() == 32 && !ty.is_float() {
            return Some(Rule::Compare { compare: Compare::of(q)?, signed: ty.is_signed() });
        }
        let result = (*i.results.first()?)?;
        let bits = u32::from(width(&result));
        let integer = |ty: Ty| matches!(ty, Ty::U32 | Ty::S32 | Ty::B32 | Ty::U64 | Ty::S64 | Ty::B64);
        if !integer(ty) || q.has(q::sat) || q.has(q::cc) || i.results.len() != 1 {
            return None;
        }
        let same = ty.bits() == bits;
        match opcode {
            op::add if same => Some(Rule::Add),
            op::sub if same => Some(Rule::Sub),
            op::mul | op::mad if q.has(q::wide) => {
                (ty.bits() == 32 && bits == 64).then_some(Rule::Wide { signed: ty.is_signed() })
            }
            op::mul if same && q.has(q::lo) => Some(Rule::Mul),
            op::mad if same && q.has(q::lo) => Some(Rule::Mad),
            op::shl if same => Some(Rule::Shl),
            op::cvt if q.types == 2 && integer(q.ty[1]) && ty.bits() == bits => match (bits, q.ty[1].bits()) {
                (64, 32) => Some(Rule::Extend { signed: q.ty[1].is_signed() }),
                (32, 64) => Some(Rule::Truncate),
                _ => None,
            },
            _ => None,
        }
    }

    /// The result for these operands (0 for one that is not there) in a register of `bits`, if it is affine.
    #[inline]
    pub fn apply(self, r: &Runner<'_, '_>, s: [Scalar; 3], bits: u32) -> Option<Scalar> {
        if let Rule::Compare { compare, signed } = self {
            return r.compared(compare, signed, s);
        }
        let line = match self {
            Rule::Add => sum(line(s[0]), line(s[1])),
            Rule::Sub => sum(line(s[0]), scaled(line(s[1]), u64::MAX)),
            Rule::Mul => product(s[0], s[1])?,
            Rule::Mad => sum(product(s[0], s[1])?, line(s[2])),
            Rule::Shl => match s[1] {
                Scalar::Uniform(n) if (n as u32) < bits => scaled(line(s[0]), 1 << (n as u32)),
                _ => return None,
            },
            Rule::Wide { signed } => {
                let (value, factor) = match (s[0], s[1]) {
                    (a, Scalar::Uniform(b)) => (a, b),
                    (Scalar::Uniform(a), b) => (b, a),
                    _ => return None,
                };
                let factor = if signed { factor as u32 as i32 as i64 as u64 } else { factor as u32 as u64 };
                let wide = scaled(r.extended(value, signed)?, factor);
                sum(wide, line(s[2]))
            }
            Rule::Extend { signed } => r.extended(s[0], signed)?,
            Rule::Truncate => line(s[0]),
            Rule::Compare { .. } => return None,
        };
        let (base, x, y) = line;
        Some(match bits {
            64 => Scalar::Affine { base, x, y },
            _ => Scalar::Affine { base: base as u32 as u64, x: x as i32 as i64, y: y as i32 as i64 },
        })
    }
}

fn line(s: Scalar) -> Line {
    match s {
        Scalar::Uniform(v) => (v, 0, 0),
        Scalar::Affine { base, x, y } => (base, x, y),
        Scalar::Rows => (0, 0, 0),
    }
}

fn sum(a: Line, b: Line) -> Line {
    (a.0.wrapping_add(b.0), a.1.wrapping_add(b.1), a.2.wrapping_add(b.2))
}

fn scaled((base, x, y): Line, by: u64) -> Line {
    (base.wrapping_mul(by), x.wrapping_mul(by as i64), y.wrapping_mul(by as i64))
}

fn product(a: Scalar, b: Scalar) -> Option<Line> {
    match (a, b) {
        (a, Scalar::Uniform(b)) => Some(scaled(line(a), b)),
        (Scalar::Uniform(a), b) => Some(scaled(line(b), a)),
        _ => None,
    }
}

impl Runner<'_, '_> {
    /// The kind of what [`Runner::set_line`] sets. `None` if it cannot.
    pub fn kind_of_line(&self, rule: Rule, s: [Scalar; 3], result: Register) -> Option<Kind> {
        if let Some(scalar) = rule.apply(self, s, self.registers.slot(result).bits) {
            return Some(scalar.kind());
        }
        let Rule::Compare { signed, .. } = rule else { return None };
        self.compares_threads(signed, s[0], s[1]).then_some(Kind::Rows)
    }

    /// Computes an affine result, or that of a comparison. False, with nothing done, if it is not of that kind.
    #[inline]
    pub fn set_line(&mut self, rule: Rule, s: [Scalar; 3], result: Register, kind: Kind) -> bool {
        if kind == Kind::Rows {
            return self.compare_rows(rule, s[0], s[1], result);
        }
        match rule.apply(self, s, self.registers.slot(result).bits) {
            Some(scalar) if scalar.kind() == kind => {
                self.set(Some(result), scalar);
                true
            }
            _ => false,
        }
    }

    /// A comparison of an affine value with a uniform one, if all threads of the CTA give the same.
    fn compared(&self, compare: Compare, signed: bool, s: [Scalar; 3]) -> Option<Scalar> {
        let (affine @ Scalar::Affine { .. }, Scalar::Uniform(with)) = (s[0], s[1]) else { return None };
        let (low, high) = self.range(affine, signed)?;
        let with = if signed { with as u32 as i32 as i64 } else { with as u32 as i64 };
        compare.of_range(low, high, with).map(|holds| Scalar::Uniform(holds.into()))
    }

    /// Does this comparison of `%tid.x`-like values with a uniform one hold in the lanes up to some thread?
    fn compares_threads(&self, signed: bool, a: Scalar, b: Scalar) -> bool {
        let affine = matches!((a, b), (Scalar::Affine { x: 1, .. }, Scalar::Uniform(_)));
        affine && self.registers.shape.1 == 1 && self.range(a, signed).is_some()
    }

    /// Such a comparison. False, with nothing done, if it is not of that kind.
    pub fn compare_rows(&mut self, rule: Rule, a: Scalar, b: Scalar, result: Register) -> bool {
        let Rule::Compare { compare, signed } = rule else { return false };
        let (Scalar::Affine { base, .. }, Scalar::Uniform(with)) = (a, b) else { return false };
        if !self.compares_threads(signed, a, b) {
            return false;
        }
        // the order of unsigned numbers, with the sign bit inverted for signed ones
        let flip = if signed { 1 << 31 } else { 0 };
        let (base, with) = (base as u32 ^ flip, with as u32 ^ flip);
        for k in 0..self.n {
            let first = base.wrapping_add(((self.lo + k) * 32) as u32);
            let mask = match compare {
                Compare::Lt => lanes::below(first, with),
                Compare::Ge => !lanes::below(first, with),
                Compare::Le => lanes::up_to(first, with),
                Compare::Gt => !lanes::up_to(first, with),
                Compare::Eq => just(first, with),
                Compare::Ne => !just(first, with),
            };
            self.registers.masks[self.registers.row(result, self.lo + k)].set(mask);
        }
        self.registers.set_scalar(self.lo, result, Scalar::Rows);
        true
    }

    /// A 32-bit value in 64 bits, if no lane wraps around.
    fn extended(&self, s: Scalar, signed: bool) -> Option<Line> {
        let (base, x, y) = line(s);
        self.range(s, signed)?;
        let base = if signed { base as u32 as i32 as i64 } else { base as u32 as i64 };
        Some((base as u64, i64::from(x as i32), i64::from(y as i32)))
    }

    /// The lowest and the highest value of a 32-bit value, if no lane wraps around.
    fn range(&self, s: Scalar, signed: bool) -> Option<(i64, i64)> {
        let (base, x, y) = line(s);
        let base = if signed { base as u32 as i32 as i64 } else { base as u32 as i64 };
        let (x, y) = (x as i32 as i64, y as i32 as i64);
        let (nx, ny) = self.registers.shape;
        let (dx, dy) = (x * i64::from(nx - 1), y * i64::from(ny - 1));
        let (low, high) = (base + dx.min(0) + dy.min(0), base + dx.max(0) + dy.max(0));
        let fits = if signed {
            low >= i32::MIN.into() && high <= i32::MAX.into()
        } else {
            low >= 0 && high <= u32::MAX.into()
        };
        fits.then_some((low, high))
    }
}
