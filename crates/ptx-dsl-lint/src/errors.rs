//! The messages of the 06xx and 07xx diagnostics, by topic: a function for each message.

pub(crate) mod addresses;
mod class;
pub(crate) mod completion;
pub(crate) mod convergence;
pub(crate) mod flow;
pub(crate) mod launch_control;
pub(crate) mod order;
pub(crate) mod peers;
pub(crate) mod performance;
pub(crate) mod protocol;
pub(crate) mod races;
pub(crate) mod rings;
pub(crate) mod single_threads;
pub(crate) mod tensor;
pub(crate) mod tensor_memory;
