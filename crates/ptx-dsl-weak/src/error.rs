//! The limits of the search.

use std::fmt;

/// Runs of one thread.
pub const RUNS: usize = 20_000;
/// Ways in which the operations of one kind meet, or orders of them.
pub const ORDERS: usize = 20_000;
/// Steps of the search.
pub const STEPS: usize = 20_000_000;

/// Why a program is not searched: it is too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// A thread has too many runs.
    Runs {
        /// The thread.
        thread: usize,
        /// The number that is allowed.
        limit: usize,
    },
    /// An execution has more than 64 events.
    Events,
    /// A program has more than 128 values of locations.
    Values,
    /// Barrier operations, operations on mbarrier objects or fences have too many orders.
    Orders,
    /// A program has too many combinations of runs and of writes that reads could read from.
    Steps,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::Runs { thread, limit } => write!(f, "thread {thread} has more than {limit} runs"),
            Error::Events => f.write_str("an execution has more than 64 events"),
            Error::Values => f.write_str("locations have more than 128 values"),
            Error::Orders => f.write_str("barriers, mbarrier objects or `fence.sc` have too many orders"),
            Error::Steps => write!(f, "the search needs more than {STEPS} steps"),
        }
    }
}

impl std::error::Error for Error {}
