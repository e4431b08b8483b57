//! The levels of x86-64 with wide vectors: intrinsics where LLVM finds no good code by itself.

#![allow(unsafe_code)]

use super::bits::LANE;
use super::level::Level;
use std::arch::x86_64::*;

/// AVX-512 (F, BW, DQ, VL) with FMA and BMI.
///
/// The type cannot be named outside of this crate. Only the wrappers of `engines/compiled/instruction_sets.rs` and `numerics/simd.rs` instantiate
/// code with it, and they run only on processors with these features: the `unsafe` blocks below rely on that.
#[cfg(not(debug_assertions))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512;

/// AVX2 with FMA and BMI. Only the same wrappers instantiate code with this level, so the safety argument of `Avx512` holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2;

#[inline(always)]
fn mask(lanes: &[u8; 32]) -> u32 {
    let lanes: __m256i = bytemuck::cast(*lanes);
    // SAFETY: only code of the two levels calls it, and both have AVX2.
    unsafe { !_mm256_movemask_epi8(_mm256_cmpeq_epi8(lanes, _mm256_setzero_si256())) as u32 }
}

/// Truncates to integers by the instruction: `as` would clamp values from 2^31 on, which takes five more instructions.
#[inline(always)]
fn truncate(v: &[f32; 8]) -> [i32; 8] {
    let v: __m256 = bytemuck::cast(*v);
    // SAFETY: only code of the two levels calls it, and both have AVX.
    bytemuck::cast(unsafe { _mm256_cvttps_epi32(v) })
}

#[inline(always)]
fn truncate_f64(v: &[f64; 8]) -> [i32; 8] {
    let [low, high]: [__m256d; 2] = bytemuck::cast(*v);
    // SAFETY: as above.
    bytemuck::cast(unsafe { [_mm256_cvttpd_epi32(low), _mm256_cvttpd_epi32(high)] })
}

/// Raises `most` to `a + b`, element by element. LLVM turns a plain loop over `b` into scalar code when it is inside a loop over
/// `a`.
#[inline(always)]
fn raise(most: &[i16; 8], a: i16, b: &[i16; 8]) -> [i16; 8] {
    let (most, b): (__m128i, __m128i) = (bytemuck::cast(*most), bytemuck::cast(*b));
    // SAFETY: all of x86-64 has SSE2.
    bytemuck::cast(unsafe { _mm_max_epi16(most, _mm_add_epi16(_mm_set1_epi16(a), b)) })
}

/// The greater of `most` and `a + b` for each b, of words.
#[inline(always)]
fn raise_words(most: &[i32; 8], a: i32, b: &[i32; 8]) -> [i32; 8] {
    let (most, b): (__m256i, __m256i) = (bytemuck::cast(*most), bytemuck::cast(*b));
    // SAFETY: only code of the two levels calls it, and both have AVX2.
    bytemuck::cast(unsafe { _mm256_max_epi32(most, _mm256_add_epi32(_mm256_set1_epi32(a), b)) })
}

#[inline(always)]
fn widen(words: &[u32; 4]) -> [f32; 8] {
    // SAFETY: as above, and both have F16C.
    bytemuck::cast(unsafe { _mm256_cvtph_ps(bytemuck::cast(*words)) })
}

#[inline(always)]
fn widen_apart(words: &[u32; 8]) -> [[f32; 8]; 2] {
    let [first, second]: [__m128i; 2] = bytemuck::cast(*words);
    // SAFETY: as above.
    bytemuck::cast(unsafe {
        let half = _mm_set1_epi32(0xffff);
        let low = _mm_packus_epi32(_mm_and_si128(first, half), _mm_and_si128(second, half));
        let high = _mm_packus_epi32(_mm_srli_epi32::<16>(first), _mm_srli_epi32::<16>(second));
        [_mm256_cvtph_ps(low), _mm256_cvtph_ps(high)]
    })
}

/// Multiplies and adds by intrinsics: LLVM makes vectors of two rows of plain loops over rows, whose factors it has to put together.
#[inline(always)]
fn multiply_add(sums: &[f32; 8], a: f32, b: &[f32; 8]) -> [f32; 8] {
    let (sums, b): (__m256, __m256) = (bytemuck::cast(*sums), bytemuck::cast(*b));
    // SAFETY: only code of the two levels calls it, and both have FMA.
    bytemuck::cast(unsafe { _mm256_fmadd_ps(_mm256_set1_ps(a), b, sums) })
}

