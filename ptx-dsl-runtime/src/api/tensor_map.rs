//! Tensor maps: what `cp.async.bulk.tensor` has to know of a tensor in global memory (PTX ISA 5.5).

mod builder;
mod layout;
mod limits;
pub(crate) mod map;
#[cfg(test)]
mod tests;

pub use crate::memory::tensor_map::{ElementType, Fields, Fill, Interleave, L2Promotion, Mode, PixelBox, Swizzle};
pub use builder::TensorMapBuilder;
pub use layout::Layout;
pub use limits::TensorMapError;
pub use map::{Tensor, TensorMap};
