//! The `step` function, which runs the regions of all warps of a cohort, and `run`, which runs one warp until it waits or ends.

mod blocking;
mod builder;
mod convergent;
pub mod dispatch;
mod divergent;
mod fragment_loop;
mod mbarrier_wait;
mod region_code;
mod traces;
