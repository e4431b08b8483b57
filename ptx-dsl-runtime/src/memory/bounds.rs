//! The bounds and alignment checks of all accesses.
//!
//! `--cfg ptx_dsl_unchecked` removes them. Only the benches use it, to measure what the checks cost (`cargo xtask bench` builds
//! them a second time with it): in such a build a kernel that reaches outside of its memory is undefined behaviour. No feature
//! and no profile turns it on, and the build needs an environment variable too, so that stray flags do not turn it on either.

#[cfg(ptx_dsl_unchecked)]
const _: () = assert!(
    option_env!("PTX_DSL_UNCHECKED_BENCH").is_some(),
    "`--cfg ptx_dsl_unchecked` makes the host machine unsound and is for `cargo xtask bench` alone"
);

/// `n` bytes at `at`; `None` if they are not all inside.
#[cfg(not(ptx_dsl_unchecked))]
#[inline(always)]
pub(crate) fn part(memory: &[u8], at: usize, n: usize) -> Option<&[u8]> {
    memory.get(at..at.wrapping_add(n))
}

/// `n` bytes at `at`, to write; `None` if they are not all inside.
#[cfg(not(ptx_dsl_unchecked))]
#[inline(always)]
pub(crate) fn part_mut(memory: &mut [u8], at: usize, n: usize) -> Option<&mut [u8]> {
    memory.get_mut(at..at.wrapping_add(n))
}

#[cfg(ptx_dsl_unchecked)]
#[allow(unsafe_code)]
#[inline(always)]
pub(crate) fn part(memory: &[u8], at: usize, n: usize) -> Option<&[u8]> {
    // SAFETY: unchecked; the kernels of the benches stay inside.
    Some(unsafe { memory.get_unchecked(at..at.wrapping_add(n)) })
}

#[cfg(ptx_dsl_unchecked)]
#[allow(unsafe_code)]
#[inline(always)]
pub(crate) fn part_mut(memory: &mut [u8], at: usize, n: usize) -> Option<&mut [u8]> {
    // SAFETY: as above.
    Some(unsafe { memory.get_unchecked_mut(at..at.wrapping_add(n)) })
}

/// The offset of `n` bytes at `at` in a memory of `len` bytes; `None` if they are not all inside.
#[inline(always)]
pub(crate) fn offset_in(at: u64, len: usize, n: usize) -> Option<usize> {
    let rest = (len as u64).checked_sub(at)?;
    (cfg!(ptx_dsl_unchecked) || n as u64 <= rest).then_some(at as usize)
}

/// The bytes of a row for the lanes `m` of a warp. Checked in every build if some lanes are inactive: their addresses are
/// arbitrary.
#[inline(always)]
pub(crate) fn row(memory: &[u8], at: usize, n: usize, m: u32) -> Option<&[u8]> {
    if cfg!(ptx_dsl_unchecked) && m != u32::MAX { memory.get(at..at.wrapping_add(n)) } else { part(memory, at, n) }
}

/// Is the address a multiple of `size`, a power of two?
#[inline(always)]
pub(crate) fn aligned(addr: u64, size: usize) -> bool {
    cfg!(ptx_dsl_unchecked) || addr & (size as u64 - 1) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_overflows_are_outside() {
        let mut memory = [1, 2, 3, 4];
        assert_eq!(part(&memory, 1, 3), Some(&[2, 3, 4][..]));
        assert_eq!(part(&memory, 4, 0), Some(&[][..]));
        for (at, n) in [(1, 4), (4, 1), (5, 0), (usize::MAX, 1), (usize::MAX, 2), (2, usize::MAX)] {
            assert_eq!(part(&memory, at, n), None, "{at} {n}");
            assert_eq!(part_mut(&mut memory, at, n), None, "{at} {n}");
        }
        assert!(aligned(16, 8) && aligned(3, 1) && !aligned(12, 8));
    }
}