#[inline(always)]
fn transpose(rows: &[[u32; 4]; 4]) -> [[u32; 4]; 4] {
    let [a, b, c, d]: [__m128i; 4] = bytemuck::cast(*rows);
    // SAFETY: all of x86-64 has SSE2.
    bytemuck::cast(unsafe {
        let (low, high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        let (lower, higher) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
        [
            _mm_unpacklo_epi64(low, lower),
            _mm_unpackhi_epi64(low, lower),
            _mm_unpacklo_epi64(high, higher),
            _mm_unpackhi_epi64(high, higher),
        ]
    })
}

/// Defines the methods that both levels share.
macro_rules! both {
    () => {
        #[inline(always)]
        fn mask(lanes: &[u8; 32]) -> u32 {
            mask(lanes)
        }

        #[inline(always)]
        fn truncate(v: &[f32; 8]) -> [i32; 8] {
            truncate(v)
        }

        #[inline(always)]
        fn truncate_f64(v: &[f64; 8]) -> [i32; 8] {
            truncate_f64(v)
        }

        #[inline(always)]
        fn raise(most: &[i16; 8], a: i16, b: &[i16; 8]) -> [i16; 8] {
            raise(most, a, b)
        }

        #[inline(always)]
        fn raise_words(most: &[i32; 8], a: i32, b: &[i32; 8]) -> [i32; 8] {
            raise_words(most, a, b)
        }

        #[inline(always)]
        fn widen(words: &[u32; 4]) -> [f32; 8] {
            widen(words)
        }

        #[inline(always)]
        fn widen_apart(words: &[u32; 8]) -> [[f32; 8]; 2] {
            widen_apart(words)
        }

        #[inline(always)]
        fn multiply_add(sums: &[f32; 8], a: f32, b: &[f32; 8]) -> [f32; 8] {
            multiply_add(sums, a, b)
        }

        #[inline(always)]
        fn transpose(rows: &[[u32; 4]; 4]) -> [[u32; 4]; 4] {
            transpose(rows)
        }
    };
}

/// The offsets of words in a memory of this many bytes that begins at `base`. `None` if one of a lane of `m` is outside or misaligned.
#[cfg(not(debug_assertions))]
#[inline(always)]
fn offsets_of_words(len: usize, base: u64, addr: &[u64; 32], m: u32) -> Option<[[u64; 8]; 4]> {
    let last = len.checked_sub(4)?;
    let (mut offsets, mut wrong) = ([[0; 8]; 4], 0);
    for ((to, addr), eight) in offsets.iter_mut().zip(addr.chunks_exact(8)).zip(m.to_le_bytes()) {
        // SAFETY: only code of the level calls it, which has AVX-512F, and the slices are 64 bytes long.
        unsafe {
            let addr = _mm512_loadu_si512(addr.as_ptr().cast());
            let offset = _mm512_sub_epi64(addr, _mm512_set1_epi64(base.cast_signed()));
            wrong |= _mm512_mask_cmpgt_epu64_mask(eight, offset, _mm512_set1_epi64(last as i64));
            wrong |= _mm512_mask_test_epi64_mask(eight, addr, _mm512_set1_epi64(3));
            _mm512_storeu_si512(to.as_mut_ptr().cast(), offset);
        }
    }
    (wrong == 0).then_some(offsets)
}

#[cfg(not(debug_assertions))]
impl Level for Avx512 {
    const FMA: bool = true;
    const FEW: u32 = 10;

    both!();

    #[inline(always)]
    fn mask_of_words(lanes: &[u32; 32]) -> u32 {
        // SAFETY: the level has AVX-512F, and each half of the lanes is 64 bytes long.
        let [low, high] = unsafe {
            let low = _mm512_loadu_si512(lanes.as_ptr().cast());
            let high = _mm512_loadu_si512(lanes[16..].as_ptr().cast());
            [_mm512_test_epi32_mask(low, low), _mm512_test_epi32_mask(high, high)]
        };
        u32::from(low) | u32::from(high) << 16
    }

    #[inline(always)]
    fn words_of_mask(m: u32) -> [u32; 32] {
        let mut out = [0; 32];
        // SAFETY: as above.
        unsafe {
            _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_maskz_set1_epi32(m as u16, -1));
            _mm512_storeu_si512(out[16..].as_mut_ptr().cast(), _mm512_maskz_set1_epi32((m >> 16) as u16, -1));
        }
        out
    }

    #[inline(always)]
    fn pick(row: &[u32; 32], at: &[u32; 32]) -> [u32; 32] {
        let mut out = [0; 32];
        for half in [0, 16] {
            // SAFETY: the level has AVX-512F; the row and what is picked are 128 bytes long, each half of `at` is 64.
            unsafe {
                let (low, high) =
                    (_mm512_loadu_si512(row.as_ptr().cast()), _mm512_loadu_si512(row[16..].as_ptr().cast()));
                let at = _mm512_loadu_si512(at[half..].as_ptr().cast());
                _mm512_storeu_si512(out[half..].as_mut_ptr().cast(), _mm512_permutex2var_epi32(low, at, high));
            }
        }
        out
    }

    #[inline(always)]
    fn gather_at(memory: &[u8], base: u64, addr: &[u64; 32], m: u32, to: &mut [u32; 32]) -> Option<bool> {
        let Some(offsets) = offsets_of_words(memory.len(), base, addr, m) else { return Some(false) };
        for ((to, offsets), eight) in to.chunks_exact_mut(8).zip(&offsets).zip(m.to_le_bytes()) {
            // SAFETY: the level has AVX-512F and VL, the slices are 32 and 64 bytes long, and what the lanes load is inside.
            unsafe {
                let offset = _mm512_loadu_si512(offsets.as_ptr().cast());
                let old = _mm256_loadu_si256(to.as_ptr().cast());
                let new = _mm512_mask_i64gather_epi32::<1>(old, eight, offset, memory.as_ptr().cast());
                _mm256_storeu_si256(to.as_mut_ptr().cast(), new);
            }
        }
        Some(true)
    }

    #[inline(always)]
    fn scatter_at(memory: &mut [u8], base: u64, addr: &[u64; 32], m: u32, v: &[u32; 32]) -> Option<bool> {
        let Some(offsets) = offsets_of_words(memory.len(), base, addr, m) else { return Some(false) };
        for ((v, offsets), eight) in v.chunks_exact(8).zip(&offsets).zip(m.to_le_bytes()) {
            // SAFETY: as above; lanes that store to one place do so in their order.
            unsafe {
                let offset = _mm512_loadu_si512(offsets.as_ptr().cast());
                let v = _mm256_loadu_si256(v.as_ptr().cast());
                _mm512_mask_i64scatter_epi32::<1>(memory.as_mut_ptr().cast(), eight, offset, v);
            }
        }
        Some(true)
    }

    #[inline(always)]
    fn put_u32(to: &mut [u32; 32], v: &[u32; 32], m: u32) {
        for ((to, v), half) in to.chunks_exact_mut(16).zip(v.chunks_exact(16)).zip([m as u16, (m >> 16) as u16]) {
            // SAFETY: the level has AVX-512F, and both slices are 64 bytes long.
            unsafe {
                let (old, new) = (_mm512_loadu_si512(to.as_ptr().cast()), _mm512_loadu_si512(v.as_ptr().cast()));
                _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_mask_mov_epi32(old, half, new));
            }
        }
    }

    #[inline(always)]
    fn put_u64(to: &mut [u64; 32], v: &[u64; 32], m: u32) {
        for ((to, v), eight) in to.chunks_exact_mut(8).zip(v.chunks_exact(8)).zip(m.to_le_bytes()) {
            // SAFETY: as above.
            unsafe {
                let (old, new) = (_mm512_loadu_si512(to.as_ptr().cast()), _mm512_loadu_si512(v.as_ptr().cast()));
                _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_mask_mov_epi64(old, eight, new));
            }
        }
    }
}

