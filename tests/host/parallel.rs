//! Clusters on several host threads: results do not depend on their number, and races have no other effects.

mod ends;
mod races;
mod same;

use ptx_dsl::prelude::*;

/// Numbers of threads to try: one, as many as processors or more, and one that does not divide a grid.
pub const THREADS: [usize; 4] = [1, 2, 4, 7];

/// Calls `run` with a host for each number of threads; all results must agree.
pub fn same<T: PartialEq + std::fmt::Debug>(run: impl Fn(&Host) -> T) -> T {
    let [first, rest @ ..] = THREADS.map(|n| (n, run(&Host::new().threads(n))));
    for (n, result) in rest {
        assert_eq!(result, first.1, "{n} threads");
    }
    first.1
}

/// Pseudo-random numbers (xorshift).
pub fn numbers(n: usize) -> Vec<u32> {
    let mut x = 0x2545_f491_4f6c_dd1du64;
    let mut draw = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 16) as u32
    };
    (0..n).map(|_| draw()).collect()
}
