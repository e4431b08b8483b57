//! Conversions with 8-, 6- and 4-bit floats (PTX ISA 9.7.9.22): spellings and meanings. Rounding looks for the nearest of all
//! values of the type.

use super::program::Class::{F, H, R};
use super::program::{Row, Target, row};
use std::cmp::Ordering;

/// A type of floats: the numbers of exponent and fraction bits.
#[derive(Clone, Copy)]
struct Format {
    exponent: u32,
    fraction: u32,
    /// Codes of magnitudes from this one on are no finite numbers.
    end: u32,
    /// The code that a NaN becomes.
    nan: u32,
}

const E4M3: Format = Format { exponent: 4, fraction: 3, end: 0x7F, nan: 0x7F };
const E5M2: Format = Format { exponent: 5, fraction: 2, end: 0x7C, nan: 0x7F };
const E2M3: Format = Format { exponent: 2, fraction: 3, end: 0x20, nan: 0x1F };
const E3M2: Format = Format { exponent: 3, fraction: 2, end: 0x20, nan: 0x1F };
const E2M1: Format = Format { exponent: 2, fraction: 1, end: 8, nan: 7 };

impl Format {
    /// The finite number of a magnitude's code.
    fn value(self, code: u32) -> f64 {
        let bias = (1 << (self.exponent - 1)) - 1;
        let (exponent, fraction) = (code >> self.fraction, f64::from(code & ((1 << self.fraction) - 1)));
        let part = fraction / f64::from(1 << self.fraction);
        match exponent {
            0 => part * 2f64.powi(1 - bias),
            _ => (1.0 + part) * 2f64.powi(exponent as i32 - bias),
        }
    }

    /// To nearest, ties to the even code; at most the greatest finite number.
    fn rounded(self, x: f32, relu: bool) -> u32 {
        if x.is_nan() {
            return self.nan;
        }
        if relu && x.is_sign_negative() {
            return 0;
        }
        let magnitude = f64::from(x.abs()).min(self.value(self.end - 1));
        let distance = |code: u32| (self.value(code) - magnitude).abs();
        let nearest = |a: u32, b: u32| match distance(a).total_cmp(&distance(b)) {
            Ordering::Less => a,
            Ordering::Greater => b,
            // neighbours: one of them is even
            Ordering::Equal => {
                if a & 1 == 0 {
                    a
                } else {
                    b
                }
            }
        };
        let code = (0..self.end).reduce(nearest).unwrap_or(0);
        u32::from(x.is_sign_negative()) << (self.exponent + self.fraction) | code
    }

    /// The number as f16.
    fn half(self, code: u32) -> u64 {
        let sign = u64::from(code >> (self.exponent + self.fraction) & 1) << 15;
        let magnitude = code & ((1 << (self.exponent + self.fraction)) - 1);
        match magnitude {
            0x7C if self.end == E5M2.end => sign | 0x7C00,
            m if m >= self.end => 0x7FFF,
            _ => sign | half(self.value(magnitude)),
        }
    }
}

/// A number that f16 has.
fn half(x: f64) -> u64 {
    if x < 2f64.powi(-14) {
        return (x * 2f64.powi(24)) as u64;
    }
    let exponent = x.log2().floor() as i32;
    (((exponent + 15) as u64) << 10) | ((x / 2f64.powi(exponent) - 1.0) * 1024.0) as u64
}

fn f(a: u64) -> f32 {
    f32::from_bits(a as u32)
}

/// Two numbers, the first in the upper byte.
fn pair(format: Format, a: &[u64], relu: bool) -> u64 {
    u64::from(format.rounded(f(a[0]), relu) << 8 | format.rounded(f(a[1]), relu))
}

/// Two codes of so many bits, `step` bits apart, as two f16.
fn halves(format: Format, a: u64, step: u32) -> u64 {
    let code = |i: u32| (a >> (i * step)) as u32 & ((1 << (format.exponent + format.fraction + 1)) - 1);
    format.half(code(1)) << 16 | format.half(code(0))
}

/// The number as bf16: a power of two, or NaN.
fn power(code: u64) -> u64 {
    match code & 0xFF {
        0 => 0x40,
        0xFF => 0x7FFF,
        code => code << 7,
    }
}

const fn late(text: &'static str, classes: &'static [super::program::Class], meaning: fn(&[u64]) -> u64) -> Row {
    Row { since: Target::Blackwell, ..row(text, classes, meaning) }
}

pub const ROWS: &[Row] = &[
    row("cvt.rn.satfinite.e4m3x2.f32 $, $, $;", &[H, F, F], |a| pair(E4M3, a, false)),
    row("cvt.rn.satfinite.relu.e4m3x2.f32 $, $, $;", &[H, F, F], |a| pair(E4M3, a, true)),
    row("cvt.rn.satfinite.e5m2x2.f32 $, $, $;", &[H, F, F], |a| pair(E5M2, a, false)),
    row("mov.b16 %n, $1; cvt.rn.f16x2.e4m3x2 $0, %n;", &[R, H], |a| halves(E4M3, a[0], 8)),
    row("mov.b16 %n, $1; cvt.rn.f16x2.e5m2x2 $0, %n;", &[R, H], |a| halves(E5M2, a[0], 8)),
    late("cvt.rn.satfinite.e2m3x2.f32 $, $, $;", &[H, F, F], |a| pair(E2M3, a, false)),
    late("cvt.rn.satfinite.e3m2x2.f32 $, $, $;", &[H, F, F], |a| pair(E3M2, a, false)),
    late("and.b16 %n, $1, 0x3F3F; cvt.rn.f16x2.e2m3x2 $0, %n;", &[R, H], |a| halves(E2M3, a[0], 8)),
    late("and.b16 %n, $1, 0x3F3F; cvt.rn.f16x2.e3m2x2 $0, %n;", &[R, H], |a| halves(E3M2, a[0], 8)),
    late("cvt.rn.satfinite.e2m1x2.f32 %y, $1, $2; mov.b16 $0, {%y, %y};", &[H, F, F], |a| {
        let byte = u64::from(E2M1.rounded(f(a[0]), false) << 4 | E2M1.rounded(f(a[1]), false));
        byte << 8 | byte
    }),
    late("mov.b16 {%y, _}, $1; cvt.rn.f16x2.e2m1x2 $0, %y;", &[R, H], |a| halves(E2M1, a[0], 4)),
    late("mov.b16 %n, $1; cvt.rn.bf16x2.ue8m0x2 $0, %n;", &[R, H], |a| power(a[0] >> 8) << 16 | power(a[0])),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the tables of OCP's formats.
    #[test]
    fn values() {
        let cases = [(E4M3, 448.0, 0x7E), (E5M2, 57344.0, 0x7B), (E2M3, 7.5, 0x1F), (E3M2, 28.0, 0x1F), (E2M1, 6.0, 7)];
        for (format, greatest, code) in cases {
            assert_eq!(format.value(code), greatest);
            assert_eq!(format.rounded(1e30, false), code);
            for code in 0..format.end {
                assert_eq!(format.rounded(format.value(code) as f32, false), code);
            }
        }
        assert_eq!(E2M1.rounded(-2.5, false), 8 | 4, "a tie goes to 2");
        assert_eq!(E2M1.rounded(3.5, false), 6, "a tie goes to 4");
        assert_eq!(half(1.5), 0x3E00);
        assert_eq!(half(2f64.powi(-16)), 0x100);
    }
}
