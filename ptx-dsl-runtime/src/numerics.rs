//! Pure functions that compute the results of instructions: arithmetic, conversions, sums of matrix products, and values of 32
//! lanes. This floor knows neither the machine nor its faults.

pub mod accumulation;
pub mod arith;
pub mod float16;
pub mod lanes;
pub mod matrix;
pub mod packed;
pub mod qual;
pub(crate) mod simd;
