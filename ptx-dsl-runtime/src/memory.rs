//! Memory: address decoding, bounds checks, and the storage of each state space. Addresses are virtual and deterministic.

pub mod address;
pub(crate) mod atomic_bytes;
pub(crate) mod bounds;
pub(crate) mod cache_lines;
pub mod global;
pub(crate) mod indexed;
pub(crate) mod lane_addresses;
pub(crate) mod little_endian;
pub(crate) mod prefetch;
pub mod scattered;
pub(crate) mod segment;
pub(crate) mod tensor_map;
pub mod tmem;
pub(crate) mod visited;
