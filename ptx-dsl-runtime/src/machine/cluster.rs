//! A resident cluster: its CTAs, its ready and parked cohorts.

use std::collections::VecDeque;

use crate::kernel::flow::{Pc, Wait};
use crate::machine::tx_log::TxLog;
use crate::memory::cache_lines::CacheLines;
use crate::memory::tmem::Tmem;
use crate::sync::barrier::Barrier;
use crate::sync::cluster::ClusterBarrier;
use crate::sync::collector::Collectors;
use crate::sync::meetings::Meetings;
use crate::sync::register_pool::PoolRegisters;
use crate::sync::tensor_memory::Allocator;
use crate::sync::wgmma::Groups;

/// Warps `lo..hi` of CTA `cta`, all at `pc`, all with the lanes of `mask` active.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Cohort {
    pub cta: u32,
    pub lo: u32,
    pub hi: u32,
    pub mask: u32,
    pub pc: Pc,
    /// The wait at `pc` is over, with this `result`.
    pub resumed: bool,
    pub result: u64,
    /// Fragments of a warp run in the order (epoch, pc), so that those behind catch up and merge. A fragment that runs long or
    /// yields moves to the next epoch, so a spinning one does not starve the others.
    pub epoch: u32,
    pub spent: u32,
}

impl Cohort {
    pub fn overlaps(&self, o: &Cohort) -> bool {
        self.cta == o.cta && self.lo < o.hi && o.lo < self.hi
    }

    /// Whether two cohorts can merge into one, if their lanes allow it.
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
    /// `live` is dirty: to be reset before the slot is reused.
    pub live_dirty: bool,
    pub threads: u32,
    pub exited: bool,
    pub barriers: [Barrier; 16],
    /// The dirty ones: to be reset before the slot is reused.
    pub barriers_used: u16,
    pub shared: CacheLines,
    pub local: Vec<u8>,
    pub registers: PoolRegisters,
    pub tmem: Tmem,
    /// The collector buffers of its tensor core; with `.cta_group::2` those of the pair, in its even CTA.
    pub collectors: Collectors,
    /// A response of failure has been observed (cluster launch control).
    pub clc_failed: bool,
    /// `wgmma` operations in flight, by warp.
    pub wgmma: Vec<Groups>,
    pub meetings: Meetings,
    pub tx_log: TxLog,
}

/// A slot for a resident cluster.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    pub resident: bool,
    /// `%clusterid`
    pub id: [u32; 3],
    pub ctas: Vec<Cta>,
    pub barrier: ClusterBarrier,
    /// Allocators of Tensor Memory, one for each CTA, or with `.cta_group::2` for each pair.
    pub allocators: Vec<Allocator>,
    /// Allocators, Tensor Memory or collector buffers are dirty: to be reset before the slot is reused.
    pub tensor_dirty: bool,
    pub ready: VecDeque<Cohort>,
    pub parked: Vec<Parked>,
    /// Something that parked cohorts wait for may have changed.
    pub dirty: bool,
}

impl Cluster {
    /// Starts a cluster in this slot: all full warps of a CTA are one cohort. Only dirty state is reset.
    pub fn start(&mut self, id: [u32; 3], ctas: usize, threads: u32, shared: usize, local: usize) {
        let warps = threads.div_ceil(32) as usize;
        let last = u32::MAX >> ((32 - threads % 32) % 32);
        self.resident = true;
        self.id = id;
        self.ready.clear();
        self.parked.clear();
        self.dirty = false;
        if self.ctas.len() != ctas || self.tensor_dirty {
            self.ctas.resize_with(ctas, Cta::default);
            self.allocators.clear();
            self.allocators.resize_with(ctas, Allocator::default);
            for cta in &mut self.ctas {
                cta.tmem = Tmem::default();
                cta.collectors = Collectors::default();
            }
            self.tensor_dirty = false;
        }
        self.barrier.restart(warps * ctas, threads * ctas as u32);
        for (rank, cta) in self.ctas.iter_mut().enumerate() {
            if cta.live.len() != warps || cta.live_dirty {
                cta.live.clear();
                cta.live.resize(warps, u32::MAX);
                if let Some(l) = cta.live.last_mut() {
                    *l = last;
                }
                cta.live_dirty = false;
            }
            cta.threads = threads;
            cta.exited = false;
            if cta.shared.len() != shared {
                cta.shared.resize(shared);
            }
            clear(&mut cta.shared);
            cta.reset(local);
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

    /// Whether this exiting cohort is all of a cluster of one CTA, with no barrier open. Its exit then needs no bookkeeping:
    /// nothing reads the slot before the next cluster starts in it.
    #[inline(always)]
    pub fn ends_with(&self, c: &Cohort) -> bool {
        let [cta] = &self.ctas[..] else { return false };
        c.mask == u32::MAX && cta.threads == (c.hi - c.lo) * 32 && (cta.barriers_used == 0 || !cta.barrier_is_open())
    }

    /// Whether the next cluster can start with the CTAs as they are, where this one [`ends_with`](Self::ends_with) its first
    /// cohort.
    #[inline(always)]
    pub fn is_reusable(&self) -> bool {
        self.ctas.iter().all(|cta| !cta.live_dirty) && !self.tensor_dirty && self.barrier.is_new()
    }

    /// Starts the next cluster with the same threads. The caller clears shared memory.
    #[inline(always)]
    pub fn reuse(&mut self, id: [u32; 3], local: usize) {
        self.id = id;
        self.dirty = false;
        for cta in &mut self.ctas {
            cta.id = id;
            cta.reset(local);
        }
    }
}

impl Cta {
    /// The warps of the warpgroups of these warps that live and have committed fewer wgmma-groups.
    pub fn warpgroup_missing(&self, lo: u32, hi: u32, groups: u64) -> impl Iterator<Item = u32> + '_ {
        let committed = |warp: u32| self.wgmma.get(warp as usize).map_or(0, Groups::committed);
        let lives = |warp: u32| self.live.get(warp as usize).is_some_and(|live| *live != 0);
        (lo & !3..hi.next_multiple_of(4)).filter(move |warp| lives(*warp) && committed(*warp) < groups)
    }

    /// Resets what threads can have changed besides shared memory.
    #[inline(always)]
    fn reset(&mut self, local: usize) {
        while self.barriers_used != 0 {
            self.barriers[self.barriers_used.trailing_zeros() as usize] = Barrier::default();
            self.barriers_used &= self.barriers_used - 1;
        }
        // large and mostly unused: fresh zero pages are free until touched
        if local > 0 {
            self.local = vec![0; local];
        }
        self.registers.reset();
        self.clc_failed = false;
        self.wgmma.clear();
        self.meetings.clear();
        self.tx_log.clear();
    }

    fn barrier_is_open(&self) -> bool {
        (0..16).any(|id| self.barriers_used >> id & 1 != 0 && self.barriers[id].is_open())
    }
}

/// Zeroes memory. Skips an empty slice: glibc's memset of length 0 does a masked store, which takes 50 ns.
#[inline(always)]
pub(crate) fn clear(memory: &mut [u8]) {
    if !memory.is_empty() {
        memory.fill(0);
    }
}
