//! Loops over the active lanes of a warp.

/// Runs `f` for every lane of `mask`. The full mask has a loop of its own, without tests, that LLVM can turn into vectors.
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

/// Times that a lane goes round a loop alone before others have their turn.
pub const ALONE: u32 = 256;
