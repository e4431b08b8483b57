//! The result of a launch without a fault.

use std::time::Duration;

/// The result of a launch without a fault.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Clusters that ran.
    pub clusters_launched: u64,
    /// Clusters cancelled by cluster launch control, which did not run.
    pub clusters_cancelled: u64,
    /// Regions run, counted per warp. The engines divide a kernel into different regions.
    pub turns: u64,
    /// Instructions that the interpreter ran, counted per warp. The end of each region counts as one, also where it is not an instruction.
    /// Compiled code does not count: 0.
    pub instructions: u64,
    /// The scheduler's decisions, if [`Host::record`](crate::api::host::Host::record) was asked for.
    pub schedule: Vec<u32>,
    /// The time on a GPU, if it was asked to measure launches. A host measures none.
    pub device_time: Option<Duration>,
}

impl Report {
    /// The report of as many clusters that do the same.
    pub(super) fn times(self, clusters: u64) -> Report {
        Report {
            clusters_launched: self.clusters_launched * clusters,
            turns: self.turns.saturating_mul(clusters),
            instructions: self.instructions.saturating_mul(clusters),
            ..self
        }
    }
}
