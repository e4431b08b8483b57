//! What an instruction means where several crates must agree: each meaning has one type and one function that decides it from the table.

pub mod access;
pub mod memory_pipeline;
pub mod order;
pub mod work;
