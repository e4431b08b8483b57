//! A kernel's registers and step, as the driver sees them.

use crate::fault::Fault;
use crate::flow::{Next, Pc};
use crate::launch::config::Launch;
use crate::machine::ctx::Ctx;

/// The code of a kernel on an engine.
pub(crate) trait Code<M>: Send + Sync {
    /// Prepares the machine for it, and makes registers: slots, warps of a slot, warps of a CTA.
    fn body(&self, x: &mut Ctx<'_, M>, launch: &Launch, sizes: (usize, usize, usize)) -> Box<dyn Body<M>>;
}

/// The registers of a kernel, type-erased: the driver is compiled once per monitor in this crate, not once per kernel in the
/// user's.
#[doc(hidden)]
pub trait Body<M> {
    /// Runs the current cohort of `x`.
    fn step(&mut self, x: &mut Ctx<'_, M>) -> Result<Next, Box<Fault>>;
    /// Can these warps, numbered within the cluster, be in one cohort?
    fn agree(&self, slot: usize, a: usize, b: usize) -> bool;
    /// Resets the registers of a slot for a new cluster.
    fn reset(&mut self, slot: usize);
    /// Saves the registers of these warps: (slot, first, end), numbered within the cluster.
    fn snapshot(&mut self, warps: &[(usize, usize, usize)]);
    /// Are the saved registers unchanged?
    fn unchanged(&self) -> bool;
    /// Does this region begin with an operation that other threads can see? In a launch that runs step by step.
    fn is_visible(&self, _: Pc) -> bool {
        false
    }
    /// The statement with which a region begins.
    fn first_site(&self, _: Pc) -> u32 {
        0
    }
}
