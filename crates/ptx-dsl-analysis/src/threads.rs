//! Sets of the threads of a CTA.

/// A CTA has at most that many threads (PTX ISA 11.4).
pub const THREADS: usize = 1024;

/// A set of threads by their linear number.
pub type Set = [u64; THREADS / 64];

/// Every thread.
pub const ALL: Set = [u64::MAX; THREADS / 64];

/// Adds the threads of one set to another.
pub fn union_with(to: &mut Set, from: &Set) {
    for (k, word) in from.iter().enumerate() {
        to[k] |= word;
    }
}

/// Have the two sets no thread in common?
pub fn disjoint(a: &Set, b: &Set) -> bool {
    let mut common = 0;
    for (k, word) in a.iter().enumerate() {
        common |= word & b[k];
    }
    common == 0
}

/// Is the thread in the set?
pub fn has_thread(set: &Set, t: usize) -> bool {
    set[t / 64] >> (t % 64) & 1 == 1
}

/// Is none of the `n` threads of a CTA in the set?
pub fn is_empty(set: &Set, n: usize) -> bool {
    !(0..n).any(|t| has_thread(set, t))
}

/// The first of the `n` threads of a CTA that is not in the set.
pub fn missing(set: &Set, n: usize) -> Option<usize> {
    (0..n).find(|t| !has_thread(set, *t))
}

/// Is the number the same in all lanes of each warp?
pub fn by_warp(t: &[u32]) -> bool {
    t.chunks(32).all(|warp| warp.iter().all(|n| *n == warp[0]))
}

/// Does the set hold whole warps only?
pub fn by_warp_set(s: &Set) -> bool {
    s.iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]).all(|warp| matches!(warp, 0 | u32::MAX))
}
