//! What instructions compute, as functions of numbers: arithmetic, conversions, sums of matrix products, and values of 32 lanes.
//! Nothing here knows the machine or its faults.

pub mod accumulation;
pub mod arith;
pub mod float16;
pub mod lanes;
pub mod matrix;
pub mod packed;
pub mod qual;
pub(crate) mod simd;
