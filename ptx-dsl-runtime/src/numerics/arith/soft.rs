//! Software floating point: exact values of sign, 128-bit mantissa and exponent, rounded once. Used for formats and rounding
//! modes that the host processor does not have.

use crate::numerics::qual::{Q, q};

/// A rounding mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// `.rn`: nearest, ties to even.
    Near,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards minus infinity.
    Down,
    /// `.rp`: towards plus infinity.
    Up,
    /// `.rna`: nearest, ties away from zero.
    Away,
    /// `.rs`: away from zero if the sum of the bits that are dropped and of random bits has a carry.
    Random {
        /// The random bits, which lie at the top of those that are dropped.
        bits: u32,
        /// The number of random bits.
        width: i32,
    },
}

impl Round {
    /// The rounding mode that the qualifiers name; `.rn` by default.
    #[inline(always)]
    pub const fn of(q: Q) -> Round {
        if q.has(q::rz) || q.has(q::rzi) {
            Round::Zero
        } else if q.has(q::rm) || q.has(q::rmi) {
            Round::Down
        } else if q.has(q::rp) || q.has(q::rpi) {
            Round::Up
        } else if q.has(q::rna) {
            Round::Away
        } else {
            Round::Near
        }
    }
}

/// A binary format.
#[derive(Debug, Clone, Copy)]
pub struct FloatFormat {
    /// Bits of the mantissa that are stored.
    pub mant: u32,
    /// Bits of the exponent.
    pub exp: u32,
    /// The exponent bias.
    pub bias: i32,
    /// The largest finite magnitude, as bits.
    pub max: u64,
    /// The result of an overflow, as bits.
    pub inf: u64,
    /// The canonical NaN.
    pub nan: u64,
}

const fn ieee(mant: u32, exp: u32, nan: u64) -> FloatFormat {
    let inf = ((1 << exp) - 1) << mant;
    FloatFormat { mant, exp, bias: (1 << (exp - 1)) - 1, max: inf - 1, inf, nan }
}

/// Formats without infinities: everything up to `max` is finite.
const fn finite(mant: u32, exp: u32, max: u64, nan: u64) -> FloatFormat {
    FloatFormat { mant, exp, bias: (1 << (exp - 1)) - 1, max, inf: nan, nan }
}

/// `.f16`
pub const F16: FloatFormat = ieee(10, 5, 0x7fff);
/// `.bf16`
pub const BF16: FloatFormat = ieee(7, 8, 0x7fff);
/// `.tf32`, without its 13 low bits.
pub const TF32: FloatFormat = ieee(10, 8, 0x3ffff);
/// `.f32`
pub const F32: FloatFormat = ieee(23, 8, 0x7fff_ffff);
/// `.f64`
pub const F64: FloatFormat = ieee(52, 11, 0xfff8_0000_0000_0000);
/// `.e5m2`
pub const E5M2: FloatFormat = ieee(2, 5, 0x7f);
/// `.e4m3`: no infinities.
pub const E4M3: FloatFormat = finite(3, 4, 0x7e, 0x7f);
/// `.ue5m3`: no sign, no infinity.
pub const UE5M3: FloatFormat = finite(3, 5, 0xfe, 0xff);
/// `.e2m1`: no infinities, no NaN (it becomes the largest).
pub const E2M1: FloatFormat = finite(1, 2, 7, 7);
/// `.e2m3`, as `.e2m1`.
pub const E2M3: FloatFormat = finite(3, 2, 0x1f, 0x1f);
/// `.e3m2`, as `.e2m1`.
pub const E3M2: FloatFormat = finite(2, 3, 0x1f, 0x1f);

/// A number, exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Num {
    /// A NaN.
    Nan,
    /// Infinity, negative if true.
    Inf(bool),
    /// Zero, negative if true.
    Zero(bool),
    /// `(-1)^neg * m * 2^e`, m not zero. Bit 0 of m may stand for "and something below".
    Fin(bool, u128, i32),
}

impl Num {
    /// Is the sign bit set?
    pub fn is_neg(self) -> bool {
        matches!(self, Num::Inf(true) | Num::Zero(true) | Num::Fin(true, ..))
    }

    /// The number with its sign inverted.
    pub fn negated(self) -> Num {
        match self {
            Num::Nan => Num::Nan,
            Num::Inf(s) => Num::Inf(!s),
            Num::Zero(s) => Num::Zero(!s),
            Num::Fin(s, m, e) => Num::Fin(!s, m, e),
        }
    }

    /// A `.ue8m0` in the low bits: 2^(x-127), 255 is NaN.
    pub const fn ue8m0(x: u64) -> Num {
        match x & 0xff {
            0xff => Num::Nan,
            e => Num::Fin(false, 1, e as i32 - 127),
        }
    }

