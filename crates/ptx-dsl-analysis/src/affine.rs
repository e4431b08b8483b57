//! Affine lanes: values whose lanes are rows that grow by a constant stride. The lattice, the scalar operations, and their transfer
//! functions.

pub mod lattice;
pub mod scalar_op;
pub mod sreg;
pub mod transfer;
