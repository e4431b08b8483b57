//! Writes of registers under a lane mask.

use super::bits::{blend_u8, blend_u16, blend_u128};
use super::level::Level;

/// A register as the warp's state stores it.
pub trait Register: Copy {
    /// Sets the lanes of `m`.
    fn put<L: Level>(to: &mut [Self; 32], v: &[Self; 32], m: u32);
}

macro_rules! registers {
    ($($t:ident: $put:expr;)*) => {$(
        impl Register for $t {
            #[inline(always)]
            fn put<L: Level>(to: &mut [$t; 32], v: &[$t; 32], m: u32) {
                let put: fn(&mut [$t; 32], &[$t; 32], u32) = $put;
                put(to, v, m);
            }
        }
    )*};
}
registers! {
    u8: blend_u8;
    u16: blend_u16;
    u32: L::put_u32;
    u64: L::put_u64;
    u128: blend_u128;
}

/// Sets the lanes of `m`.
#[inline(always)]
pub fn put<L: Level, T: Register>(to: &mut [T; 32], v: &[T; 32], m: u32) {
    if m == u32::MAX { *to = *v } else { T::put::<L>(to, v, m) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::lanes::Base;

    #[test]
    fn the_lanes_of_a_mask_are_set() {
        for m in [0, 1, 0x8000_0001, 0xdead_beef, u32::MAX] {
            let (mut a, mut b) = ([7u8; 32], [7u128; 32]);
            put::<Base, _>(&mut a, &[9; 32], m);
            put::<Base, _>(&mut b, &[1 << 100; 32], m);
            for l in 0..32 {
                let set = m >> l & 1 != 0;
                assert_eq!((a[l], b[l]), if set { (9, 1 << 100) } else { (7, 7) }, "lane {l} of {m:08x}");
            }
        }
    }
}
