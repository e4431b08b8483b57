//! Conversions to and from packed and 8-, 6- and 4-bit formats.

use crate::numerics::arith::soft::{
    self, BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, FloatFormat, Num, Round, UE5M3,
};
use crate::numerics::qual::{Q, Ty, q};

/// The encoding of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementKind {
    Float,
    /// A float without a sign.
    Magnitude,
    /// `.ue8m0`: 2^(x-127), 255 is NaN.
    Scale,
    /// `.s2f6`: two's complement, in units of 1/64.
    Fixed,
}

/// The elements of a packed type.
#[derive(Clone, Copy)]
struct PackedElements {
    kind: ElementKind,
    /// The format of a float.
    format: FloatFormat,
    /// Bits that each takes.
    bits: u32,
    count: usize,
}

impl PackedElements {
    const fn of(ty: Ty) -> Option<PackedElements> {
        let (kind, format, bits, count) = match ty {
            Ty::F16x2 => (ElementKind::Float, F16, 16, 2),
            Ty::Bf16x2 => (ElementKind::Float, BF16, 16, 2),
            Ty::E4m3x2 => (ElementKind::Float, E4M3, 8, 2),
            Ty::E5m2x2 => (ElementKind::Float, E5M2, 8, 2),
            Ty::E2m3x2 => (ElementKind::Float, E2M3, 8, 2),
            Ty::E3m2x2 => (ElementKind::Float, E3M2, 8, 2),
            Ty::E2m1x2 => (ElementKind::Float, E2M1, 4, 2),
            Ty::E4m3x4 => (ElementKind::Float, E4M3, 8, 4),
            Ty::E5m2x4 => (ElementKind::Float, E5M2, 8, 4),
            Ty::E2m3x4 => (ElementKind::Float, E2M3, 8, 4),
            Ty::E3m2x4 => (ElementKind::Float, E3M2, 8, 4),
            Ty::E2m1x4 => (ElementKind::Float, E2M1, 4, 4),
            Ty::Ue5m3x2 => (ElementKind::Magnitude, UE5M3, 8, 2),
            Ty::Ue8m0x2 => (ElementKind::Scale, UE5M3, 8, 2),
            Ty::S2f6x2 => (ElementKind::Fixed, UE5M3, 8, 2),
            _ => return None,
        };
        Some(PackedElements { kind, format, bits, count })
    }

    /// The element in the low bits.
    fn decode(self, x: u64) -> Num {
        let f = self.format;
        match self.kind {
            ElementKind::Float => f.decode(x & ((f.sign() << 1) - 1)),
            ElementKind::Magnitude => f.decode(x & (f.sign() - 1)),
            ElementKind::Scale => Num::ue8m0(x),
            ElementKind::Fixed => match x as i8 {
                0 => Num::Zero(false),
                v => Num::Fin(v < 0, u128::from(v.unsigned_abs()), -6),
            },
        }
    }

    fn encode(self, q: Q, v: Num, mode: Round) -> u64 {
        if v.is_neg() && q.has(q::relu) {
            return 0;
        }
        let satfinite = q.has(q::satfinite);
        match self.kind {
            ElementKind::Float => match self.format.encode(v, mode, satfinite) {
                zero if zero == self.format.sign() && q.has(q::pzo) => 0,
                bits => bits,
            },
            ElementKind::Magnitude => self.format.encode(if v.is_neg() { v.negated() } else { v }, mode, satfinite),
            ElementKind::Scale => to_power(v, mode, satfinite),
            ElementKind::Fixed => to_fixed(v, mode),
        }
    }
}

/// Whether one of the types is packed.
#[inline(always)]
pub const fn handles(dst: Ty, src: Ty) -> bool {
    PackedElements::of(dst).is_some() && (PackedElements::of(src).is_some() || matches!(src, Ty::F32))
}

