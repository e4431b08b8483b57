//! Region lowering: the code of a region for one warp.
//!
//! Values that lanes share or that lie in rows are computed once a row. The rest is one loop over the lanes, up to where memory or the
//! warp as a whole needs its results. Registers are locals; at the end those that are live are stored to the warp's state.

mod address;
pub mod builder;
mod hoisting;
mod instruction;
mod lane_loop;
mod lane_serial;
mod lane_serial_memory;
mod load_group;
mod mbarrier;
mod memory;
mod operands;
mod predication;
mod rows;
pub mod terminator;
mod uniform_call;
mod value;
mod warp_call;
