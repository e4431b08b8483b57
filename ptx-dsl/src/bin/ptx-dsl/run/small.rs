//! Elements of less than 16 bits that no PTX type has alone: fp8, fp6, fp4, and scales.

/// A format of eight bits or fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Small {
    /// Four bits of exponent, three of mantissa, no infinity.
    E4m3,
    /// As `.f16` without the last eight bits.
    E5m2,
    /// Of six bits, in the low bits of a byte.
    E2m3,
    /// Of six bits, in the low bits of a byte.
    E3m2,
    /// Of four bits, two in a byte, the first one in the low bits.
    E2m1,
    /// A power of two.
    Ue8m0,
}

use Small::{E2m1, E2m3, E3m2, E4m3, E5m2, Ue8m0};

impl Small {
    const ALL: [Small; 6] = [E4m3, E5m2, E2m3, E3m2, E2m1, Ue8m0];

    pub fn from_name(name: &str) -> Option<Self> {
        Small::ALL.into_iter().find(|small| small.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            E4m3 => "e4m3",
            E5m2 => "e5m2",
            E2m3 => "e2m3",
            E3m2 => "e3m2",
            E2m1 => "e2m1",
            Ue8m0 => "ue8m0",
        }
    }

    /// The bits that an element takes in memory.
    pub fn bits(self) -> u32 {
        if self == E2m1 { 4 } else { 8 }
    }

    /// Bits of the exponent and of the mantissa.
    fn fields(self) -> (u32, u32) {
        match self {
            E4m3 => (4, 3),
            E5m2 => (5, 2),
            E2m3 => (2, 3),
            E3m2 => (3, 2),
            E2m1 => (2, 1),
            Ue8m0 => (8, 0),
        }
    }

    /// The number that a code stands for.
    pub fn decode(self, code: u8) -> f64 {
        let (exponent, mantissa) = self.fields();
        if self == Ue8m0 {
            return if code == 0xff { f64::NAN } else { 2f64.powi(i32::from(code) - 127) };
        }
        let bias = (1 << (exponent - 1)) - 1;
        let e = i32::from(code >> mantissa) & ((1 << exponent) - 1);
        let m = f64::from(code & ((1 << mantissa) - 1));
        let one = f64::from(1 << mantissa);
        let size = match (self, e, code & 0x7f) {
            (E4m3, _, 0x7f) => f64::NAN,
            (E5m2, 31, _) if m == 0.0 => f64::INFINITY,
            (E5m2, 31, _) => f64::NAN,
            (_, 0, _) => m / one * 2f64.powi(1 - bias),
            _ => (1.0 + m / one) * 2f64.powi(e - bias),
        };
        if code >> (exponent + mantissa) & 1 == 1 { -size } else { size }
    }

    /// The code of the nearest number; of two, the one with an even code. Numbers that are too large become the largest, as with
    /// `.satfinite`, and a 0 that the format lacks becomes the smallest. `None` if there is no NaN, no infinity, or no such sign.
    pub fn encode(self, value: f64) -> Option<u8> {
        let codes = 0..=(u8::MAX >> if self == Ue8m0 { 0 } else { 8 - 1 - self.fields().0 - self.fields().1 });
        if value.is_nan() {
            return codes
                .into_iter()
                .find(|code| self.decode(*code).is_nan())
                .map(|code| if self == E5m2 { 0x7f } else { code });
        }
        if value.is_infinite() || self == Ue8m0 && value < 0.0 {
            return codes.into_iter().find(|code| self.decode(*code) == value);
        }
        let distance = |code: &u8| (self.decode(*code) - value).abs();
        let is_same_sign = |code: &u8| self.decode(*code).is_sign_negative() == value.is_sign_negative();
        let finite = codes.into_iter().filter(|code| self.decode(*code).is_finite()).filter(is_same_sign);
        finite.min_by(|a, b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from the tables of the OCP formats.
    #[test]
    fn known_values() {
        for (small, code, value) in [
            (E4m3, 0x38, 1.0),
            (E4m3, 0x7e, 448.0),
            (E4m3, 0x01, 0.001953125),
            (E4m3, 0xc0, -2.0),
            (E5m2, 0x3c, 1.0),
            (E5m2, 0x7b, 57344.0),
            (E5m2, 0x7c, f64::INFINITY),
            (E5m2, 0x01, 0.0000152587890625),
            (E2m3, 0x08, 1.0),
            (E2m3, 0x1f, 7.5),
            (E2m3, 0x21, -0.125),
            (E3m2, 0x0c, 1.0),
            (E3m2, 0x1f, 28.0),
            (E3m2, 0x01, 0.0625),
            (E2m1, 0x02, 1.0),
            (E2m1, 0x07, 6.0),
            (E2m1, 0x09, -0.5),
            (Ue8m0, 0x7f, 1.0),
            (Ue8m0, 0x80, 2.0),
            (Ue8m0, 0x7e, 0.5),
        ] {
            assert_eq!(small.decode(code), value, "{small:?} {code:#x}");
            assert_eq!(small.encode(value), Some(code), "{small:?} {value}");
        }
        assert!(E4m3.decode(0x7f).is_nan() && Ue8m0.decode(0xff).is_nan() && E5m2.decode(0x7e).is_nan());
    }

    #[test]
    fn rounding() {
        for (small, value, code) in [
            // half way between 1.0 and 1.125, and between 1.125 and 1.25
            (E4m3, 1.0625, Some(0x38)),
            (E4m3, 1.1875, Some(0x3a)),
            (E4m3, 1e9, Some(0x7e)),
            (E4m3, -1e9, Some(0xfe)),
            (E4m3, -0.0, Some(0x80)),
            (E4m3, f64::NAN, Some(0x7f)),
            (E4m3, f64::INFINITY, None),
            (E5m2, 1e9, Some(0x7b)),
            (E5m2, f64::NEG_INFINITY, Some(0xfc)),
            (E5m2, f64::NAN, Some(0x7f)),
            (E2m1, 100.0, Some(7)),
            (E2m1, 2.5, Some(4)),
            (E2m1, f64::NAN, None),
            (Ue8m0, 0.0, Some(0)),
            (Ue8m0, -1.0, None),
            (Ue8m0, 3.1, Some(0x81)),
            (Ue8m0, f64::NAN, Some(0xff)),
        ] {
            assert_eq!(small.encode(value), code, "{small:?} {value}");
        }
    }
}
