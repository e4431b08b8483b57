//! The accumulation modes of matrix instructions.

/// The mode in which matrix instructions accumulate floating-point products. The manual leaves order and precision open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Numerics {
    /// Accumulation of the tensor cores of the target in the header: several products and the accumulator are aligned, truncated
    /// and added at once. On `sm_90a` the bits are those of an H200.
    #[default]
    Exact,
    /// Sequential accumulation in f32, which is faster: one product after the other, each sum rounded to nearest even, the
    /// accumulator last.
    Fast,
}
