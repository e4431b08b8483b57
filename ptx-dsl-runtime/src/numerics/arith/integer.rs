//! Integer arithmetic (manual, 9.7.1 and 9.7.2).

use crate::numerics::qual::{Q, Ty, q};

/// Lanes of a packed integer type: their width, and whether they are signed.
#[inline(always)]
pub const fn packed(ty: Ty) -> Option<(u32, bool)> {
    match ty {
        Ty::U16x2 => Some((16, false)),
        Ty::S16x2 => Some((16, true)),
        Ty::U8x4 => Some((8, false)),
        Ty::S8x4 => Some((8, true)),
        _ => None,
    }
}

/// The low `bits` of a value, sign-extended.
#[inline(always)]
pub const fn sext(x: u64, bits: u32) -> i64 {
    let up = 64u32.wrapping_sub(bits) & 63;
    (x << up) as i64 >> up
}

/// The low `bits` of a value.
#[inline(always)]
pub const fn zext(x: u64, bits: u32) -> u64 {
    x & (u64::MAX >> (64u32.wrapping_sub(bits) & 63))
}

/// The value of a register as the type says.
#[inline(always)]
pub const fn value(ty: Ty, x: u64) -> i128 {
    if ty.is_signed() { sext(x, ty.bits()) as i128 } else { zext(x, ty.bits()) as i128 }
}

/// Clamps to what `bits` hold.
#[inline(always)]
pub const fn clamp(v: i128, bits: u32, signed: bool) -> u64 {
    let (low, high) =
        if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    (if v < low {
        low
    } else if v > high {
        high
    } else {
        v
    }) as u64
}

/// `f` on every lane of packed values.
#[inline(always)]
pub fn each<const N: usize>(bits: u32, signed: bool, s: [u64; N], f: impl Fn([i64; N]) -> u64) -> u64 {
    let mut d = 0;
    let mut at = 0;
    while at < 32 {
        let lane = s.map(|x| if signed { sext(x >> at, bits) } else { zext(x >> at, bits) as i64 });
        d |= zext(f(lane), bits) << at;
        at += bits;
    }
    d
}

/// `add`, `sub` on integers: `f` gives the exact result.
#[inline(always)]
pub fn linear(q: Q, a: u64, b: u64, minus: bool) -> u64 {
    let ty = q.ty[0];
    if let Some((bits, signed)) = packed(ty) {
        return each(bits, signed, [a, b], |[a, b]| {
            let v = if minus { a - b } else { a + b };
            if q.has(q::sat) { clamp(v as i128, bits, signed) } else { v as u64 }
        });
    }
    if q.has(q::sat) {
        let (x, y) = (value(ty, a), value(ty, b));
        return clamp(if minus { x - y } else { x + y }, ty.bits(), ty.is_signed());
    }
    if minus { a.wrapping_sub(b) } else { a.wrapping_add(b) }
}

/// The product, or its low or high half.
#[inline(always)]
pub fn mul(q: Q, a: u64, b: u64) -> u64 {
    let ty = q.ty[0];
    let bits = ty.bits();
    if q.has(q::hi) {
        if bits == 64 && !ty.is_signed() {
            ((a as u128 * b as u128) >> 64) as u64
        } else if bits == 64 {
            ((a as i64 as i128 * b as i64 as i128) >> 64) as u64
        } else if ty.is_signed() {
            ((sext(a, bits) * sext(b, bits)) >> bits) as u64
        } else {
            (zext(a, bits) * zext(b, bits)) >> bits
        }
    } else if q.has(q::wide) {
        if ty.is_signed() { (sext(a, bits) * sext(b, bits)) as u64 } else { zext(a, bits) * zext(b, bits) }
    } else {
        a.wrapping_mul(b)
    }
}

/// `mad`: `mul` and an addition, saturating for `.hi.sat.s32`.
#[inline(always)]
pub fn mad(q: Q, a: u64, b: u64, c: u64) -> u64 {
    let t = mul(q, a, b);
    if q.has(q::sat) { clamp(sext(t, 32) as i128 + sext(c, 32) as i128, 32, true) } else { t.wrapping_add(c) }
}

/// `mul24`: 24 bits by 24, of the 48 the low or the high 32.
#[inline(always)]
pub fn mul24(q: Q, a: u64, b: u64) -> u64 {
    let t = if q.ty[0].is_signed() { (sext(a, 24) * sext(b, 24)) as u64 } else { zext(a, 24) * zext(b, 24) };
    if q.has(q::hi) { zext(t >> 16, 32) } else { t }
}

