//! Kernels on the host machine, results against plain Rust.

mod arith;
mod closures;
mod cluster;
mod cohorts;
mod control;
mod divergence;
mod faults;
mod files;
mod language;
mod launch;
mod loops;
mod mbarrier_new;
mod memory;
mod mixed;
mod nvcc;
mod parallel;
mod recursion;
mod registers;
mod rows;
mod sync;
mod tcgen05_async;
mod tcgen05_faults;
mod tcgen05_mma;
mod tensor_memory;
mod waits;
mod warp;
