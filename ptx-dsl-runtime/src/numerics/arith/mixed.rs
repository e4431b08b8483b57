//! Mixed precision with a narrow result and four-lane alternate formats (manual, 9.7.5): exact, then one rounding.

use super::float::FloatOp;
use super::soft::{self, BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, FloatFormat, Num, Round};
use crate::numerics::qual::{Q, Ty, q};

/// Whether this file implements the form: a half pair of other types, or a four-lane format.
#[inline(always)]
pub const fn handles(q: Q) -> bool {
    let [ty, ..] = q.types();
    matches!(ty, Ty::E4m3x4 | Ty::E5m2x4) || matches!(ty, Ty::F16x2 | Ty::Bf16x2) && q.written() > 1
}

/// The format of a lane and the distance of lanes, in bits.
const fn lanes(ty: Ty) -> (FloatFormat, u32) {
    match ty {
        Ty::F32x2 => (F32, 32),
        Ty::Bf16x2 => (BF16, 16),
        Ty::E4m3x4 => (E4M3, 8),
        Ty::E5m2x4 => (E5M2, 8),
        Ty::E2m3x4 => (E2M3, 8),
        Ty::E3m2x4 => (E3M2, 8),
        Ty::E2m1x4 => (E2M1, 4),
        Ty::E2m1p4x4 => (E2M1, 8),
        _ => (F16, 16),
    }
}

fn lane(ty: Ty, x: u64, i: u32) -> Num {
    if ty == Ty::Ue8m0x4 {
        return Num::ue8m0(x >> (8 * i));
    }
    let (f, bits) = lanes(ty);
    f.decode(x >> (bits * i) & (f.sign() << 1).wrapping_sub(1))
}

/// `add`, `sub`, `mul`, `fma`. Types: the result, then the operands; one that is not written is the result's.
pub fn basic<const N: usize>(q: Q, op: FloatOp, s: [u64; N], minus: bool) -> u64 {
    let (f, bits) = lanes(q.ty[0]);
    let mut d = 0;
    for i in 0..32 / bits {
        let get = |n: usize| {
            let ty = if n + 1 < q.types { q.ty[n + 1] } else { q.ty[0] };
            lane(ty, s.get(n).copied().unwrap_or(0), i)
        };
        let (a, b) = (get(0), get(1));
        let b = if minus { b.negated() } else { b };
        let mode = Round::of(q);
        let r = match op {
            FloatOp::Add => soft::add(a, b, mode),
            FloatOp::Mul => soft::mul(a, b),
            _ => soft::add(soft::mul(a, b), get(2), mode),
        };
        let r = if q.has(q::ftz) && f.is_tiny(r, mode) { Num::Zero(r.is_neg()) } else { r };
        d |= f.encode(r, mode, q.has(q::satfinite)) << (bits * i);
    }
    d
}
