//! The operations on values of 32 lanes that emitted code calls by name.

pub use super::instances::instances;
pub use super::shuffle::shuffle;
pub use super::stretches::{heads, prefetch_rows, rows, slow_rows, slow_stretch};
pub use crate::engines::warp_access::{
    addresses, load, load_near, slow_add, slow_add_one, slow_load, slow_load_one, slow_store, slow_store_one, store,
};
pub use crate::memory::scattered::Scattered;
pub use crate::numerics::lanes::*;
