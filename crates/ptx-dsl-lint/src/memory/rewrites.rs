//! Copies that write over a stage from which threads have loaded in the same iteration of a loop.

use crate::kernel::Kernel;
use crate::memory::refills::{Access, places};
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::sites::Site;
use ptx_dsl_analysis::threads::{THREADS, has_thread};
use ptx_dsl_isa::hir::Arg;
use ptx_dsl_isa::meaning::access::plain_access;

/// Iterations that are compared.
const ITERATIONS: usize = 4;

/// An asynchronous write.
pub(crate) struct Rewrite<'o> {
    pub site: Site,
    pub target: &'o Arg,
    pub size: u64,
}

impl Rewrite<'_> {
    /// Does every iteration that executes it execute this load before, from the bytes that it writes?
    pub(crate) fn follows(&self, kernel: &Kernel, loops: &Loops, load: u32) -> bool {
        let flow = kernel.flow;
        let Site { block, at } = self.site;
        let from = flow.cfg.block_of(load);
        let before = if from == block { load < at } else { flow.cfg.dominates(from, block) };
        let Some(header) = loops.innermost(block).filter(|h| loops.innermost(from) == Some(*h)) else { return false };
        let Some((arg, false)) = plain_access(flow.instr(load)) else { return false };
        if !before || loops.irreducible() || flow.guard(load).is_some() {
            return false;
        }
        let of = |at: u32, arg: &Arg| {
            let present = kernel.threads_at(flow.cfg.block_of(at), at);
            let thread = (0..THREADS).find(|t| has_thread(&present.set, *t))?;
            places(flow, loops, header, Access { at, address: &arg.value, thread }, ITERATIONS)
        };
        let (Some(loaded), Some(written)) = (of(load, arg), of(at, self.target)) else { return false };
        // The thread that writes may be in the loop for fewer iterations.
        let within = |(load, start): (&i64, &i64)| (0..self.size.max(1) as i64).contains(&(load - start));
        loaded.len() > 1 && written.len() > 1 && loaded.iter().zip(&written).all(within)
    }
}
