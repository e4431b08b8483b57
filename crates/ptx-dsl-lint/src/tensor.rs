//! Tensor Memory and the matrices of `wgmma` and `tcgen05`.

pub(crate) mod loads;
pub(crate) mod obligations;
pub(crate) mod tcgen05;
pub(crate) mod wgmma;
