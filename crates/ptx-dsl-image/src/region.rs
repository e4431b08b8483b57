//! The region graph of a kernel: straight pieces of code in which no warp can wait or diverge.
//!
//! A blocking instruction is a region of its own. Regions are numbered in reverse postorder, so that the lowest number among
//! the fragments of a warp is the one that reconvergence waits for.

pub mod build;
pub mod chains;
pub mod graph;
pub mod if_conversion;
pub mod order;
