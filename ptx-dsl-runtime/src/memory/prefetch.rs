//! Software prefetch: warps read consecutive rows, too far apart in time for the processor's own prefetcher.

/// Prefetch distance in bytes: what the next warps and the next CTA read.
pub(crate) const DISTANCE: usize = 3072;

/// Prefetches the `bytes` bytes that lie `distance` beyond `at`.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code)]
#[inline(always)]
pub(crate) fn prefetch(at: *const u8, bytes: usize, distance: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let first = at.wrapping_add(distance).cast::<i8>();
    for line in 0..bytes.div_ceil(64) {
        // SAFETY: a prefetch is a hint: it accesses nothing, whatever the address is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(64 * line)) }
    }
}

/// Prefetching does nothing on other processors.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub(crate) fn prefetch(_: *const u8, _: usize, _: usize) {}
