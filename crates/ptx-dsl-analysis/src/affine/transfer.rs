//! Transfer functions of scalar operations on affine lanes.

use super::lattice::{Affine, UNIFORM, VARYING};
use super::scalar_op::{Op, ScalarOp};
use crate::uniformity::Uniformity;

/// The most conditions that one value may depend on.
const MOST_GUARDS: u8 = 4;

impl ScalarOp {
    /// The lanes of the result, from those of the sources and the sources that are constants.
    pub fn transfer(self, s: &[(Affine, Option<u64>)]) -> Affine {
        if s.iter().any(|(s, _)| !s.is_affine()) {
            return VARYING;
        }
        let period = least_period(s);
        let guards = s.iter().map(|(s, _)| s.guards).max().unwrap_or(0);
        let source = |n: usize| s.get(n).map_or(UNIFORM, |(s, _)| s.cut(period));
        let stride = |n: usize| source(n).stride;
        let known_align = |n: usize| source(n).known_align;
        let constant = |n: usize| s.get(n).and_then(|(_, c)| *c).map(|c| extend(c, self.bits, self.signed));
        if let Some(found) = self.bit_field(source(0), constant(1)) {
            return if found.guards > MOST_GUARDS { VARYING } else { found };
        }
        let product = || match (stride(0), stride(1), constant(0), constant(1)) {
            (0, 0, _, _) => Some(0),
            (a, 0, _, Some(c)) => a.checked_mul(c),
            (0, b, Some(c), _) => b.checked_mul(c),
            _ => None,
        };
        // A value becomes wider: it may wrap within a row before.
        let wraps = |n: usize| (stride(n) != 0 && !source(n).varies_within(known_align(n).min(31))) as u8;
        let found = match self.op {
            Op::Mov => Some((stride(0), 0)),
            Op::Add => Some((stride(0).wrapping_add(stride(1)), 0)),
            Op::Sub => Some((stride(0).wrapping_sub(stride(1)), 0)),
            Op::Mul => product().map(|s| (s, 0)),
            Op::Mad => product().map(|s| (s.wrapping_add(stride(2)), 0)),
            Op::Shl => match (stride(0), constant(1)) {
                (0, _) if stride(1) == 0 => Some((0, 0)),
                (a, Some(c @ 0..=31)) => Some((a << c, 0)),
                _ => None,
            },
            Op::Wide => product().map(|s| (s, if s == 0 { 0 } else { wraps(0).max(wraps(1)) })),
            Op::MadWide => {
                product().map(|s| (s.wrapping_add(stride(2)), if s == 0 { 0 } else { wraps(0).max(wraps(1)) }))
            }
            Op::Cvt if self.bits == 32 && self.to == 64 => Some((stride(0), wraps(0))),
            Op::Cvt if self.bits >= 32 && self.to >= 32 => Some((stride(0), 0)),
            // the rank takes the place of the bits above the offset
            Op::Mapa if stride(1) == 0 && source(0).varies_within(known_align(0).min(24)) => Some((stride(0), 0)),
            _ if constant_rows(s) => Some((0, 0)),
            _ => None,
        };
        let Some((stride, deeper)) = found else { return VARYING };
        let stride = extend(stride as u64, self.to.max(1), true);
        let guards = guards + deeper;
        if guards > MOST_GUARDS || (self.to == 1 && period != 32) || stride.unsigned_abs() >= 1 << 40 {
            return VARYING;
        }
        let known_align = match self.op {
            Op::Mov | Op::Cvt => known_align(0),
            Op::Mapa => known_align(0).min(24),
            Op::Add | Op::Sub | Op::Or | Op::Xor => known_align(0).min(known_align(1)),
            Op::Mul | Op::Wide => known_align(0) + known_align(1),
            Op::Mad | Op::MadWide => (known_align(0) + known_align(1)).min(known_align(2)),
            Op::Shl => known_align(0) + constant(1).map_or(0, |c| c.clamp(0, 63) as u32),
            Op::And => known_align(0).max(known_align(1)),
            _ => 0,
        };
        let uniformity = s.iter().map(|(s, _)| s.uniformity).min().unwrap_or(Uniformity::Cta);
        Affine { period, stride, guards, known_align: known_align.min(64), ..VARYING }.with_uniformity(uniformity)
    }

