//! A launch that has been checked: all that the machine reads of it.

use crate::kernel::KernelInfo;
use crate::machine::heap::Heap;
use crate::machine::limits::{CancelHandle, Listener};
use crate::machine::print::Print;
use crate::machine::schedule::ScheduleSource;
use crate::numerics::accumulation::Numerics;
use crate::observe::probe::MakeProbe;
use std::sync::Arc;

/// A launch that has been checked.
#[derive(Debug)]
pub(crate) struct Grid<'l> {
    /// The kernel.
    pub info: &'l KernelInfo<'l>,
    /// CTAs of the grid.
    pub grid: [u32; 3],
    /// Devices that run the grid, each all of it.
    pub devices: u32,
    /// Threads of a CTA.
    pub block: [u32; 3],
    /// CTAs of a cluster.
    pub cluster: [u32; 3],
    /// Does the launch itself ask for clusters, of whatever size?
    pub is_cluster_launch: bool,
    /// Bytes of dynamic shared memory of a CTA.
    pub dynamic_shared: u32,
    /// All CTAs are resident at the same time.
    pub is_cooperative: bool,
    /// Clusters that are resident at the same time, on all host threads together.
    pub residents: usize,
    /// Host threads that the launch may have.
    pub threads: usize,
    /// Bytes of an element of each argument that is a buffer, for reports.
    pub elements: Vec<Option<u32>>,
    /// The address of the memory of a cooperative launch, or 0.
    pub workspace: u64,
    /// The heap of `malloc`, if the kernel uses it.
    pub heap: Option<Arc<Heap>>,
    /// The destination of the output of `printf`.
    pub print: Print,
    /// The accumulation mode of matrix instructions.
    pub numerics: Numerics,
    /// The rules of the manual that `tcgen05` follows.
    pub tensor: TensorRules,
    /// Is a shuffle from a lane outside of its mask a finding, whatever becomes of the value?
    pub strict_shuffles: bool,
    /// The limits at which the launch ends before its kernel does.
    pub limits: Limits,
    /// The source of scheduling decisions.
    pub schedule: &'l ScheduleSource,
    /// Are the decisions recorded?
    pub is_recorded: bool,
    /// Do pending clusters start in order, whatever the schedule is?
    pub starts_in_order: bool,
    /// The factory of monitors for the host threads. A plain host has none.
    pub monitor: Option<&'l MakeProbe>,
    /// A Rust expression that repeats a fault.
    pub replay: Option<String>,
}

/// The limits of a launch, and the listener to its progress.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits {
    /// The step budget that the user has set.
    pub steps: Option<u64>,
    /// Cancels the launch.
    pub cancel: Option<CancelHandle>,
    /// Hears of each cluster that ends.
    pub listener: Option<Listener>,
}

impl Grid<'_> {
    /// Are all choices the first alternative, and none recorded?
    pub fn takes_the_first(&self) -> bool {
        matches!(self.schedule, ScheduleSource::RoundRobin) && !self.is_recorded
    }

    /// Clusters of the grids of all devices.
    pub fn clusters(&self) -> u64 {
        u64::from(self.devices) * self.of_device()
    }

    fn of_device(&self) -> u64 {
        self.grid.iter().zip(self.cluster).map(|(ctas, of_cluster)| u64::from(ctas / of_cluster)).product()
    }
}

/// The rules of the manual that `tcgen05` follows; by default all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TensorRules {
    /// [`Host::tensor_fences`](crate::api::host::Host::tensor_fences)
    pub fences: bool,
    /// [`Host::tensor_registers`](crate::api::host::Host::tensor_registers)
    pub registers: bool,
    /// [`Host::mma_in_order`](crate::api::host::Host::mma_in_order)
    pub mma_in_order: bool,
}

impl Default for TensorRules {
    fn default() -> Self {
        TensorRules { fences: true, registers: true, mma_in_order: false }
    }
}
