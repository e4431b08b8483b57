//! Analyses of the region graph: upward-exposed uses and divergence.

pub mod divergence;
pub mod region_use_def;
