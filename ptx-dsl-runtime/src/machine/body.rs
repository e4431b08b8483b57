//! A kernel's registers and step, as the driver sees them.

use crate::fault::Fault;
use crate::kernel::flow::{Next, Pc};
use crate::machine::ctx::Ctx;
use crate::memory::address::AddrSpace;
use crate::numerics::qual::Ty;

/// The code of a kernel on an engine.
pub(crate) trait Code: Send + Sync {
    /// Prepares the machine for it, and makes registers: slots, warps of a slot, warps of a CTA.
    fn body(&self, x: &mut Ctx<'_>, sizes: (usize, usize, usize)) -> Box<dyn Body>;
}

/// Lanes of the warps `lo..hi` of a CTA, at a region.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Looping {
    /// Slot of the cluster.
    pub slot: usize,
    /// CTA rank.
    pub cta: usize,
    /// The first warp.
    pub lo: usize,
    /// The end.
    pub hi: usize,
    /// Lanes of each warp.
    pub mask: u32,
    /// The region.
    pub pc: Pc,
}

/// A statement of a loop that reads values which others write.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct PolledRead {
    /// The statement.
    pub site: u32,
    /// The address in the first lane, if it is known.
    pub addr: Option<u64>,
    /// The state space of the address, and the type of an element, if it reads plain memory.
    pub memory: Option<(AddrSpace, Ty)>,
}

/// The memory that a polling loop reads, and its possible writers.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Polls {
    /// The statements of the loop that read.
    pub reads: Vec<PolledRead>,
    /// The statements outside of the loop that could change the memory.
    pub writers: Vec<u32>,
}

/// The registers of a kernel, type-erased: the driver is compiled once per monitor in this crate, not once per kernel in the
/// user's.
#[doc(hidden)]
pub trait Body {
    /// Runs the current cohort of `x`.
    fn step(&mut self, x: &mut Ctx<'_>) -> Result<Next, Box<Fault>>;
    /// Whether these warps, numbered within the cluster, can be in one cohort.
    fn agree(&self, slot: usize, a: usize, b: usize) -> bool;
    /// Resets the registers of a slot for a new cluster.
    fn reset(&mut self, slot: usize);
    /// Saves the registers of these warps: (slot, first, end), numbered within the cluster.
    fn snapshot(&mut self, warps: &[(usize, usize, usize)]);
    /// Are the saved registers unchanged?
    fn unchanged(&self) -> bool;
    /// Whether this region begins with an operation that other threads can see, in a launch that runs step by step.
    fn is_visible(&self, _: Pc) -> bool {
        false
    }
    /// The statement with which a region begins.
    fn first_site(&self, _: Pc) -> u32 {
        0
    }

    /// A hash of the registers that decide what these threads do next, if they are in a loop. `None` if they are in no loop, if the
    /// loop depends on a clock, or if the engine does not know.
    fn loop_state(&mut self, _: &Looping) -> Option<[u64; 2]> {
        None
    }
    /// The reads of that loop.
    fn loop_reads(&mut self, _: &Looping) -> Polls {
        Polls::default()
    }
}
