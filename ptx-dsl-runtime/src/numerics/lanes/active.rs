//! Loops over the active lanes of a warp.

/// Runs `f` for every lane of `mask`. The full mask has a branch-free loop of its own, which LLVM can vectorise.
#[inline(always)]
pub fn lanes(mask: u32, mut f: impl FnMut(usize)) {
    if mask == u32::MAX {
        for l in 0..32 {
            f(l);
        }
    } else {
        some(mask, f);
    }
}

#[inline(always)]
fn some(mut mask: u32, mut f: impl FnMut(usize)) {
    while mask != 0 {
        f(mask.trailing_zeros() as usize);
        mask &= mask - 1;
    }
}

/// The most iterations of a lane-serial loop before other lanes have a turn.
pub const ALONE: u32 = 256;

/// The lanes for which `f` holds.
#[inline(always)]
pub fn mask_by(f: impl Fn(usize) -> bool) -> u32 {
    let mut mask = 0;
    for l in 0..32 {
        mask |= u32::from(f(l)) << l;
    }
    mask
}
