//! Clusters on several host threads: results do not depend on their number, and races have no other effects.

mod ends;
mod races;
mod same;

use ptx_dsl::prelude::*;
use ptx_dsl_test_support::random::Random;

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

/// Pseudo-random numbers, always the same.
pub fn numbers(n: usize) -> Vec<u32> {
    let mut random = Random::new(1);
    std::iter::repeat_with(|| random.word()).take(n).collect()
}
