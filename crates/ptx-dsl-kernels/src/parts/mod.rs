//! What kernels share.

mod barriers;
mod lanes;
mod products;
mod results;
mod tiles;
mod weights;

pub use barriers::ring;
pub use lanes::lanes;
pub use products::products;
pub use results::results;
pub use tiles::tiles;
pub use weights::weights;