/// The conversion: the first source, or the high element of it, gives the high element of the result.
pub fn cvt(q: Q, s: &[u64]) -> u64 {
    let [dst, src, ..] = q.ty;
    let Some(to) = PackedElements::of(dst) else { return 0 };
    let last = s.last().copied().unwrap_or(0);
    let mut d = 0;
    for i in 0..to.count {
        let place = (to.count - 1 - i) as u32;
        let v = match PackedElements::of(src) {
            Some(from) => from.decode(s.first().map_or(0, |a| a >> (from.bits * place))),
            None => F32.decode(flush(q, s.get(i).copied().unwrap_or(0))),
        };
        let v = scaled(q, dst, src, v, last, place);
        let mode = if q.has(q::rs) { random(dst, last as u32, i) } else { Round::of(q) };
        d = d << to.bits | to.encode(q, v, mode);
    }
    d
}

fn flush(q: Q, x: u64) -> u64 {
    if q.has(q::ftz) && F32.is_subnormal(x) { x & 0x8000_0000 } else { x & 0xffff_ffff }
}

/// Applies the scale factor: a narrow result is divided by it, a result of 16 bits multiplied.
fn scaled(q: Q, dst: Ty, src: Ty, v: Num, factors: u64, place: u32) -> Num {
    if q.has(q::scaled_n2_ue8m0) {
        let factor = Num::ue8m0(factors >> (8 * place));
        return if dst == Ty::Bf16x2 { soft::mul(v, factor) } else { soft::div(v, factor) };
    }
    if q.has(q::scaled_n1_ue8m0) {
        // hardware flushes subnormal sources
        let format = PackedElements::of(src).map_or(F32, |from| from.format);
        let v = if format.is_subnormal_value(v) { Num::Zero(v.is_neg()) } else { v };
        return soft::div(v, Num::ue8m0(factors));
    }
    v
}

/// The random bits of an element, the first of the result being 0. Elements of 8 bits and fewer share 16 bits in pairs: the second
/// of a pair reads them as they are, the first in reverse order.
fn random(dst: Ty, rbits: u32, i: usize) -> Round {
    let [low, high] = [rbits as u16, (rbits >> 16) as u16];
    let (bits, width) = match dst {
        Ty::F16x2 => ([high & 0x1fff, low & 0x1fff][i & 1], 13),
        Ty::Bf16x2 => ([high, low][i & 1], 16),
        _ => {
            let [b0, b1, b2, b3] = rbits.to_le_bytes();
            let pairs = if dst == Ty::E2m1x4 {
                [u16::from_le_bytes([b1, b3]), u16::from_le_bytes([b0, b2])]
            } else {
                [high, low]
            };
            let pair = pairs[usize::from(i > 1)];
            (if i.is_multiple_of(2) { pair.reverse_bits() } else { pair }, 16)
        }
    };
    Round::Random { bits: bits.into(), width }
}

/// Converts to `.ue8m0`, rounded up or down to a power of two; the sign is dropped.
fn to_power(v: Num, mode: Round, satfinite: bool) -> u64 {
    let over = if satfinite { 0xfe } else { 0xff };
    match v {
        Num::Nan => 0xff,
        Num::Zero(_) => 0,
        Num::Inf(_) => over,
        Num::Fin(_, m, e) => {
            let lead = e + 127 - m.leading_zeros() as i32;
            let up = mode == Round::Up && !m.is_power_of_two();
            let x = lead + up as i32 + 127;
            if x > 254 { over } else { x.max(0) as u64 }
        }
    }
}

/// Converts to `.s2f6`, clamped; NaN gives the largest value.
fn to_fixed(v: Num, mode: Round) -> u64 {
    const LARGEST: u128 = 0x7f;
    let (neg, m) = match v {
        Num::Nan => (false, LARGEST),
        Num::Zero(_) => return 0,
        Num::Inf(neg) => (neg, u128::MAX),
        // 2^e * 64 is beyond any shift that fits
        Num::Fin(neg, _, e) if e > 64 => (neg, u128::MAX),
        Num::Fin(neg, m, e) if e + 6 > 0 && m.leading_zeros() <= (e + 6) as u32 => (neg, u128::MAX),
        Num::Fin(neg, m, e) => (neg, soft::round_shift(neg, m, -(e + 6), mode)),
    };
    if neg { (m.min(LARGEST + 1) as u8).wrapping_neg().into() } else { m.min(LARGEST) as u64 }
}
