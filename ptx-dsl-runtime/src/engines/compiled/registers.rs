//! The registers of a kernel, by slot and warp.

use super::{CompiledKernel, instruction_sets};
use crate::engines::callers::{Activations, Call, callers};
use crate::fault::{Fault, ThreadId};
use crate::kernel::flow::Next;
use crate::machine::body::Body;
use crate::machine::ctx::Ctx;
use ptx_dsl_isa::image::Callee;

struct CompiledRegisters<K: CompiledKernel> {
    /// the registers of the warps of each slot
    warps: Vec<Vec<K::Warp>>,
    warps_per_cta: usize,
    snapshot: Vec<(usize, usize, Vec<K::Warp>)>,
}

impl<K: CompiledKernel> Body for CompiledRegisters<K> {
    fn step(&mut self, x: &mut Ctx<'_>) -> Result<Next, Box<Fault>> {
        let c = &x.cur;
        let first = c.cta as usize * self.warps_per_cta;
        let pc = c.pc;
        let ws = &mut self.warps[x.residents.slot][first + c.lo as usize..first + c.hi as usize];
        instruction_sets::step::<K>(x.set, x, pc, ws).map_err(|fault| with_callers::<K>(x, fault, ws))
    }

    fn agree(&self, slot: usize, a: usize, b: usize) -> bool {
        K::agree(&self.warps[slot][a], &self.warps[slot][b])
    }

    fn reset(&mut self, slot: usize) {
        if !K::FRESH {
            self.warps[slot].fill(K::Warp::default());
        }
    }

    fn snapshot(&mut self, warps: &[(usize, usize, usize)]) {
        let warps = warps.iter().map(|&(slot, lo, hi)| (slot, lo, self.warps[slot][lo..hi].to_vec()));
        self.snapshot = warps.collect();
    }

    fn unchanged(&self) -> bool {
        self.snapshot.iter().all(|(slot, lo, old)| self.warps[*slot][*lo..*lo + old.len()] == old[..])
    }
}

/// Adds the calls that lead to the fault of a cohort with these warps.
#[cold]
fn with_callers<K: CompiledKernel>(x: &Ctx<'_>, mut fault: Box<Fault>, warps: &[K::Warp]) -> Box<Fault> {
    let of = |thread: ThreadId| warps.get(thread.warp.checked_sub(x.cur.lo)? as usize);
    if let Some(thread) = fault.thread
        && let Some(warp) = of(thread)
        && let Some(image) = x.geometry.image_of_compiled()
    {
        let thread = OfThread::<K> { warp, lane: thread.lane as usize & 31 };
        (fault.callers, fault.more_callers) = callers(&image, &x.geometry, x.site, &thread);
    }
    fault
}

/// A thread of a compiled kernel.
struct OfThread<'w, K: CompiledKernel> {
    warp: &'w K::Warp,
    lane: usize,
}

impl<K: CompiledKernel> Activations for OfThread<'_, K> {
    fn return_value(&self, function: &Callee) -> u64 {
        K::returns_to(self.warp, function.address, self.lane).unwrap_or(u64::MAX)
    }

    fn is_call(&self, call: &Call<'_>, return_value: u64) -> bool {
        K::call_of(call.callee.address, return_value) == Some(call.site)
    }

    fn saved(&self) -> &[u64] {
        K::saved(self.warp, self.lane)
    }

    fn saves(&self, _: &Call<'_>, caller: Option<&Callee>) -> (usize, Option<usize>) {
        caller.and_then(|caller| K::saves(caller.address)).map_or((0, None), |(count, address)| (count, Some(address)))
    }
}

/// Fresh registers for slots of `warps` warps each.
pub(super) fn new<K: CompiledKernel>(slots: usize, warps: usize, warps_per_cta: usize) -> Box<dyn Body> {
    let warps = vec![vec![K::Warp::default(); warps]; slots];
    Box::new(CompiledRegisters::<K> { warps, warps_per_cta, snapshot: Vec::new() })
}
