//! Global memory shared by several host threads: relaxed atomic bytes.
//!
//! A kernel may race, and a race must not be undefined behaviour in Rust. So the only references to these bytes are
//! `&[AtomicU8]`. On x86-64 (`atomic_bytes/x86_64.rs`) they are accessed by inline assembly: a move stands for relaxed atomic
//! accesses of the single bytes, in some order, and a read-modify-write for the same under a lock that only these instructions
//! know. Whatever the processor does with overlapping accesses of any sizes is an outcome of that program. That an aligned
//! element is not torn is what kernels rely on; soundness does not. Elsewhere (`atomic_bytes/portable.rs`) it is that program:
//! byte by byte under a lock, sequentially consistent.

use std::sync::atomic::AtomicU8;

#[cfg(all(target_arch = "x86_64", not(any(miri, ptx_dsl_portable))))]
#[path = "atomic_bytes/x86_64.rs"]
mod machine;

#[cfg(not(all(target_arch = "x86_64", not(any(miri, ptx_dsl_portable)))))]
#[path = "atomic_bytes/portable.rs"]
mod machine;

pub(crate) use machine::{copy_in, copy_out, exchange, exchange_16, load, store};

/// The alignment of buffers: an element that is aligned for the kernel is then aligned for the processor.
pub(crate) const ALIGN: usize = align_of::<u128>();

/// Makes bytes accessible to several threads.
#[allow(unsafe_code)]
pub(crate) fn share(bytes: &mut [u8]) -> &[AtomicU8] {
    // SAFETY: `AtomicU8` has the size, alignment and valid values of `u8`. The mutable borrow lasts as long as the result, so
    // all other references to these bytes are `&[AtomicU8]` too.
    unsafe { &*(std::ptr::from_mut(bytes) as *const [AtomicU8]) }
}

/// Loads one to 32 bytes, little endian.
pub(crate) fn load_wide(s: &[AtomicU8]) -> [u64; 4] {
    if let 1 | 2 | 4 | 8 = s.len() {
        return [load(s), 0, 0, 0];
    }
    let mut bytes = [0; 32];
    let n = s.len().min(32);
    copy_in(&s[..n], &mut bytes[..n]);
    words(bytes)
}

/// Stores as many bytes of `v` as there are in `s`.
pub(crate) fn store_wide(s: &[AtomicU8], v: [u64; 4]) {
    if let 1 | 2 | 4 | 8 = s.len() {
        return store(s, v[0]);
    }
    let n = s.len().min(32);
    copy_out(&bytes(v)[..n], &s[..n]);
}

fn words(b: [u8; 32]) -> [u64; 4] {
    let mut v = [0; 4];
    for (v, b) in v.iter_mut().zip(b.chunks_exact(8)) {
        *v = b.iter().rev().fold(0, |v, &b| v << 8 | b as u64);
    }
    v
}

fn bytes(v: [u64; 4]) -> [u8; 32] {
    let mut b = [0; 32];
    for (b, v) in b.chunks_exact_mut(8).zip(v) {
        b.copy_from_slice(&v.to_le_bytes());
    }
    b
}

/// Applies `f` to each element of `size` bytes atomically, by compare-and-exchange loops. Returns the old value.
pub(crate) fn update(s: &[AtomicU8], size: usize, f: impl Fn([u64; 4]) -> [u64; 4]) -> [u64; 4] {
    let mut was = load_wide(s);
    for (i, element) in s.chunks_exact(size.max(1)).enumerate() {
        if size == 16 {
            let at = 2 * i;
            loop {
                let new = f(was);
                let seen = exchange_16(element, [was[at], was[at + 1]], [new[at], new[at + 1]]);
                let done = seen == [was[at], was[at + 1]];
                (was[at], was[at + 1]) = (seen[0], seen[1]);
                if done {
                    break;
                }
            }
            continue;
        }
        let (at, bit) = (i * size / 8, (i * size % 8 * 8) as u32);
        let all = u64::MAX >> (64 - 8 * size.min(8));
        loop {
            let (old, new) = (was[at] >> bit & all, f(was)[at] >> bit & all);
            let seen = exchange(element, old, new);
            was[at] = was[at] & !(all << bit) | seen << bit;
            if seen == old {
                break;
            }
        }
    }
    was
}

