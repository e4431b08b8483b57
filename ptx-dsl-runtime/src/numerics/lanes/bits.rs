//! Blends and bit masks of 32 lanes. Emitted code calls them: LLVM would unroll each inlined copy into 32 moves.

use crate::numerics::float16::f16_to_f32;

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

macro_rules! blends {
    ($($name:ident: $t:ident;)*) => {$(
        /// Sets the lanes of `m`.
        #[inline(never)]
        pub(super) fn $name(to: &mut [$t; 32], v: &[$t; 32], m: u32) {
            for ((to, v), bit) in to.iter_mut().zip(v).zip(LANE) {
                let keep = if m & bit != 0 { 0 } else { $t::MAX };
                *to = *to & keep | *v & !keep;
            }
        }
    )*};
}
blends! {
    blend_u8: u8;
    blend_u16: u16;
    blend_u32: u32;
    blend_u64: u64;
    blend_u128: u128;
}

/// The lanes whose byte is one. All other bytes must be zero.
#[inline(never)]
pub(super) fn mask(lanes: &[u8; 32]) -> u32 {
    let (words, _) = lanes.as_chunks::<8>();
    words.iter().rev().fold(0, |m, bytes| {
        // moves bit 0 of byte k to bit 56 + k
        let bits = u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        m << 8 | bits as u32
    })
}

/// The lanes whose word is all ones. All other words must be zero.
#[inline(always)]
pub(super) fn mask_of_words(lanes: &[u32; 32]) -> u32 {
    lanes.iter().zip(LANE).fold(0, |m, (v, bit)| m | v & bit)
}

/// Words that are all ones in the lanes of `m`, else zero.
#[inline(always)]
pub(super) fn words_of_mask(m: u32) -> [u32; 32] {
    array(|l| (m >> l & 1).wrapping_neg())
}

/// The integer parts of numbers below 2^31.
#[inline(always)]
pub(super) fn truncate(v: &[f32; 8]) -> [i32; 8] {
    v.map(|v| v as i32)
}

/// The integer parts of f64 below 2^31.
#[inline(always)]
pub(super) fn truncate_f64(v: &[f64; 8]) -> [i32; 8] {
    v.map(|v| v as i32)
}

/// The greater of `most` and `a + b`, for each b.
#[inline(always)]
pub(super) fn raise(most: &[i16; 8], a: i16, b: &[i16; 8]) -> [i16; 8] {
    let mut out = *most;
    for (out, b) in out.iter_mut().zip(b) {
        *out = (*out).max(a.wrapping_add(*b));
    }
    out
}

/// The greater of `most` and `a + b` for each b, of words.
#[inline(always)]
pub(super) fn raise_words(most: &[i32; 8], a: i32, b: &[i32; 8]) -> [i32; 8] {
    let mut out = *most;
    for (out, b) in out.iter_mut().zip(b) {
        *out = (*out).max(a.wrapping_add(*b));
    }
    out
}

/// Two f16 of each word to f32, side by side.
#[inline(always)]
pub(super) fn widen(words: &[u32; 4]) -> [f32; 8] {
    array(|i| f16_to_f32((words[i / 2] >> (16 * (i % 2))) as u16))
}

/// Two f16 of each word to f32: the lower ones of all words, then the upper ones.
#[inline(always)]
pub(super) fn widen_apart(words: &[u32; 8]) -> [[f32; 8]; 2] {
    [array(|i| f16_to_f32(words[i] as u16)), array(|i| f16_to_f32((words[i] >> 16) as u16))]
}

/// `sums + a * b`, for each b.
#[inline(always)]
pub(super) fn multiply_add(sums: &[f32; 8], a: f32, b: &[f32; 8]) -> [f32; 8] {
    array(|i| sums[i] + a * b[i])
}

/// Columns as rows.
#[inline(always)]
pub(super) fn transpose(rows: &[[u32; 4]; 4]) -> [[u32; 4]; 4] {
    array(|i| array(|j| rows[j][i]))
}

/// An array from a function of the index. `std::array::from_fn` is not always inlined, and then its function is compiled without the
/// instruction set of the caller.
#[inline(always)]
pub(crate) fn array<T: Copy + Default, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut all = [T::default(); N];
    for (i, to) in all.iter_mut().enumerate() {
        *to = f(i);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_the_bits_of_its_lanes() {
        for m in [0u32, 1, 0x8000_0001, 0xdead_beef, 0x0102_0304, u32::MAX] {
            assert_eq!(mask(&std::array::from_fn(|l| (m >> l & 1) as u8)), m);
        }
    }
}
