//! The engines that run a kernel: the interpreter of its image, and what its compiled code calls.

pub(crate) mod callers;
pub mod compiled;
pub mod interpreter;
pub(crate) mod warp_access;
