//! What differs between instruction sets inside emitted code: the trait [`Level`] and its portable implementation.

use super::bits::{self, blend_u32, blend_u64};

/// The instruction set that a kernel's step is compiled for. Lane loops need nothing from it, the width of their vectors
/// follows from the function they are inlined into; the results are the same bits on every level.
pub trait Level: Copy + 'static {
    /// `f32::mul_add` is an instruction.
    const FMA: bool;
    /// The mask of lanes whose byte is one; all others are zero.
    #[inline(always)]
    fn mask(lanes: &[u8; 32]) -> u32 {
        bits::mask(lanes)
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
    /// The elements of a row at these places, of which the lowest five bits count.
    #[inline(always)]
    fn pick(row: &[u32; 32], at: &[u32; 32]) -> [u32; 32] {
        at.map(|at| row[at as usize & 31])
    }
    /// 32, the lanes of a warp: where vectors are wide loops over them are laid out flat, elsewhere they stay loops, of this
    /// many rows of eight. In development they stay loops, too: rustc makes no vectors there, and each instruction would be 32.
    #[inline(always)]
    fn lanes(rows: u8) -> usize {
        if Self::FMA && !cfg!(debug_assertions) { 32 } else { (rows as usize).min(4) * 8 }
    }
}

/// What the target has without being asked: SSE2 on x86-64.
#[derive(Debug, Clone, Copy)]
pub struct Base;

impl Level for Base {
    const FMA: bool = false;
}
