//! How products of matrices are summed.

/// How matrix instructions add products of floating-point numbers. The manual leaves order and precision open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Numerics {
    /// As the tensor cores of the target in the header: several products and the accumulator at once, aligned and truncated. On
    /// `sm_90a` the bits are those of an H200.
    #[default]
    Exact,
    /// In f32, one product after the other, each sum rounded to nearest even, the accumulator last: faster.
    Fast,
}
