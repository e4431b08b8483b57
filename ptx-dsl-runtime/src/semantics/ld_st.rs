//! `ld`, `ldu`, `st` (PTX ISA 9.7.9.8 to 9.7.9.11).
//!
//! The plain host runs one warp at a time, so all accesses are visible at once: `.volatile`, `.relaxed`, `.acquire`, `.release`,
//! scopes and cache hints have no effect.

use super::{Done, active, space};
use crate::machine::Ctx;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, Ty, q};

/// `value` as the type reads it, extended to 64 bits.
#[inline(always)]
pub(super) const fn extend(ty: Ty, value: u64) -> u64 {
    match ty.bits() {
        8 if ty.is_signed() => value as u8 as i8 as u64,
        16 if ty.is_signed() => value as u16 as i16 as u64,
        32 if ty.is_signed() => value as u32 as i32 as u64,
        8 => value as u8 as u64,
        16 => value as u16 as u64,
        32 => value as u32 as u64,
        _ => value,
    }
}

/// Size of one element of the operand list: a `.b128` value is two elements.
#[inline(always)]
pub(crate) const fn element(ty: Ty) -> u32 {
    if ty.bytes() > 8 { 8 } else { ty.bytes() }
}

/// The elements of `bytes` bytes each, from the value of a whole vector.
#[inline(always)]
pub(super) fn get(v: &[u64; 4], i: usize, bytes: u32) -> u64 {
    let bit = i as u32 * bytes * 8;
    v.get(bit as usize / 64).map_or(0, |word| word >> (bit % 64))
}

/// Puts element `i` of `bytes` bytes into the value of a whole vector.
#[inline(always)]
pub(super) fn put(v: &mut [u64; 4], i: usize, bytes: u32, value: u64) {
    let bit = i as u32 * bytes * 8;
    if let Some(word) = v.get_mut(bit as usize / 64) {
        *word |= (value & (u64::MAX >> (64 - bytes * 8))) << (bit % 64);
    }
}

/// `ld` and `ld.global.nc`: `[addr]{, cache-policy}` to the elements. The slow path of emitted code, after `LoadUnit::stretch` and
/// the like.
pub fn ld(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    let (space, bytes, addr) = (space(q), element(q.ty[0]), s[0]);
    for l in active(x.mask) {
        let v = x.read(space, addr[l], bytes * d.len() as u32, l as u32)?;
        for (i, d) in d.iter_mut().enumerate() {
            d[l] = extend(q.ty[0], get(&v, i, bytes));
        }
    }
    Ok(())
}

/// `ldu`: a load from an address that is the same in all threads.
#[inline]
pub fn ldu(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], d: &mut [&mut Lanes]) -> Done {
    ld(x, q, s, d)
}

/// Elements that a store has.
#[inline(always)]
pub(crate) const fn elements(q: Q) -> usize {
    if q.has(q::v8) {
        8
    } else if q.has(q::v4) {
        4
    } else if q.has(q::v2) || matches!(q.types()[0], Ty::B128) {
        2
    } else {
        1
    }
}

/// `st`: `[addr]`, the elements, `{cache-policy}`.
pub fn st(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let (space, bytes, n) = (space(q), element(q.ty[0]), elements(q));
    for l in active(x.mask) {
        let mut v = [0; 4];
        for (i, b) in s.iter().skip(1).take(n).enumerate() {
            put(&mut v, i, bytes, b[l]);
        }
        x.write(space, s[0][l], bytes * n as u32, v, l as u32)?;
    }
    Ok(())
}

semantics! {
    warp "ld" => ld,
    warp "ldu" => ldu,
    warp "st" => st,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_extend_as_their_type_says() {
        let table = [
            (Ty::S8, 0x80, 0xffff_ffff_ffff_ff80),
            (Ty::S8, 0x7f, 0x7f),
            (Ty::U8, 0xff, 0xff),
            (Ty::B16, 0x1_8000, 0x8000),
            (Ty::S16, 0x8000, 0xffff_ffff_ffff_8000),
            (Ty::S32, 0x8000_0000, 0xffff_ffff_8000_0000),
            (Ty::F32, 0x8000_0000, 0x8000_0000),
            (Ty::S64, 0x8000_0000_0000_0000, 0x8000_0000_0000_0000),
            (Ty::B128, 0x8000_0000_0000_0000, 0x8000_0000_0000_0000),
        ];
        for (ty, from, to) in table {
            assert_eq!(extend(ty, from), to, "{ty:?}");
        }
    }

    #[test]
    fn elements_lie_in_order() {
        let v = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110, 0x1f1e_1d1c_1b1a_1918];
        assert_eq!(extend(Ty::B32, get(&v, 5, 4)), 0x1716_1514);
        assert_eq!(extend(Ty::B8, get(&v, 3, 1)), 3);
        assert_eq!(extend(Ty::B16, get(&v, 7, 2)), 0x0f0e);
        assert_eq!(get(&v, 2, 8), 0x1716_1514_1312_1110);
        let mut w = [0; 4];
        for i in 0..8 {
            put(&mut w, i, 4, 0xdead_0000_0000_0000 | get(&v, i, 4));
        }
        assert_eq!(w, v);
    }
}