impl Level for Avx2 {
    const FMA: bool = true;

    both!();

    #[inline(always)]
    fn mask_of_words(lanes: &[u32; 32]) -> u32 {
        let eights: [__m256; 4] = bytemuck::cast(*lanes);
        // SAFETY: the level has AVX.
        eights.into_iter().rev().fold(0, |m, eight| m << 8 | unsafe { _mm256_movemask_ps(eight) } as u32)
    }

    #[inline(always)]
    fn words_of_mask(m: u32) -> [u32; 32] {
        let mut out = [0; 32];
        for (out, bit) in out.iter_mut().zip(LANE) {
            *out = if m & bit != 0 { u32::MAX } else { 0 };
        }
        out
    }

    #[inline(always)]
    fn pick(row: &[u32; 32], at: &[u32; 32]) -> [u32; 32] {
        let mut out = [0; 32];
        // The row is loaded once, and no closure is called: one that is not inlined would not have AVX2, and call every instruction.
        // SAFETY: the level has AVX2. Each quarter of the row, of `at` and of `out` is 32 bytes long.
        unsafe {
            let quarters = row.as_ptr().cast::<__m256i>();
            let first = _mm256_loadu_si256(quarters);
            let second = _mm256_loadu_si256(quarters.add(1));
            let third = _mm256_loadu_si256(quarters.add(2));
            let fourth = _mm256_loadu_si256(quarters.add(3));
            for quarter in 0..4 {
                let at = _mm256_loadu_si256(at.as_ptr().cast::<__m256i>().add(quarter));
                let a = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(first, at));
                let b = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(second, at));
                let c = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(third, at));
                let d = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(fourth, at));
                // the upper two of the five bits say from which quarter
                let odd = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(at));
                let upper = _mm256_castsi256_ps(_mm256_slli_epi32::<27>(at));
                let picked = _mm256_blendv_ps(_mm256_blendv_ps(a, b, odd), _mm256_blendv_ps(c, d, odd), upper);
                _mm256_storeu_si256(out.as_mut_ptr().cast::<__m256i>().add(quarter), _mm256_castps_si256(picked));
            }
        }
        out
    }

    #[inline(always)]
    fn put_u32(to: &mut [u32; 32], v: &[u32; 32], m: u32) {
        for ((to, v), eight) in to.chunks_exact_mut(8).zip(v.chunks_exact(8)).zip(m.to_le_bytes()) {
            // SAFETY: the level has AVX2, and both slices are 32 bytes long.
            unsafe {
                let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                let set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(eight.into()), bits), bits);
                let (old, new) = (_mm256_loadu_si256(to.as_ptr().cast()), _mm256_loadu_si256(v.as_ptr().cast()));
                _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm256_blendv_epi8(old, new, set));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::lanes::{Base, put};

    fn same<L: Level>() {
        for m in [0u32, 1, 0x8000_0001, 0xdead_beef, 0x0102_0304, u32::MAX] {
            let lanes: [u8; 32] = std::array::from_fn(|l| (m >> l & 1) as u8);
            assert_eq!(L::mask(&lanes), m);
            let words = lanes.map(|l| u32::from(l).wrapping_neg());
            assert_eq!(L::words_of_mask(m), words, "{m:08x}");
            assert_eq!(L::mask_of_words(&words), m);
            let numbers: [f64; 8] = std::array::from_fn(|i| f64::from(m.rotate_left(i as u32) as i32) / 3.0);
            assert_eq!(L::truncate_f64(&numbers), numbers.map(|v| v as i32), "{m:08x}");
            let numbers = numbers.map(|v| v as f32);
            assert_eq!(L::truncate(&numbers), numbers.map(|v| v as i32), "{m:08x}");
            let (mut a, mut b) = ([1u32; 32], [1u32; 32]);
            put::<L, _>(&mut a, &std::array::from_fn(|l| l as u32 + 2), m);
            put::<Base, _>(&mut b, &std::array::from_fn(|l| l as u32 + 2), m);
            assert_eq!(a, b, "{m:08x}");
            let (mut a, mut b) = ([1u64 << 40; 32], [1u64 << 40; 32]);
            put::<L, _>(&mut a, &std::array::from_fn(|l| l as u64 + 2), m);
            put::<Base, _>(&mut b, &std::array::from_fn(|l| l as u64 + 2), m);
            assert_eq!(a, b, "{m:08x}");
            let row = std::array::from_fn(|l| 1000 + l as u32);
            let at = std::array::from_fn(|l| m.rotate_left(3 * l as u32).wrapping_mul(l as u32 | 1));
            assert_eq!(L::pick(&row, &at), at.map(|at| 1000 + (at & 31)), "{m:08x}");
            let words = std::array::from_fn(|i| m.rotate_left(4 * i as u32) as i32 >> 3);
            let most = words.map(|w| -w);
            assert_eq!(L::raise_words(&most, 77, &words), Base::raise_words(&most, 77, &words), "{m:08x}");
            let squares = std::array::from_fn(|i| std::array::from_fn(|j| m.wrapping_mul(1 + (i * 4 + j) as u32)));
            assert_eq!(L::transpose(&squares), Base::transpose(&squares), "{m:08x}");
            let words: [u32; 8] = std::array::from_fn(|i| m.rotate_left(5 * i as u32) & 0xfbff_fbff);
            assert_eq!(L::widen_apart(&words), Base::widen_apart(&words), "{m:08x}");
            let [first, second]: [[u32; 4]; 2] = bytemuck::cast(words);
            assert_eq!(L::widen(&first), Base::widen(&first), "{m:08x}");
            let (sums, factors) = (Base::widen(&first), Base::widen(&second));
            for a in factors {
                assert_eq!(L::multiply_add(&sums, a, &factors), Base::multiply_add(&sums, a, &factors), "{m:08x}");
            }
        }
    }

    #[test]
    fn all_levels_put_the_same_lanes() {
        if is_x86_feature_detected!("avx2") {
            same::<Avx2>();
        }
        #[cfg(not(debug_assertions))]
        if is_x86_feature_detected!("avx512f") {
            same::<Avx512>();
        }
    }
}