/// `mad24`.
#[inline(always)]
pub fn mad24(q: Q, a: u64, b: u64, c: u64) -> u64 {
    let t = mul24(q, a, b);
    if q.has(q::sat) { clamp(sext(t, 32) as i128 + sext(c, 32) as i128, 32, true) } else { t.wrapping_add(c) }
}

/// `c + |a - b|`.
#[inline(always)]
pub fn sad(q: Q, a: u64, b: u64, c: u64) -> u64 {
    let ty = q.ty[0];
    let (x, y) = (value(ty, a), value(ty, b));
    c.wrapping_add((if x > y { x - y } else { y - x }) as u64)
}

/// Quotient or remainder; by zero, all ones.
#[inline(always)]
pub fn divide(q: Q, a: u64, b: u64, rest: bool) -> u64 {
    let ty = q.ty[0];
    let bits = ty.bits();
    if bits <= 32 {
        return divide_small(sext(a, bits), sext(b, bits), bits, ty.is_signed(), rest);
    }
    if b == 0 {
        return u64::MAX;
    }
    if ty.is_signed() {
        let (x, y) = (a as i64, b as i64);
        (if rest { x.wrapping_rem(y) } else { x.wrapping_div(y) }) as u64
    } else if rest {
        a % b
    } else {
        a / b
    }
}

/// Divides numbers of up to 32 bits, sign-extended. Processors divide vectors of f64, but none of integers. The quotient of two such integers
/// is as far from the next integer as 1 divided by the second one, much farther than f64 rounds: its integer part is exact.
#[inline(always)]
fn divide_small(a: i64, b: i64, bits: u32, signed: bool, rest: bool) -> u64 {
    let size = |v: i64| if signed { v.unsigned_abs() as u32 } else { zext(v as u64, bits) as u32 };
    let (x, y) = (size(a), size(b));
    let quotient = (f64::from(x) / f64::from(y)) as u32;
    let (size, negative) =
        if rest { (x.wrapping_sub(quotient.wrapping_mul(y)), a < 0) } else { (quotient, (a < 0) != (b < 0)) };
    let value = if signed && negative { size.wrapping_neg() } else { size };
    u64::from(if y == 0 { u32::MAX } else { value })
}

/// `min`, `max`, with `.relu`.
#[inline(always)]
pub fn pick(q: Q, a: u64, b: u64, max: bool) -> u64 {
    let ty = q.ty[0];
    let one = |x: i64, y: i64| {
        let v = if max { x.max(y) } else { x.min(y) };
        (if q.has(q::relu) { v.max(0) } else { v }) as u64
    };
    if let Some((bits, signed)) = packed(ty) {
        return each(bits, signed, [a, b], |[a, b]| one(a, b));
    }
    if ty == Ty::U64 {
        return if max { a.max(b) } else { a.min(b) };
    }
    let bits = ty.bits();
    if ty.is_signed() { one(sext(a, bits), sext(b, bits)) } else { one(zext(a, bits) as i64, zext(b, bits) as i64) }
}

/// `bfind`: the highest bit that is not the sign, all ones if there is none.
#[inline(always)]
pub fn bfind(q: Q, a: u64) -> u64 {
    let ty = q.ty[0];
    let bits = ty.bits();
    let a = if ty.is_signed() && sext(a, bits) < 0 { !a } else { a };
    let a = zext(a, bits);
    if a == 0 {
        return 0xffff_ffff;
    }
    let at = 63 - a.leading_zeros() as u64;
    if q.has(q::shiftamt) { bits as u64 - 1 - at } else { at }
}

/// `fns`: the n-th set bit from a place on.
#[inline(always)]
pub fn fns(mask: u64, base: u64, offset: u64) -> u64 {
    let offset = sext(offset, 32);
    if offset == i32::MIN as i64 {
        return 0; // as an H100 has it
    }
    let mut pos = sext(base, 32);
    let mut left = if offset == 0 { 0 } else { offset.unsigned_abs() - 1 };
    while (0..32).contains(&pos) {
        if mask >> pos & 1 != 0 {
            if left == 0 {
                return pos as u64;
            }
            left -= 1;
        }
        if offset == 0 {
            break;
        }
        pos += offset.signum();
    }
    0xffff_ffff
}

/// A position or length of a bit field, as on an H200: modulo 256 for 32 bits, unlimited for 64 bits.
#[inline(always)]
fn place(bits: u32, x: u64) -> u32 {
    if bits == 64 { (x as u32).min(255) } else { (x & 0xff) as u32 }
}