/// Adds to four or eight bytes. Returns the old value.
pub(crate) fn add(s: &[AtomicU8], v: u64) -> u64 {
    machine::add(s, v).unwrap_or_else(|| update(s, s.len(), |[old, ..]| [old.wrapping_add(v), 0, 0, 0])[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> [u128; 16] {
        let mut m = [0u128; 16];
        bytemuck::cast_slice_mut::<u128, u8>(&mut m).iter_mut().zip(1u32..).for_each(|(b, i)| *b = i as u8);
        m
    }

    /// The little-endian number that `n` bytes from `at` on are.
    fn number(at: usize, n: usize) -> u64 {
        (0..n).rev().fold(0, |v, i| v << 8 | (at + i + 1) as u8 as u64)
    }

    #[test]
    fn all_sizes_at_all_places() {
        for n in [1, 2, 4, 8] {
            for at in (0..40).step_by(if cfg!(miri) { 7 } else { 1 }) {
                let mut m = memory();
                let s = &share(bytemuck::cast_slice_mut(&mut m))[at..at + n];
                assert_eq!(load(s), number(at, n));
                store(s, 0x8877_6655_4433_2211);
                assert_eq!(load(s), 0x8877_6655_4433_2211 & (u64::MAX >> (64 - 8 * n)));
                let bytes: &[u8] = bytemuck::cast_slice(&m);
                assert_eq!(bytes[at + n], (at + n + 1) as u8, "the next byte stays");
                assert!(at == 0 || bytes[at - 1] == at as u8, "and the one before");
            }
        }
    }

    #[test]
    fn copies_of_any_length() {
        for n in (0..140).step_by(if cfg!(miri) { 23 } else { 1 }) {
            for at in [0, 1, 4, 17, 100] {
                let mut m = memory();
                let s = &share(bytemuck::cast_slice_mut(&mut m))[at..at + n];
                let mut b = vec![0; n];
                copy_in(s, &mut b);
                assert!(b.iter().zip(at + 1..).all(|(&b, i)| b == i as u8), "{n} bytes from {at}");
                b.iter_mut().for_each(|b| *b = !*b);
                copy_out(&b, s);
                let bytes: &[u8] = bytemuck::cast_slice(&m);
                for (i, &b) in bytes.iter().enumerate() {
                    let old = (i + 1) as u8;
                    assert_eq!(b, if (at..at + n).contains(&i) { !old } else { old }, "{n} bytes to {at}, byte {i}");
                }
            }
        }
    }

    #[test]
    fn wide_values_and_their_elements() {
        let mut m = memory();
        let s = share(bytemuck::cast_slice_mut(&mut m));
        assert_eq!(load_wide(&s[8..24]), [number(8, 8), number(16, 8), 0, 0]);
        store_wide(&s[32..64], [1, 2, 3, 4]);
        assert_eq!(load_wide(&s[32..64]), [1, 2, 3, 4]);
        assert_eq!(load_wide(&s[64..66]), [number(64, 2), 0, 0, 0]);
        // four of four bytes, each for itself
        store_wide(&s[0..16], [0xffff_ffff_0000_0001, 0x0000_0003_0000_0002, 0, 0]);
        let plus = |v: [u64; 4]| v.map(|v| (v as u32).wrapping_add(1) as u64 | ((v >> 32) + 1) << 32);
        let old = update(&s[0..16], 4, plus);
        assert_eq!(old, [0xffff_ffff_0000_0001, 0x0000_0003_0000_0002, 0, 0]);
        assert_eq!(load_wide(&s[0..16]), [0x0000_0000_0000_0002, 0x0000_0004_0000_0003, 0, 0]);
        // two of sixteen, the second at an odd place
        for at in [0, 40] {
            store_wide(&s[at..at + 16], [5, 6, 0, 0]);
            assert_eq!(exchange_16(&s[at..at + 16], [5, 7], [1, 1]), [5, 6]);
            assert_eq!(update(&s[at..at + 16], 16, |[a, b, ..]| [b, a + 10, 0, 0]), [5, 6, 0, 0]);
            assert_eq!(load_wide(&s[at..at + 16]), [6, 15, 0, 0]);
        }
        store(&s[0..4], u32::MAX as u64);
        store(&s[4..8], 9);
        assert_eq!((add(&s[0..4], 2), load(&s[0..8])), (u32::MAX as u64, 9 << 32 | 1));
        store(&s[8..16], u64::MAX);
        assert_eq!((add(&s[8..16], 3), load(&s[8..16])), (u64::MAX, 2));
        store(&s[16..18], 0xffff);
        assert_eq!((add(&s[16..18], 3), load(&s[16..18])), (0xffff, 2));
    }

    #[test]
    fn nothing_is_lost_between_threads() {
        const N: u64 = if cfg!(miri) { 20 } else { 20_000 };
        let mut m = [0u128; 2];
        let s = share(bytemuck::cast_slice_mut(&mut m));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..N {
                        add(&s[0..4], 1);
                        update(&s[4..6], 2, |[v, ..]| [v + 1, 0, 0, 0]);
                        update(&s[16..32], 16, |[a, b, ..]| [a + 1, b + 2, 0, 0]);
                        // sizes may overlap: some result, but no more than that
                        store(&s[8..12], load(&s[10..12]));
                        store(&s[8..16], load(&s[8..9]));
                    }
                });
            }
        });
        assert_eq!((load(&s[0..4]), load(&s[4..6])), (3 * N, 3 * N % 65536));
        assert_eq!(load_wide(&s[16..32]), [3 * N, 6 * N, 0, 0]);
    }

    #[test]
    fn a_torn_value_is_never_seen() {
        const N: u64 = if cfg!(miri) { 20 } else { 50_000 };
        let mut m = [0u128; 8];
        let s = share(bytemuck::cast_slice_mut(&mut m));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for i in 0..N {
                    // every word of it has equal halves
                    copy_out(bytemuck::cast_slice(&[i as u32 & 1; 16]), &s[..64]);
                    store(&s[64..72], (i & 1) * u64::MAX);
                }
            });
            for _ in 0..N {
                let mut row = [0u32; 16];
                copy_in(&s[..64], bytemuck::cast_slice_mut(&mut row));
                assert!(row.iter().all(|&v| v < 2), "{row:?}");
                assert!([0, u64::MAX].contains(&load(&s[64..72])));
            }
        });
    }
}
