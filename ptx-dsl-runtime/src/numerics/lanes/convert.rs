//! Conversions between registers of a warp and the `u64` lanes of the `isa` functions. Development builds call them: inlined,
//! each is 32 moves, which would dominate the compile time.

use super::active::lanes;
use crate::numerics::lanes::Lanes;

macro_rules! widths {
    ($($t:ident $wide:ident $narrow:ident $put:ident;)*) => {$(
        /// All lanes of a register.
        #[cfg_attr(debug_assertions, inline(never))]
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub fn $wide(v: &[$t; 32]) -> Lanes {
            // a loop: LLVM does not vectorise `map` on an array
            let mut wide = [0; 32];
            wide.iter_mut().zip(v).for_each(|(to, v)| *to = u64::from(*v));
            wide
        }

        /// The lanes as a register.
        #[cfg_attr(debug_assertions, inline(never))]
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub fn $narrow(v: &Lanes) -> [$t; 32] {
            let mut narrow = [0; 32];
            narrow.iter_mut().zip(v).for_each(|(to, v)| *to = *v as $t);
            narrow
        }

        /// Sets the lanes of `m`.
        #[cfg_attr(debug_assertions, inline(never))]
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub fn $put(to: &mut [$t; 32], v: &Lanes, m: u32) {
            lanes(m, |l| to[l] = v[l] as $t);
        }
    )*};
}
widths! {
    u8 wide_u8 narrow_u8 put_u8;
    u16 wide_u16 narrow_u16 put_u16;
    u32 wide_u32 narrow_u32 put_u32;
    u64 wide_u64 narrow_u64 put_u64;
}

/// Broadcasts one value to all lanes.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn splat(v: u64) -> Lanes {
    [v; 32]
}

/// All lanes of a predicate.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn wide_mask(m: u32) -> Lanes {
    let mut v = [0; 32];
    for (l, v) in v.iter_mut().enumerate() {
        *v = u64::from(m >> l & 1);
    }
    v
}

/// The low bits of the lanes as a predicate.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn narrow_mask(v: &Lanes) -> u32 {
    let mut set = 0;
    for (l, v) in v.iter().enumerate() {
        set |= ((v & 1) as u32) << l;
    }
    set
}

/// Sets the lanes of `m` of a predicate.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn put_mask(to: &mut u32, v: &Lanes, m: u32) {
    *to = *to & !m | narrow_mask(v) & m;
}

/// The halves as a register of 128 bits.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn narrow_u128(low: &Lanes, high: &Lanes) -> [u128; 32] {
    let mut v = [0; 32];
    for (l, v) in v.iter_mut().enumerate() {
        *v = u128::from(low[l]) | u128::from(high[l]) << 64;
    }
    v
}

/// The low halves of a register of 128 bits.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn wide_low(v: &[u128; 32]) -> Lanes {
    v.map(|v| v as u64)
}

/// The high halves.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn wide_high(v: &[u128; 32]) -> Lanes {
    v.map(|v| (v >> 64) as u64)
}

/// Sets the lanes of `m` of a register of 128 bits.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn put_u128(to: &mut [u128; 32], low: &Lanes, high: &Lanes, m: u32) {
    lanes(m, |l| to[l] = u128::from(low[l]) | u128::from(high[l]) << 64);
}

/// Addresses plus an offset.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn offset_u64(v: &[u64; 32], by: u64) -> Lanes {
    v.map(|v| v.wrapping_add(by))
}

/// [`offset_u64`] of addresses of 32 bits.
#[cfg_attr(debug_assertions, inline(never))]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn offset_u32(v: &[u32; 32], by: u32) -> Lanes {
    v.map(|v| u64::from(v.wrapping_add(by)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_widened_and_set() {
        let v: [u16; 32] = std::array::from_fn(|l| 0xff00 + l as u16);
        let w = wide_u16(&v);
        assert!((0..32).all(|l| w[l] == 0xff00 + l as u64));
        for m in [0, 1, 0x8000_0010, u32::MAX] {
            let (mut to, mut mask, mut big) = ([7u16; 32], 0xf0f0_f0f0u32, [5u128; 32]);
            put_u16(&mut to, &[0x1_0009; 32], m);
            put_mask(&mut mask, &wide_mask(0xffff_0000), m);
            put_u128(&mut big, &[3; 32], &[4; 32], m);
            for l in 0..32 {
                let set = m >> l & 1 != 0;
                assert_eq!(to[l], if set { 9 } else { 7 });
                assert_eq!(mask >> l & 1, u32::from(if set { l >= 16 } else { l % 8 >= 4 }));
                assert_eq!(big[l], if set { 3 | 4 << 64 } else { 5 });
            }
            assert_eq!((wide_low(&big)[4], wide_high(&big)[4]), if m >> 4 & 1 != 0 { (3, 4) } else { (5, 0) });
        }
        assert_eq!(narrow_u16(&wide_u16(&v)), v);
        assert_eq!(narrow_mask(&wide_mask(0x8000_0101)), 0x8000_0101);
        assert_eq!(narrow_u128(&[7; 32], &[8; 32]), [7 | 8 << 64; 32]);
        assert_eq!(offset_u32(&[u32::MAX; 32], 3), [2; 32]);
        assert_eq!(offset_u64(&[u64::MAX; 32], 3), [2; 32]);
    }
}