    /// An integer.
    pub fn int(v: i128) -> Num {
        if v == 0 { Num::Zero(false) } else { Num::Fin(v < 0, v.unsigned_abs(), 0) }
    }

    /// The value as f64; only for values that f64 holds.
    pub fn to_f64(self) -> f64 {
        f64::from_bits(F64.encode(self, Round::Near, false))
    }
}

impl FloatFormat {
    /// The sign bit.
    #[inline(always)]
    pub const fn sign(self) -> u64 {
        1 << (self.mant + self.exp)
    }

    /// Does `.ftz` flush it? It is then below the least normal number even if rounded with an unbounded exponent.
    pub const fn is_tiny(self, v: Num, mode: Round) -> bool {
        let Num::Fin(neg, m, e) = v else { return false };
        let lead = e + 127 - m.leading_zeros() as i32;
        let least = 1 - self.bias;
        lead < least - 1
            || lead == least - 1 && round_shift(neg, m, lead - self.mant as i32 - e, mode) >> (self.mant + 1) == 0
    }

    /// Whether the pattern is a NaN.
    #[inline(always)]
    pub const fn is_nan(self, bits: u64) -> bool {
        let mag = bits & (self.sign() - 1);
        mag > self.max && (mag > self.inf || self.inf == self.nan)
    }

    /// Whether the pattern is a subnormal number: between zero and the smallest normal number.
    #[inline(always)]
    pub const fn is_subnormal(self, bits: u64) -> bool {
        let mag = bits & (self.sign() - 1);
        mag != 0 && mag >> self.mant == 0
    }

    /// Whether the number is subnormal in this format.
    pub const fn is_subnormal_value(self, v: Num) -> bool {
        matches!(v, Num::Fin(_, m, e) if e + 127 - (m.leading_zeros() as i32) < 1 - self.bias)
    }

    /// Decodes bits.
    #[inline]
    pub const fn decode(self, bits: u64) -> Num {
        let neg = bits & self.sign() != 0;
        let mag = bits & (self.sign() - 1);
        if mag > self.max {
            return if self.is_nan(bits) { Num::Nan } else { Num::Inf(neg) };
        }
        if mag == 0 {
            return Num::Zero(neg);
        }
        let exp = (mag >> self.mant) as i32;
        let frac = mag & ((1 << self.mant) - 1);
        if exp == 0 {
            Num::Fin(neg, frac as u128, 1 - self.bias - self.mant as i32)
        } else {
            Num::Fin(neg, (frac | 1 << self.mant) as u128, exp - self.bias - self.mant as i32)
        }
    }

    /// The bits of a number, rounded once. `satfinite` turns infinities and overflow into the largest number.
    #[inline]
    pub const fn encode(self, v: Num, mode: Round, satfinite: bool) -> u64 {
        let (neg, m, e) = match v {
            Num::Nan => return self.nan,
            Num::Zero(neg) => return if neg { self.sign() } else { 0 },
            Num::Inf(neg) => {
                let mag = if satfinite { self.max } else { self.inf };
                return mag | if neg { self.sign() } else { 0 };
            }
            Num::Fin(neg, m, e) => (neg, m, e),
        };
        let sign = if neg { self.sign() } else { 0 };
        let lead = e + 127 - m.leading_zeros() as i32;
        let least = 1 - self.bias;
        let place = if lead > least { lead } else { least };
        if place + self.bias < 1 << self.exp {
            let kept = round_shift(neg, m, place - self.mant as i32 - e, mode) as u64;
            let mag = if lead >= least {
                // a carry out of the mantissa increments the exponent, as it should
                (((lead + self.bias) as u64 - 1) << self.mant) + kept
            } else {
                kept
            };
            if mag <= self.max {
                return mag | sign;
            }
        }
        let to_max = match mode {
            Round::Near | Round::Away | Round::Random { .. } => false,
            Round::Zero => true,
            Round::Down => !neg,
            Round::Up => neg,
        };
        sign | if to_max || satfinite { self.max } else { self.inf }
    }
}

/// `m / 2^shift`, rounded to an integer. Left shifts must fit.
pub const fn round_shift(neg: bool, m: u128, shift: i32, mode: Round) -> u128 {
    if shift <= 0 {
        return m << ((-shift) as u32 & 127);
    }
    let (kept, rest, half) = if shift > 127 {
        // from a shift of 128 on the remainder is below one half
        if shift == 128 { (0, m, 1 << 127) } else { (0, 1, 2) }
    } else {
        (m >> shift, m & ((1 << shift) - 1), 1u128 << (shift - 1))
    };
    let up = match mode {
        Round::Near => rest > half || rest == half && kept & 1 != 0,
        Round::Away => rest >= half,
        Round::Zero => false,
        Round::Down => neg && rest != 0,
        Round::Up => !neg && rest != 0,
        Round::Random { bits, width } if shift <= 96 => {
            let bits = bits as u128;
            let aligned = if shift > width { bits << (shift - width) } else { bits >> (width - shift) };
            (rest + aligned) >> shift != 0
        }
        // the number is far below the random bits
        Round::Random { .. } => false,
    };
    kept + up as u128
}

