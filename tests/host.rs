//! Kernels on the host machine, results against plain Rust.

mod arith;
mod cluster;
mod control;
mod faults;
mod files;
mod launch;
mod mbarrier_new;
mod memory;
mod mixed;
mod recursion;
mod sync;
mod tcgen05_async;
mod tensor_memory;
mod warp;
