//! Lanes under a mask. These are functions that kernels call, compiled here once: LLVM would turn each of them into 32 moves.

/// A register as the warp's state holds it.
pub trait Register: Copy {
    /// Sets the lanes of `m`.
    fn blend(to: &mut [Self; 32], v: &[Self; 32], m: u32);
}

/// The bit of each lane.
pub(crate) const LANE: [u32; 32] = {
    let mut bits = [0; 32];
    let mut l = 0;
    while l < 32 {
        bits[l] = 1 << l;
        l += 1;
    }
    bits
};

macro_rules! registers {
    ($($t:ident)*) => {$(
        impl Register for $t {
            #[inline(never)]
            fn blend(to: &mut [$t; 32], v: &[$t; 32], m: u32) {
                for ((to, v), bit) in to.iter_mut().zip(v).zip(LANE) {
                    let keep = if m & bit != 0 { 0 } else { $t::MAX };
                    *to = *to & keep | *v & !keep;
                }
            }
        }
    )*};
}
registers!(u8 u16 u32 u64 u128);

/// Sets the lanes of `m`.
#[inline(always)]
pub fn put<T: Register>(to: &mut [T; 32], v: &[T; 32], m: u32) {
    if m == u32::MAX { *to = *v } else { T::blend(to, v, m) }
}

/// The mask of lanes whose byte is one; all others are zero.
#[inline(never)]
pub fn mask(lanes: &[u8; 32]) -> u32 {
    let (words, _) = lanes.as_chunks::<8>();
    words.iter().rev().fold(0, |m, bytes| {
        // brings bit 0 of byte k to bit 56 + k
        let bits = u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        m << 8 | bits as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lanes_of_a_mask_are_set() {
        for m in [0, 1, 0x8000_0001, 0xdead_beef, u32::MAX] {
            let (mut a, mut b) = ([7u8; 32], [7u128; 32]);
            put(&mut a, &[9; 32], m);
            put(&mut b, &[1 << 100; 32], m);
            for l in 0..32 {
                let set = m >> l & 1 != 0;
                assert_eq!((a[l], b[l]), if set { (9, 1 << 100) } else { (7, 7) }, "lane {l} of {m:08x}");
            }
        }
    }

    #[test]
    fn a_mask_has_the_bits_of_its_lanes() {
        for m in [0u32, 1, 0x8000_0001, 0xdead_beef, 0x0102_0304, u32::MAX] {
            assert_eq!(mask(&std::array::from_fn(|l| (m >> l & 1) as u8)), m);
        }
    }
}
