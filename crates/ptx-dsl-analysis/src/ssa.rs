//! Static single assignment: every value of every register has its own number; a sparse solver propagates facts from values to
//! their users.

mod build;
mod solve;
mod values;

pub use values::{MAX_PHI_EDGES, Ssa, UNDEF, Val, Value, phi_argument};
