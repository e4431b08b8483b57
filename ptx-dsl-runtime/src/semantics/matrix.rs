//! What the matrix instructions share above their numerics: how a launch multiplies, matrices gathered from shared memory, sparsity.

pub(crate) mod arithmetic;
pub(crate) mod gather;
pub(crate) mod sparse;
