//! Conversions to and from packed and 8-, 6- and 4-bit formats.
//!
//! Not here: `.rs` (random bits), `.scaled` and `.pzo`, `.s2f6x2`, `.ue5m3x2`.

use crate::isa::arith::soft::{BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, Format, Num, Round};
use crate::qual::{Q, Ty, q};

/// The lanes of a packed type: format, bits each takes.
const fn lanes(ty: Ty) -> Option<(Format, u32)> {
    match ty {
        Ty::F16x2 => Some((F16, 16)),
        Ty::Bf16x2 => Some((BF16, 16)),
        Ty::E4m3x2 => Some((E4M3, 8)),
        Ty::E5m2x2 => Some((E5M2, 8)),
        Ty::E2m3x2 => Some((E2M3, 8)),
        Ty::E3m2x2 => Some((E3M2, 8)),
        Ty::E2m1x2 => Some((E2M1, 4)),
        _ => None,
    }
}

/// Is one of the types packed?
#[inline(always)]
pub const fn handles(dst: Ty, src: Ty) -> bool {
    (lanes(dst).is_some() || matches!(dst, Ty::Ue8m0x2))
        && (lanes(src).is_some() || matches!(src, Ty::F32 | Ty::Ue8m0x2))
}

/// The conversion: the first source, or the high half of it, goes to the high half of the result.
pub fn cvt(q: Q, s: &[u64]) -> u64 {
    let [dst, src, ..] = q.ty;
    let at = |i: usize| s.get(i).copied().unwrap_or(0);
    let pair = if src == Ty::F32 {
        [F32.decode(flush(q, at(1))), F32.decode(flush(q, at(0)))]
    } else if src == Ty::Ue8m0x2 {
        [scale(at(0)), scale(at(0) >> 8)]
    } else {
        let (f, bits) = lanes(src).unwrap_or((F16, 16));
        let mask = (1 << bits) - 1;
        [f.decode(at(0) & mask), f.decode(at(0) >> bits & mask)]
    };
    if dst == Ty::Ue8m0x2 {
        let [low, high] = pair.map(|v| to_scale(v, Round::of(q), q.has(q::satfinite)));
        return high << 8 | low;
    }
    let (f, bits) = lanes(dst).unwrap_or((F16, 16));
    let [low, high] = pair.map(|v| {
        if v.is_neg() && q.has(q::relu) {
            return 0;
        }
        f.encode(v, Round::of(q), q.has(q::satfinite))
    });
    high << bits | low
}

fn flush(q: Q, x: u64) -> u64 {
    if q.has(q::ftz) && F32.is_subnormal(x) { x & 0x8000_0000 } else { x & 0xffff_ffff }
}

/// `.ue8m0`: 2^(x-127), 255 is NaN.
fn scale(x: u64) -> Num {
    match x & 0xff {
        0xff => Num::Nan,
        e => Num::Fin(false, 1, e as i32 - 127),
    }
}

/// To `.ue8m0`, up or down to a power of two; the sign is dropped.
fn to_scale(v: Num, mode: Round, satfinite: bool) -> u64 {
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
