//! How the interpreter runs kernels, on the hosts that it has fast paths for and on the others.

mod cluster_barrier;
mod indexed;
mod indexed_shared;
mod nans;
mod reused_registers;
mod row_addresses;
mod shared_bounds;
mod translations;