/// The leading bit to bit 125. Operands have at most 106 bits, so nothing is lost.
fn normal(m: u128, e: i32) -> (u128, i32) {
    let up = m.leading_zeros() as i32 - 2;
    if up >= 0 { (m << up, e - up) } else { (m >> -up | (m & 3 != 0) as u128, e - up) }
}

/// `a + b`, exact up to a sticky lowest bit. The mode decides the sign of an exact zero.
pub fn add(a: Num, b: Num, mode: Round) -> Num {
    match (a, b) {
        (Num::Nan, _) | (_, Num::Nan) => Num::Nan,
        (Num::Inf(s), Num::Inf(t)) => {
            if s == t {
                a
            } else {
                Num::Nan
            }
        }
        (Num::Inf(_), _) => a,
        (_, Num::Inf(_)) => b,
        (Num::Zero(s), Num::Zero(t)) => Num::Zero(if s == t { s } else { mode == Round::Down }),
        (Num::Zero(_), _) => b,
        (_, Num::Zero(_)) => a,
        (Num::Fin(sa, ma, ea), Num::Fin(sb, mb, eb)) => {
            let (ma, ea) = normal(ma, ea);
            let (mb, eb) = normal(mb, eb);
            let (big, small, gap) =
                if (ea, ma) >= (eb, mb) { ((sa, ma), (sb, mb), ea - eb) } else { ((sb, mb), (sa, ma), eb - ea) };
            let e = if (ea, ma) >= (eb, mb) { ea } else { eb };
            let low = if gap > 127 { 1 } else { small.1 >> gap | (small.1 & ((1u128 << gap) - 1) != 0) as u128 };
            let m = if big.0 == small.0 { big.1 + low } else { big.1 - low };
            if m == 0 { Num::Zero(mode == Round::Down) } else { Num::Fin(big.0, m, e) }
        }
    }
}

/// `a * b`, exact.
pub fn mul(a: Num, b: Num) -> Num {
    let s = a.is_neg() != b.is_neg();
    match (a, b) {
        (Num::Nan, _) | (_, Num::Nan) | (Num::Inf(_), Num::Zero(_)) | (Num::Zero(_), Num::Inf(_)) => Num::Nan,
        (Num::Inf(_), _) | (_, Num::Inf(_)) => Num::Inf(s),
        (Num::Zero(_), _) | (_, Num::Zero(_)) => Num::Zero(s),
        (Num::Fin(_, ma, ea), Num::Fin(_, mb, eb)) => Num::Fin(s, ma * mb, ea + eb),
    }
}

/// `a / b`, with a sticky lowest bit.
pub fn div(a: Num, b: Num) -> Num {
    let s = a.is_neg() != b.is_neg();
    match (a, b) {
        (Num::Nan, _) | (_, Num::Nan) | (Num::Inf(_), Num::Inf(_)) | (Num::Zero(_), Num::Zero(_)) => Num::Nan,
        (Num::Inf(_), _) | (_, Num::Zero(_)) => Num::Inf(s),
        (Num::Zero(_), _) | (_, Num::Inf(_)) => Num::Zero(s),
        (Num::Fin(_, ma, ea), Num::Fin(_, mb, eb)) => {
            let up = ma.leading_zeros();
            let top = ma << up;
            // At least 128 - 53 - 1 bits of quotient, the last one sticky.
            Num::Fin(s, (top / mb) | (top % mb != 0) as u128, ea - up as i32 - eb)
        }
    }
}

/// The square root, with a sticky lowest bit.
pub fn sqrt(a: Num) -> Num {
    match a {
        Num::Nan | Num::Zero(_) | Num::Inf(false) => a,
        Num::Inf(true) | Num::Fin(true, ..) => Num::Nan,
        Num::Fin(false, m, e) => {
            let up = m.leading_zeros() as i32;
            let up = if (e - up) % 2 == 0 { up } else { up - 1 };
            let (m, e) = (m << up, e - up);
            let root = m.isqrt();
            // One more bit of room, so that the sticky bit is below the root.
            Num::Fin(false, root << 1 | (root * root != m) as u128, e / 2 - 1)
        }
    }
}

/// `p + c` in f64, rounded to odd, so that another rounding to at most 50 bits is correct (Boldo and Melquiond).
#[inline(always)]
pub fn odd_add(p: f64, c: f64) -> f64 {
    let s = p + c;
    let v = s - p;
    let rest = (p - (s - v)) + (c - v);
    let bits = s.to_bits();
    let fix = rest != 0.0 && !rest.is_nan() && bits & 1 == 0;
    let odd = if (rest > 0.0) == (s > 0.0) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if fix { odd } else { bits })
}
