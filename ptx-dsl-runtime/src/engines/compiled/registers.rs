//! The registers of a kernel, by slot and warp.

use super::{CompiledKernel, instruction_sets};
use crate::fault::Fault;
use crate::kernel::flow::Next;
use crate::machine::body::Body;
use crate::machine::ctx::Ctx;

struct Registers<K: CompiledKernel> {
    /// the registers of the warps of each slot
    warps: Vec<Vec<K::Warp>>,
    warps_per_cta: usize,
    snapshot: Vec<(usize, usize, Vec<K::Warp>)>,
}

impl<K: CompiledKernel> Body for Registers<K> {
    fn step(&mut self, x: &mut Ctx<'_>) -> Result<Next, Box<Fault>> {
        let c = &x.cur;
        let first = c.cta as usize * self.warps_per_cta;
        let pc = c.pc;
        let ws = &mut self.warps[x.residents.slot][first + c.lo as usize..first + c.hi as usize];
        instruction_sets::step::<K>(x.set, x, pc, ws)
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

/// Fresh registers for slots of `warps` warps each.
pub(super) fn new<K: CompiledKernel>(slots: usize, warps: usize, warps_per_cta: usize) -> Box<dyn Body> {
    let warps = vec![vec![K::Warp::default(); warps]; slots];
    Box::new(Registers::<K> { warps, warps_per_cta, snapshot: Vec::new() })
}
