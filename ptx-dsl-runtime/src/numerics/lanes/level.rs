//! The trait [`Level`], which stands for the instruction set that emitted code is compiled for, and its portable implementation.

use super::bits::{self, blend_u32, blend_u64};

/// The instruction set that a kernel's step is compiled for. Plain lane loops do not need it: their vector width follows from the
/// `#[target_feature]` function they are inlined into. All levels give the same bits.
pub trait Level: Copy + 'static {
    /// Whether `f32::mul_add` compiles to one instruction.
    const FMA: bool;
    /// Below this number of active lanes, each lane is loaded separately; 32 where gather instructions do not pay.
    const FEW: u32 = 32;
    /// The lanes whose byte is one. All other bytes must be zero.
    #[inline(always)]
    fn mask(lanes: &[u8; 32]) -> u32 {
        bits::mask(lanes)
    }
    /// The lanes whose word is all ones. All other words must be zero.
    #[inline(always)]
    fn mask_of_words(lanes: &[u32; 32]) -> u32 {
        bits::mask_of_words(lanes)
    }
    /// Words that are all ones in the lanes of `m`, else zero.
    #[inline(always)]
    fn words_of_mask(m: u32) -> [u32; 32] {
        bits::words_of_mask(m)
    }
    /// Sets the lanes of `m`.
    #[inline(always)]
    fn put_u32(to: &mut [u32; 32], v: &[u32; 32], m: u32) {
        blend_u32(to, v, m);
    }
    /// Sets the lanes of `m`.
    #[inline(always)]
    fn put_u64(to: &mut [u64; 32], v: &[u64; 32], m: u32) {
        blend_u64(to, v, m);
    }
    /// Permutes a row: lane `l` gets element `at[l] % 32`.
    #[inline(always)]
    fn pick(row: &[u32; 32], at: &[u32; 32]) -> [u32; 32] {
        at.map(|at| row[at as usize & 31])
    }
    /// Loads words into the lanes of `m`, at addresses in a memory that begins at `base`. False, with nothing done, if one is outside
    /// or misaligned; `None` if there are no instructions for it.
    #[inline(always)]
    fn gather_at(_: &[u8], _: u64, _: &[u64; 32], _: u32, _: &mut [u32; 32]) -> Option<bool> {
        None
    }
    /// Stores words of the lanes of `m`, in their order; otherwise the same.
    #[inline(always)]
    fn scatter_at(_: &mut [u8], _: u64, _: &[u64; 32], _: u32, _: &[u32; 32]) -> Option<bool> {
        None
    }
    /// The integer parts of numbers below 2^31.
    #[inline(always)]
    fn truncate(v: &[f32; 8]) -> [i32; 8] {
        bits::truncate(v)
    }
    /// The integer parts of f64 below 2^31.
    #[inline(always)]
    fn truncate_f64(v: &[f64; 8]) -> [i32; 8] {
        bits::truncate_f64(v)
    }
    /// The greater of `most` and `a + b`, for each b.
    #[inline(always)]
    fn raise(most: &[i16; 8], a: i16, b: &[i16; 8]) -> [i16; 8] {
        bits::raise(most, a, b)
    }
    /// The greater of `most` and `a + b` for each b, of words.
    #[inline(always)]
    fn raise_words(most: &[i32; 8], a: i32, b: &[i32; 8]) -> [i32; 8] {
        bits::raise_words(most, a, b)
    }
    /// Two f16 of each word to f32, side by side, the lower one first. A NaN stays some NaN.
    #[inline(always)]
    fn widen(words: &[u32; 4]) -> [f32; 8] {
        bits::widen(words)
    }
    /// Two f16 of each word to f32: the lower ones of all words, then the upper ones.
    #[inline(always)]
    fn widen_apart(words: &[u32; 8]) -> [[f32; 8]; 2] {
        bits::widen_apart(words)
    }
    /// `sums + a * b`, for each b, where the product is exact: it does not matter whether it is rounded.
    #[inline(always)]
    fn multiply_add(sums: &[f32; 8], a: f32, b: &[f32; 8]) -> [f32; 8] {
        bits::multiply_add(sums, a, b)
    }
    /// Columns as rows.
    #[inline(always)]
    fn transpose(rows: &[[u32; 4]; 4]) -> [[u32; 4]; 4] {
        bits::transpose(rows)
    }
    /// 32, the lanes of a warp, as the bound of lane loops. A constant with wide vectors, so that LLVM unrolls the loops;
    /// elsewhere `rows` times 8 at run time, so that they stay loops. They stay loops in development builds too, which do not
    /// vectorise.
    #[inline(always)]
    fn lanes(rows: u8) -> usize {
        if Self::FMA && !cfg!(debug_assertions) { 32 } else { (rows as usize).min(4) * 8 }
    }
}

/// The target's base instruction set: SSE2 on x86-64.
#[derive(Debug, Clone, Copy)]
pub struct Base;

impl Level for Base {
    const FMA: bool = false;
}
