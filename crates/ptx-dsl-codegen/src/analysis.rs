//! Analyses of the region graph: upward-exposed uses, liveness, and divergence.

pub mod divergence;
pub mod live_ranges;
pub mod liveness;
pub mod region_use_def;
