//! What a program calls: hosts, launches, arguments, buffers, tensor maps, reports.

pub mod agree;
pub(crate) mod buffer;
pub mod device;
pub(crate) mod dump;
pub(crate) mod engine;
pub mod group;
pub mod host;
pub mod kernel_fn;
pub mod launch;
pub mod param;
pub mod stream;
pub mod tensor_map;
