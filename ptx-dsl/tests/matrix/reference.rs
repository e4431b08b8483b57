//! Products in plain Rust, from the manual's figures of fragments and the model of tensor cores.

use super::inputs::Ty;

/// The value of an element of at most 16 bits. Finite.
pub fn value(ty: Ty, bits: u32) -> f64 {
    let (mantissa, exponent, bits) = match ty {
        Ty::F16 => (10, 5, bits & 0xffff),
        Ty::E4m3 => (3, 4, bits & 0xff),
        Ty::E5m2 => (2, 5, bits & 0xff),
        Ty::E3m2 => (2, 3, bits & 0x3f),
        Ty::E2m3 => (3, 2, bits & 0x3f),
        Ty::E2m1 => (1, 2, bits >> 2 & 15),
        Ty::E2m1Packed => (1, 2, bits & 15),
        Ty::Ue8m0 => return 2f64.powi(bits as i32 - 127),
        Ty::Ue4m3 => (3, 4, bits & 0x7f),
        Ty::F32 => return f32::from_bits(bits).into(),
        _ => panic!("{ty:?}"),
    };
    let bias = (1 << (exponent - 1)) - 1;
    let field = (bits >> mantissa & ((1 << exponent) - 1)) as i32;
    let fraction = f64::from(bits & ((1 << mantissa) - 1)) / f64::from(1 << mantissa);
    let sign = if bits >> (mantissa + exponent) & 1 != 0 { -1.0 } else { 1.0 };
    sign * if field == 0 { fraction * 2f64.powi(1 - bias) } else { (1.0 + fraction) * 2f64.powi(field - bias) }
}

/// The exponent as the type stores it.
pub fn exponent(ty: Ty, value: f64) -> i32 {
    let least = match ty {
        Ty::F16 | Ty::E5m2 => -14,
        Ty::E4m3 | Ty::Ue4m3 => -6,
        Ty::E3m2 => -2,
        Ty::E2m3 | Ty::E2m1 | Ty::E2m1Packed => 0,
        _ => -126,
    };
    if value == 0.0 { -10_000 } else { (value.abs().log2().floor() as i32).max(least) }
}

/// What a sum becomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum To {
    /// f32 with this many fraction bits, towards zero.
    F32(u32),
    /// f16, to nearest even.
    F16,
}

/// Terms (value, exponent) and C, each cut to `fraction` bits below the greatest exponent, added, and rounded. Bits of the result,
/// which is zero or a normal number.
pub fn fused(terms: &[(f64, i32)], c: (f64, i32), fraction: i32, to: To) -> u32 {
    let all = || terms.iter().chain([&c]);
    let top = all().map(|t| t.1).max().unwrap();
    let sum: f64 = all().map(|t| (t.0 * 2f64.powi(fraction - top)).trunc()).sum::<f64>() * 2f64.powi(top - fraction);
    let bits = sum.to_bits();
    match to {
        To::F32(kept) => (f64::from_bits(bits & (u64::MAX << (52 - kept))) as f32).to_bits(),
        To::F16 => {
            // the least f16 that is not less, 0x7c00 as 2^16, or the one before it
            let value = |x: u32| if x == 0x7c00 { 65536.0 } else { value(Ty::F16, x) };
            let (mut low, mut high) = (0u32, 0x7c00);
            while low < high {
                let middle = (low + high) / 2;
                if value(middle) < sum.abs() { low = middle + 1 } else { high = middle }
            }
            let before = high.saturating_sub(1);
            let (below, above) = (sum.abs() - value(before), value(high) - sum.abs());
            let nearest = if below < above || below == above && high % 2 == 1 { before } else { high };
            nearest | if sum < 0.0 { 0x8000 } else { 0 }
        }
    }
}

/// Row and k of element `i` of A in a lane; `per` elements in a register, 16 rows.
pub fn of_a(lane: usize, i: usize, per: usize) -> (usize, usize) {
    let (register, within) = (i / per, i % per);
    (
        lane / 4 + if register % 2 == 1 { 8 } else { 0 },
        lane % 4 * per + within + if register >= 2 { 4 * per } else { 0 },
    )
}

/// k and column of element `i` of B.
pub fn of_b(lane: usize, i: usize, per: usize) -> (usize, usize) {
    (lane % 4 * per + i % per + i / per * 4 * per, lane / 4)
}

/// Row and column of element `i` of C.
pub fn of_c(lane: usize, i: usize) -> (usize, usize) {
    (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2)
}