/// Bit fields of words and longs: in the width of the type, because LLVM does not make words of longs.
macro_rules! fields {
    ($($module:ident $unsigned:ident $signed:ident)*) => {$(
        mod $module {
            const BITS: u32 = $unsigned::BITS;

            #[inline(always)]
            pub fn bfe(signed: bool, a: $unsigned, pos: u32, len: u32) -> $unsigned {
                // bits beyond the value are copies of its sign for signed types, else zero
                if len == 0 || pos >= BITS && !signed {
                    return 0;
                }
                let above = BITS - len.min(BITS);
                if signed {
                    (a as $signed >> pos.min(BITS - 1) << above >> above) as $unsigned
                } else {
                    a >> pos << above >> above
                }
            }

            #[inline(always)]
            pub fn bfi(a: $unsigned, b: $unsigned, pos: u32, len: u32) -> $unsigned {
                if len == 0 || pos >= BITS {
                    return b;
                }
                let field = $unsigned::MAX >> (BITS - len.min(BITS)) << pos;
                b & !field | a << pos & field
            }
        }
    )*};
}
fields! {
    words u32 i32
    longs u64 i64
}

/// `bfe`: a field, sign-extended from its last bit for signed types.
#[inline(always)]
pub fn bfe(q: Q, a: u64, pos: u64, len: u64) -> u64 {
    let (ty, bits) = (q.ty[0], q.ty[0].bits());
    let (pos, len) = (place(bits, pos), place(bits, len));
    match bits {
        64 => longs::bfe(ty.is_signed(), a, pos, len),
        _ => words::bfe(ty.is_signed(), a as u32, pos, len).into(),
    }
}

/// `bfi`: the low bits of `a` put into `b`.
#[inline(always)]
pub fn bfi(q: Q, a: u64, b: u64, pos: u64, len: u64) -> u64 {
    let bits = q.ty[0].bits();
    let (pos, len) = (place(bits, pos), place(bits, len));
    match bits {
        64 => longs::bfi(a, b, pos, len),
        _ => words::bfi(a as u32, b as u32, pos, len).into(),
    }
}

/// `szext`: from the low bits.
#[inline(always)]
pub fn szext(q: Q, a: u64, b: u64) -> u64 {
    let b = zext(b, 32);
    let n = (if q.has(q::clamp) { b.min(32) } else { b & 31 }) as u32;
    if n == 0 {
        0
    } else if q.ty[0].is_signed() {
        sext(a, n) as u64
    } else {
        zext(a, n)
    }
}

/// `bmsk`: `b` ones from bit `a` on.
#[inline(always)]
pub fn bmsk(q: Q, a: u64, b: u64) -> u64 {
    let cut = |x: u64| if q.has(q::clamp) { zext(x, 32).min(32) } else { x & 31 };
    ((1 << cut(b)) - 1) << cut(a)
}

/// `dp4a`: four products of bytes, added.
#[inline(always)]
pub fn dp4a(q: Q, a: u64, b: u64, c: u64) -> u64 {
    let mut sum = c;
    for i in 0..4 {
        sum = sum.wrapping_add((part(q.ty[0], a, 8, i) * part(q.ty[1], b, 8, i)) as u64);
    }
    sum
}

/// `dp2a`: two products of a half and a byte, added.
#[inline(always)]
pub fn dp2a(q: Q, a: u64, b: u64, c: u64) -> u64 {
    let first = if q.has(q::hi) { 2 } else { 0 };
    let mut sum = c;
    for i in 0..2 {
        sum = sum.wrapping_add((part(q.ty[0], a, 16, i) * part(q.ty[1], b, 8, first + i)) as u64);
    }
    sum
}

#[inline(always)]
fn part(ty: Ty, x: u64, bits: u32, i: u32) -> i64 {
    let x = x >> (bits * i);
    if ty.is_signed() { sext(x, bits) } else { zext(x, bits) as i64 }
}

/// `a + b + carry` and the carry out.
#[inline(always)]
pub fn carry_add(q: Q, a: u64, b: u64, carry: u64) -> [u64; 2] {
    let bits = q.ty[0].bits();
    let sum = zext(a, bits) as u128 + zext(b, bits) as u128 + (carry & 1) as u128;
    [zext(sum as u64, bits), (sum >> bits) as u64 & 1]
}

/// `a - b` as `a + !b + carry`: a carry, in and out, means that there was no borrow.
///
/// The manual speaks of a borrow, but hardware has one flag with one meaning: `addc` after `sub.cc` shows it.
#[inline(always)]
pub fn carry_sub(q: Q, a: u64, b: u64, carry: u64) -> [u64; 2] {
    carry_add(q, a, !b, carry)
}
