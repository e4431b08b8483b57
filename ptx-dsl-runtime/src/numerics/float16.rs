//! `f16` and `bf16` to and from binary32: exact widening, and rounding to nearest even without branches.
//!
//! All other roundings of these formats are in [`soft`](crate::numerics::arith::soft).

use crate::numerics::qual::Ty;

/// 2^112: the difference between the exponent biases of f32 and f16, as a factor.
const REBIAS: f32 = f32::from_bits((127 + 112) << 23);

/// f16 to f32. Multiplying by 2^112 corrects the exponent and normalises subnormals.
#[inline(always)]
pub(crate) const fn f16_to_f32(x: u16) -> f32 {
    f16_to_f32_scaled(x as u32, REBIAS)
}

/// The f16 in the low half of a word, as f32 times `factor` / 2^112. The factor is a power of two, from 2^97 to 2^112.
#[inline(always)]
pub(crate) const fn f16_to_f32_scaled(x: u32, factor: f32) -> f32 {
    let magnitude = (x & 0x7fff) << 13;
    let finite = f32::from_bits(magnitude) * factor;
    let special = if magnitude as i32 >= 0x7c00 << 13 { 0x7f80_0000 } else { 0 };
    f32::from_bits(finite.to_bits() | special | (x & 0x8000) << 16)
}

/// The factor of [`f16_to_f32_scaled`] that multiplies by `scale`.
pub(crate) const fn rebias(scale: f32) -> f32 {
    REBIAS * scale
}

/// f32 to f16, to nearest even. A NaN becomes 0x7fff and keeps its sign.
///
/// Adding and subtracting 2^13 times the power of two of a number leaves the 11 significant bits of an f16; the power is at
/// least that of subnormals. Numbers from 2^16 on count as 2^16, whose rebiased pattern is that of infinity.
#[inline(always)]
pub(crate) const fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let magnitude = f32::from_bits(bits & 0x7fff_ffff);
    let nan = if x.is_nan() { 0x3ff } else { 0 };
    // false for a NaN, which gets the exponent of infinity
    let capped = if magnitude < 65536.0 { magnitude } else { 65536.0 };
    let power = f32::from_bits(capped.to_bits() & 0x7f80_0000);
    let power = if power > 1.0 / 16384.0 { power } else { 1.0 / 16384.0 };
    let rounder = power * 8192.0;
    let rounded = (capped + rounder) - rounder;
    let scaled = rounded * f32::from_bits((127 - 112) << 23);
    (scaled.to_bits() >> 13 | nan | bits >> 16 & 0x8000) as u16
}

/// bf16 to f32.
#[inline(always)]
pub(crate) const fn bf16_to_f32(x: u16) -> f32 {
    f32::from_bits((x as u32) << 16)
}

/// f32 to bf16, to nearest even. A NaN becomes 0x7fff and keeps its sign.
#[inline(always)]
pub(crate) const fn f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    if x.is_nan() {
        return (bits >> 16) as u16 | 0x7fff;
    }
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// The f16 or bf16 of type `ty` (a packed type: its low element) as f64.
#[inline(always)]
pub(crate) fn to_f64(ty: Ty, x: u64) -> f64 {
    f64::from(match ty {
        Ty::Bf16 | Ty::Bf16x2 => bf16_to_f32(x as u16),
        _ => f16_to_f32(x as u16),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::arith::half::narrow;
    use crate::numerics::arith::soft::{BF16, F16, Round};
    use half::{bf16, f16};

    /// Equal bits, or both NaN.
    fn same(ours: f32, theirs: f32) -> bool {
        ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan()
    }

    #[test]
    fn every_pattern_widens_exactly() {
        for x in 0..=u16::MAX {
            assert!(same(f16_to_f32(x), f16::from_bits(x).to_f32()), "{x:#x}");
            assert!(same(bf16_to_f32(x), bf16::from_bits(x).to_f32()), "{x:#x}");
            let wide = [to_f64(Ty::F16, x.into()), to_f64(Ty::Bf16, x.into())];
            let theirs = [f16::from_bits(x).to_f64(), bf16::from_bits(x).to_f64()];
            for (ours, theirs) in wide.into_iter().zip(theirs) {
                assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan(), "{x:#x}");
            }
        }
    }

    /// Compares both conversions of this file with the exact conversions from f64.
    fn check(x: f32) {
        for (name, ours, exact, theirs) in [
            ("f16", f32_to_f16(x), narrow(F16, x.into(), Round::Near), f16::from_f32(x).to_bits()),
            ("bf16", f32_to_bf16(x), narrow(BF16, x.into(), Round::Near), bf16::from_f32(x).to_bits()),
        ] {
            let nan = x.is_nan() && ours & 0x7fff == 0x7fff && exact == 0x7fff;
            assert!(nan || ours == theirs && exact == theirs.into(), "{name} {x:e}: {ours:#x} {exact:#x} {theirs:#x}");
        }
    }

    #[test]
    fn narrowing_rounds_to_nearest_even() {
        // all values of both formats, the midpoints between them, and their neighbours
        for widen in [f16_to_f32, bf16_to_f32] {
            for x in 0..0x7f80u16 {
                let (low, high) = (widen(x), widen(x + 1));
                let middle = low + (high - low) / 2.0;
                for x in [low, low.next_up(), middle.next_down(), middle, middle.next_up(), high.next_down()] {
                    check(x);
                    check(-x);
                }
            }
        }
        for x in [f32::MAX, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-45, 65519.99, 65520.0, 65535.99, 65536.0] {
            check(x);
            check(-x);
        }
        // a stride that is odd reaches patterns of all kinds
        for i in 0..1u32 << 22 {
            check(f32::from_bits(i.wrapping_mul(0x9e37_79b1)));
        }
    }
}
