//! Tensor maps: what `cp.async.bulk.tensor` has to know of a tensor in global memory (PTX ISA 5.5).

mod builder;
pub(crate) mod fields;
mod limits;
pub(crate) mod map;
#[cfg(test)]
mod tests;

pub use builder::TensorMapBuilder;
pub use fields::{ElementType, Fill, Interleave, L2Promotion, Swizzle};
pub use limits::TensorMapError;
pub use map::{Tensor, TensorMap};
