//! A resident cluster: its CTAs, its threads, and what they wait for.

use std::collections::VecDeque;

use crate::kernel::{Pc, Wait};
use crate::machine::agent::order::Accesses;
use crate::mem::lines::Lines;
use crate::mem::tmem::Tmem;
use crate::sync::barrier::Barrier;
use crate::sync::cluster::ClusterBarrier;
use crate::sync::tensor_memory::Allocator;

/// Warps `lo..hi` of CTA `cta`, all at `pc`, all with the lanes of `mask` active.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Cohort {
    pub cta: u32,
    pub lo: u32,
    pub hi: u32,
    pub mask: u32,
    pub pc: Pc,
    /// The wait at `pc` is over; `result` is what it brought.
    pub resumed: bool,
    pub result: u64,
    /// Fragments of a warp run in the order (epoch, pc): those behind first, so that they meet again. Who runs long or yields
    /// moves to the next epoch, so that a fragment that spins does not keep the others from running.
    pub epoch: u32,
    pub spent: u32,
}

impl Cohort {
    pub fn overlaps(&self, o: &Cohort) -> bool {
        self.cta == o.cta && self.lo < o.hi && o.lo < self.hi
    }

    /// Can be one cohort, if the lanes allow it.
    pub fn agrees(&self, o: &Cohort) -> bool {
        self.cta == o.cta && self.pc == o.pc && self.resumed == o.resumed && self.result == o.result
    }
}

/// A cohort that waits at its `pc`.
#[derive(Debug, Clone)]
pub(crate) struct Parked {
    pub c: Cohort,
    pub wait: Wait,
    /// statement, for reports
    pub site: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Cta {
    /// `%ctaid`
    pub id: [u32; 3],
    /// Live lanes by warp, and their number.
    pub live: Vec<u32>,
    /// `live` is not as new.
    pub thinned: bool,
    pub threads: u32,
    pub exited: bool,
    pub barriers: [Barrier; 16],
    /// Those that are not as new.
    pub barriers_used: u16,
    pub shared: Lines,
    pub local: Vec<u8>,
    pub tmem: Tmem,
    /// What was done to it, on the checked host.
    pub accesses: Accesses,
    /// A response of failure has been observed (cluster launch control).
    pub clc_failed: bool,
}

/// A place for a resident cluster.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    pub resident: bool,
    /// `%clusterid`
    pub id: [u32; 3],
    pub ctas: Vec<Cta>,
    pub barrier: ClusterBarrier,
    /// Of Tensor Memory, one for each CTA, or with `.cta_group::2` for each pair.
    pub allocators: Vec<Allocator>,
    /// They, or Tensor Memory, are not as new.
    pub allocated: bool,
    pub ready: VecDeque<Cohort>,
    pub parked: Vec<Parked>,
    /// Something that parked cohorts wait for may have changed.
    pub dirty: bool,
}

impl Cluster {
    /// A new cluster takes this place: all full warps of a CTA start as one cohort. What the last one has left as new stays.
    pub fn start(&mut self, id: [u32; 3], ctas: usize, threads: u32, shared: usize, local: usize) {
        let warps = threads.div_ceil(32) as usize;
        let last = u32::MAX >> ((32 - threads % 32) % 32);
        self.resident = true;
        self.id = id;
        self.ready.clear();
        self.parked.clear();
        self.dirty = false;
        if self.ctas.len() != ctas || self.allocated {
            self.ctas.resize_with(ctas, Cta::default);
            self.allocators.clear();
            self.allocators.resize_with(ctas, Allocator::default);
            for cta in &mut self.ctas {
                (cta.tmem, cta.accesses) = (Tmem::default(), Accesses::default());
            }
            self.allocated = false;
        }
        self.barrier.restart(warps * ctas, threads * ctas as u32);
        for (rank, cta) in self.ctas.iter_mut().enumerate() {
            if cta.live.len() != warps || cta.thinned {
                cta.live.clear();
                cta.live.resize(warps, u32::MAX);
                if let Some(l) = cta.live.last_mut() {
                    *l = last;
                }
                cta.thinned = false;
            }
            cta.threads = threads;
            cta.exited = false;
            if cta.shared.len() != shared {
                cta.shared.resize(shared);
            }
            clear(&mut cta.shared);
            cta.renew(local);
            let whole = threads / 32;
            let start = Cohort { cta: rank as u32, ..Cohort::default() };
            if whole > 0 {
                self.ready.push_back(Cohort { hi: whole, mask: u32::MAX, ..start });
            }
            if last != u32::MAX {
                self.ready.push_back(Cohort { lo: whole, hi: whole + 1, mask: last, ..start });
            }
        }
    }

    /// Is this cohort, which ends, all of a cluster of one CTA, and nothing left that its end matters to? Then nobody will look at
    /// this place again before the next cluster takes it.
    #[inline(always)]
    pub fn ends_with(&self, c: &Cohort) -> bool {
        let [cta] = &self.ctas[..] else { return false };
        c.mask == u32::MAX && cta.threads == (c.hi - c.lo) * 32 && (cta.barriers_used == 0 || !cta.barrier_is_open())
    }

    /// Has this place, where a cluster [`ends_with`](Self::ends_with) the cohort that it began with, all that the next one needs?
    #[inline(always)]
    pub fn is_lasting(&self) -> bool {
        self.ctas.iter().all(|cta| !cta.thinned) && !self.allocated && self.barrier.is_new()
    }

    /// The next one takes it. Its threads are as they were, and its shared memory is with the caller.
    #[inline(always)]
    pub fn again(&mut self, id: [u32; 3], local: usize) {
        self.id = id;
        self.dirty = false;
        for cta in &mut self.ctas {
            cta.id = id;
            cta.renew(local);
        }
    }
}

impl Cta {
    /// What threads can have changed besides shared memory.
    #[inline(always)]
    fn renew(&mut self, local: usize) {
        while self.barriers_used != 0 {
            self.barriers[self.barriers_used.trailing_zeros() as usize] = Barrier::default();
            self.barriers_used &= self.barriers_used - 1;
        }
        // large and mostly unused: fresh pages cost nothing until touched
        if local > 0 {
            self.local = vec![0; local];
        }
        self.clc_failed = false;
    }

    fn barrier_is_open(&self) -> bool {
        (0..16).any(|id| self.barriers_used >> id & 1 != 0 && self.barriers[id].is_open())
    }
}

/// Sets memory to zero. For none of it glibc would store at no address with a mask of nothing, which takes processors 50 ns.
#[inline(always)]
pub(crate) fn clear(memory: &mut [u8]) {
    if !memory.is_empty() {
        memory.fill(0);
    }
}
