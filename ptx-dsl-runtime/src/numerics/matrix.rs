//! Products of matrices: element formats, matrices decoded for the inner product, and the sums of tensor cores.

pub(crate) mod block_scale;
pub(crate) mod dot;
pub mod format;
pub(crate) mod fragment;
pub(crate) mod model;
pub(crate) mod plain;
pub mod shared;
pub(crate) mod tile;
