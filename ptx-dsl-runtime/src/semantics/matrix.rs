//! The code that the matrix instructions share above their numerics: the arithmetic of a launch, matrices gathered from shared
//! memory, sparsity.

pub(crate) mod arithmetic;
pub(crate) mod gather;
pub(crate) mod sparse;
pub(crate) mod undefined;
