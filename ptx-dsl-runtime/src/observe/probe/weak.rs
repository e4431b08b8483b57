//! Weak memory: a strong load may read from an older store than the last one.

use crate::observe::monitor::Access;

/// Bytes of a location, little endian.
pub type Bytes = [u64; 4];

/// A probe that knows which stores a strong load may read from. The machine asks for loads and stores of one lane, after
/// [`Monitor::memory`](crate::observe::monitor::Monitor::memory).
pub trait WeakMemory {
    /// The number of stores that a strong load may read from, or of positions that a strong store may take in coherence order.
    /// Memory has `latest`.
    fn choices(&mut self, access: &Access, latest: Bytes) -> usize;
    /// The load reads from this store, 0 being the last in coherence order. Returns what it reads, and whether that was outdated.
    fn load(&mut self, access: &Access, choice: usize) -> (Bytes, bool);
    /// The store takes this position, 0 being the last. Is it the last?
    fn store(&mut self, access: &Access, value: Bytes, choice: usize) -> bool;
}
