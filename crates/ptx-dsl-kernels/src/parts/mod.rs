//! What kernels share.

mod barriers;
mod lanes;
mod tiles;

pub use barriers::ring;
pub use lanes::lanes;
pub use tiles::tiles;
