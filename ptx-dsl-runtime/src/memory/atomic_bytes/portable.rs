//! Atomic bytes on other processors, in Miri, and with `--cfg ptx_dsl_portable`: byte by byte, under a lock per 256 bytes.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes per lock.
const LINE: usize = 256;
static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

fn lock(s: &[AtomicU8]) -> MutexGuard<'static, ()> {
    LOCKS[s.as_ptr().addr() / LINE % LOCKS.len()].lock().unwrap_or_else(PoisonError::into_inner)
}

/// The parts of `s` that have one lock each, with where they start. An aligned element is in one of them.
fn lines(s: &[AtomicU8]) -> impl Iterator<Item = (usize, &[AtomicU8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = s.get(at..).filter(|rest| !rest.is_empty())?;
        let n = (LINE - rest.as_ptr().addr() % LINE).min(rest.len());
        at += n;
        Some((at - n, &rest[..n]))
    })
}

/// Loads one to eight bytes, little endian.
pub(crate) fn load(s: &[AtomicU8]) -> u64 {
    let mut b = [0; 8];
    let n = s.len().min(8);
    copy_in(&s[..n], &mut b[..n]);
    u64::from_le_bytes(b)
}

/// Stores as many bytes of `v` as there are in `s`.
pub(crate) fn store(s: &[AtomicU8], v: u64) {
    let n = s.len().min(8);
    copy_out(&v.to_le_bytes()[..n], &s[..n]);
}

/// Loads as many bytes as both have.
pub(crate) fn copy_in(s: &[AtomicU8], to: &mut [u8]) {
    for (at, line) in lines(s) {
        let _lock = lock(line);
        to.iter_mut().skip(at).zip(line).for_each(|(to, b)| *to = b.load(Relaxed));
    }
}

/// Stores as many bytes as both have.
pub(crate) fn copy_out(from: &[u8], s: &[AtomicU8]) {
    for (at, line) in lines(s) {
        let _lock = lock(line);
        from.iter().skip(at).zip(line).for_each(|(from, b)| b.store(*from, Relaxed));
    }
}

/// Compare-and-exchange: stores `new` if the bytes are `old`. Returns the old bytes.
pub(crate) fn exchange(s: &[AtomicU8], old: u64, new: u64) -> u64 {
    let seen = exchange_16(s, [old, 0], [new, 0]);
    seen[0]
}

/// Compares and exchanges up to sixteen bytes.
pub(crate) fn exchange_16(s: &[AtomicU8], old: [u64; 2], new: [u64; 2]) -> [u64; 2] {
    // an unaligned element spans two lines and takes the lock of the first: no aligned element overlaps all of it
    let _lock = lock(s);
    let mut seen = [0u64; 2];
    for (i, b) in s.iter().enumerate().take(16) {
        seen[i / 8] |= (b.load(Relaxed) as u64) << (i % 8 * 8);
    }
    if seen == old {
        for (i, b) in s.iter().enumerate().take(16) {
            b.store((new[i / 8] >> (i % 8 * 8)) as u8, Relaxed);
        }
    }
    seen
}

/// No faster way than [`exchange`].
pub(crate) fn add(_: &[AtomicU8], _: u64) -> Option<u64> {
    None
}
