//! A crate with parts in its modules. Nobody compiles it.
mod hopper;
mod kernels;
