//! Questions about one instruction, and about a set of threads.

use super::lanes::Set;
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::qualifier::q;

/// The operand of this name.
pub(super) fn value<'h>(i: &'h Instr, name: &str) -> Option<&'h Operand> {
    match i.operand(name) {
        Some(arg) => Some(&arg.value),
        None => None,
    }
}

/// How many elements it moves: 1 without `.v2` and the like.
pub(super) fn vector(i: &Instr) -> u32 {
    for (q, n) in [(q::v2, 2), (q::v4, 4), (q::v8, 8)] {
        if i.has(q) {
            return n;
        }
    }
    1
}

/// Adds the threads of one set to another.
pub(super) fn unite(to: &mut Set, from: &Set) {
    for (k, word) in from.iter().enumerate() {
        to[k] |= word;
    }
}

/// Have the two sets no thread in common?
pub(super) fn disjoint(a: &Set, b: &Set) -> bool {
    let mut common = 0;
    for (k, word) in a.iter().enumerate() {
        common |= word & b[k];
    }
    common == 0
}

/// Is the thread in the set?
pub(super) fn has_thread(set: &Set, t: usize) -> bool {
    set[t / 64] >> (t % 64) & 1 == 1
}

/// Is none of the `n` threads of a CTA in the set?
pub(super) fn nobody(set: &Set, n: usize) -> bool {
    for t in 0..n {
        if has_thread(set, t) {
            return false;
        }
    }
    true
}

/// The first of the `n` threads of a CTA that is not in the set.
pub(super) fn missing(set: &Set, n: usize) -> Option<usize> {
    let mut t = 0;
    while t < n && has_thread(set, t) {
        t += 1;
    }
    if t < n { Some(t) } else { None }
}