    /// `shr`, `and`, `div` or `rem` by a constant, of a value that varies in its lowest bits. Kernels find the warp and the lane of
    /// a thread in this way.
    fn bit_field(self, a: Affine, c: Option<i64>) -> Option<Affine> {
        let c = c.filter(|_| a.stride > 0 && matches!(self.bits, 32 | 64))?;
        let power = || u64::try_from(c).ok().filter(|c| c.is_power_of_two()).map(u64::trailing_zeros);
        // the number of low bits, and whether they are kept or dropped
        let (low, keeps) = match self.op {
            Op::Shr => (u32::try_from(c).ok().filter(|c| *c < self.bits)?, false),
            Op::Div => (power()?, false),
            Op::Rem => (power()?, true),
            Op::And if c > 0 && c & c.wrapping_add(1) == 0 => (c.trailing_ones(), true),
            Op::And => (c.trailing_zeros(), false),
            _ => return None,
        };
        if !keeps {
            return (a.guards == 0 && a.varies_within(low.min(a.known_align))).then_some(UNIFORM);
        }
        // the longest rows that the bits tell apart
        for period in [32, 16, 8] {
            let s = a.cut(period);
            if period <= a.period && a.guards == 0 && s.varies_within(low.min(s.known_align)) {
                // the first value of a row becomes 0
                return Some(if low <= s.known_align { Affine { known_align: 64, ..s } } else { s });
            }
        }
        // if no row wraps around what is kept
        let room = a.stride.checked_mul(i64::from(a.period - 1)).is_some_and(|last| low >= 63 || last < 1 << low);
        room.then(|| Affine { guards: a.guards + 1, known_align: a.known_align.min(low), ..a })
    }
}

/// The length of the shortest rows.
pub fn least_period(s: &[(Affine, Option<u64>)]) -> u32 {
    s.iter().map(|(s, _)| s.period).fold(32, u32::min)
}

/// Is every value constant within each row, without a condition?
pub fn constant_rows(s: &[(Affine, Option<u64>)]) -> bool {
    s.iter().all(|(s, _)| s.stride == 0 && s.guards == 0)
}

/// The number that the low `bits` of a constant mean.
fn extend(c: u64, bits: u32, signed: bool) -> i64 {
    let up = 64u32.saturating_sub(bits);
    if signed { ((c << up) as i64) >> up } else { ((c << up) >> up) as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(base: u32, s: Affine) -> Vec<u32> {
        (0..s.period).map(|l| base.wrapping_add(l.wrapping_mul(s.stride as u32))).collect()
    }

    /// Compares the transfer function of an operation with a constant with what the operation computes.
    #[test]
    fn bit_fields_of_rows_are_affine() {
        type Both = (Op, fn(u32, u32) -> u32);
        let ops: [Both; 4] = [
            (Op::Shr, |a, c| a.checked_shr(c).unwrap_or(0)),
            (Op::And, |a, c| a & c),
            (Op::Div, |a, c| a.checked_div(c).unwrap_or(u32::MAX)),
            (Op::Rem, |a, c| a.checked_rem(c).unwrap_or(u32::MAX)),
        ];
        let constants = (0..33).chain([48, 63, 64, 96, 0xff00, 0xffff_ffe0, 0xffff_fff0, 0x7fff_ffff, u32::MAX]);
        let (mut known, mut guarded) = (0, 0);
        for c in constants {
            for (op, f) in ops {
                for (period, stride, known_align) in [32, 16, 8]
                    .into_iter()
                    .flat_map(|p| [1, 2, 4, 12].map(move |s| (p, s)))
                    .flat_map(|(p, s)| [0, 3, 5, 7, 64].map(move |t| (p, s, t)))
                {
                    let a = Affine { period, stride, known_align, ..VARYING }.with_uniformity(Uniformity::Warp);
                    let scalar_op = ScalarOp { op, bits: 32, signed: false, to: 32 };
                    let found = scalar_op.transfer(&[(a, None), (Affine::constant(c.into()), Some(c.into()))]);
                    if !found.is_affine() {
                        continue;
                    }
                    known += 1;
                    let step = 1u32.checked_shl(known_align).unwrap_or(0);
                    for base in [0, 1, 2, 5, 31, 1000, u32::MAX].map(|n: u32| n.wrapping_mul(step)) {
                        let values: Vec<u32> = lanes(base, a).into_iter().map(|v| f(v, c)).collect();
                        for row in values.chunks(found.period as usize) {
                            // the condition that is evaluated at run time: the low bits do not wrap within the row
                            let last = (stride * (i64::from(period) - 1)) as u32;
                            let mask = if op == Op::Rem { c.wrapping_sub(1) } else { c };
                            if found.guards > 0 && row[0] > mask.wrapping_sub(last) {
                                guarded += 1;
                                continue;
                            }
                            assert_eq!(
                                row,
                                &lanes(row[0], found)[..row.len()],
                                "{op:?} {c:#x} of {a:?} at {base:#x}: {found:?}"
                            );
                            let multiple = row[0] == 0 || row[0].trailing_zeros() >= found.known_align;
                            assert!(multiple, "{op:?} {c:#x} of {a:?} at {base:#x}: {found:?}");
                        }
                    }
                }
            }
        }
        assert!(known > 100 && guarded > 100, "{known} {guarded}");
    }

    #[test]
    fn conversions_of_multiples_do_not_wrap() {
        let wide = ScalarOp { op: Op::Cvt, bits: 32, signed: false, to: 64 };
        let guard = |stride, known_align| {
            wide.transfer(&[(
                Affine { period: 32, stride, known_align, ..VARYING }.with_uniformity(Uniformity::Warp),
                None,
            )])
            .guards
        };
        assert_eq!([guard(1, 5), guard(1, 4), guard(4, 7), guard(4, 6), guard(-1, 5), guard(0, 0)], [0, 1, 0, 1, 1, 0]);
    }
}
