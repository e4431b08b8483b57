//! Telling the processor what will be read soon. Warp after warp reads row after row: a warp takes more instructions than the
//! processor looks ahead, so that it would find out about the next row only when it comes to it.

/// So many bytes further on is what the warps read that follow, and the next CTA.
pub(crate) const DISTANCE: usize = 4096;

/// Bytes of memory are read from `at` on: what lies `distance` further on is wanted soon.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code)]
#[inline(always)]
pub(crate) fn ahead(at: *const u8, bytes: usize, distance: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let first = at.wrapping_add(distance).cast::<i8>();
    for line in 0..bytes.div_ceil(64) {
        // SAFETY: a hint, which reads nothing, whatever the address is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(64 * line)) }
    }
}

/// Processors that are told nothing.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub(crate) fn ahead(_: *const u8, _: usize, _: usize) {}
