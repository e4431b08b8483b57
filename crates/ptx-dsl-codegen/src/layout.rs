//! Lane layout: how the lanes of each register lie, and which instructions are Rust expressions.

pub mod result;
pub mod scalar_op;
pub mod solver;
