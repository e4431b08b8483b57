//! Code that the tests, benches and oracles of all crates share. The crate depends on none of them, so each of them can use it.

pub mod browser;
pub mod parallel;
pub mod ptxas;
pub mod random;
