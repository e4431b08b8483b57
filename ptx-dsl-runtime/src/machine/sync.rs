//! Barriers, rendezvous of a warp, and when a wait is over.

use crate::fault::{Fault, FaultKind};
use crate::kernel::Wait;
use crate::machine::Ctx;
use crate::machine::cluster::{Cluster, Cohort};
use crate::mem;
use crate::monitor::{Monitor, Sync};
use crate::sync::barrier::RedOp;
use crate::sync::mbarrier;

impl<M: Monitor> Ctx<'_, M> {
    /// The active lanes arrive at barrier `id`, of all threads of the CTA or of `count`; `red` has the operation of `.red` and
    /// the lanes whose predicate is true. Waiting for the result is up to the caller (`sync`), or left out (`.arrive`).
    pub fn barrier_arrive(
        &mut self,
        id: u32,
        count: Option<u32>,
        sync: bool,
        red: Option<(RedOp, u32)>,
    ) -> Result<Wait, Box<Fault>> {
        let lane = self.mask.trailing_zeros().min(31);
        let (warp, mask) = (self.warp, self.mask);
        if M::ON {
            let who = self.who(mask);
            self.monitor.sync(Sync::Barrier { id }, who).map_err(|kind| self.fault(kind, lane))?;
        }
        let wrong = |what: String| FaultKind::Barrier { id, what };
        if !sync && count.is_none() {
            return Err(self.fault(wrong("`.arrive` needs a thread count".into()), lane));
        }
        let cta = self.cta_mut();
        cta.barriers_used |= 1 << (id & 15);
        let Some(barrier) = cta.barriers.get_mut(id as usize) else {
            return Err(self.fault(wrong("a CTA has barriers 0 to 15".into()), lane));
        };
        match barrier.arrive((warp, mask), count, red, &cta.live, cta.threads) {
            Ok(generation) => {
                if barrier.passed(generation) {
                    self.touched();
                } else {
                    self.progress += 1;
                }
                Ok(Wait::Barrier { id, generation })
            }
            Err(what) => Err(self.fault(wrong(what), lane)),
        }
    }

    /// Result of `.red`, when resumed.
    #[inline(always)]
    pub fn barrier_result(&self) -> u64 {
        self.cur.result
    }

    /// `None` if all live lanes of `members` are active here; otherwise what to wait for.
    pub fn warp_rendezvous(&mut self, members: u32) -> Option<Wait> {
        let live = self.live_mask() & members;
        (live & !self.mask != 0).then_some(Wait::WarpSync { members, pc: Some(self.cur.pc) })
    }

    /// The same for `bar.warp.sync`, where threads may wait at different statements.
    pub fn bar_warp_sync(&mut self, members: u32) -> Option<Wait> {
        let live = self.live_mask() & members;
        (live & !self.mask != 0).then_some(Wait::WarpSync { members, pc: None })
    }

    fn cluster_warp(&self) -> usize {
        self.cur.cta as usize * self.warps_per_cta() + self.warp as usize
    }

    /// The active lanes arrive at the barrier of the cluster.
    pub fn cluster_arrive(&mut self) -> Result<(), Box<Fault>> {
        let (warp, mask, lane) = (self.cluster_warp(), self.mask, self.mask.trailing_zeros().min(31));
        if M::ON {
            let who = self.who(mask);
            self.monitor.sync(Sync::ClusterArrive, who).map_err(|kind| self.fault(kind, lane))?;
        }
        match self.here().barrier.arrive(warp, mask) {
            Ok(true) => self.touched(),
            Ok(false) => self.progress += 1,
            Err(what) => return Err(self.fault(FaultKind::ClusterBarrier { what }, lane)),
        }
        Ok(())
    }

    /// The active lanes wait at the barrier of the cluster.
    pub fn cluster_wait(&mut self) -> Result<Wait, Box<Fault>> {
        let (warp, mask, lane) = (self.cluster_warp(), self.mask, self.mask.trailing_zeros().min(31));
        if M::ON {
            let who = self.who(mask);
            self.monitor.sync(Sync::ClusterWait, who).map_err(|kind| self.fault(kind, lane))?;
        }
        match self.here().barrier.wait(warp, mask) {
            Ok(phase) => {
                self.progress += 1;
                Ok(Wait::Cluster { phase })
            }
            Err(what) => Err(self.fault(FaultKind::ClusterBarrier { what }, lane)),
        }
    }
}

impl Cluster {
    /// Is this wait of `c` over? With the result it brings. A rendezvous of a warp is decided in `wake`, for all together.
    pub(crate) fn over(&self, c: &Cohort, wait: &Wait) -> Option<u64> {
        let over = match wait {
            Wait::Barrier { id, generation } => {
                let barrier = self.ctas.get(c.cta as usize)?.barriers.get(*id as usize)?;
                return barrier.passed(*generation).then(|| barrier.result(*generation));
            }
            Wait::Cluster { phase } => self.barrier.passed(*phase),
            Wait::Mbarrier(objects) => {
                objects.iter().any(|&(rank, offset, parity)| self.phase_over(rank, offset, parity))
            }
            Wait::Phase { rank, offset, parity } => self.phase_over(*rank, *offset, *parity),
            Wait::WarpSync { .. } | Wait::WholeWarp { .. } => false,
            Wait::TensorMemory { pair, ticket } => return self.tensor_memory_over(c.cta, *pair, *ticket),
        };
        over.then_some(0)
    }

    /// An object that is gone ends the wait: the instruction runs again and reports it.
    fn phase_over(&self, rank: u32, offset: u32, parity: u64) -> bool {
        self.word(rank, offset).is_none_or(|word| mbarrier::passed(word, parity).unwrap_or(true))
    }

    /// The eight bytes of an mbarrier object.
    pub(crate) fn word(&self, rank: u32, offset: u32) -> Option<u64> {
        let cta = self.ctas.get(rank as usize).filter(|c| !c.exited)?;
        mem::load(&cta.shared, offset as u64, 8).map(|[word, ..]| word)
    }

    /// Moves the parked cohorts whose wait is over to the ready ones.
    pub(crate) fn wake(&mut self, mut woken: impl FnMut(&Cohort)) {
        self.dirty = false;
        if self.parked.iter().any(|p| p.wait.is_rendezvous()) {
            // those who meet look at each other: first all, then they go
            let over: Vec<Option<u64>> = self.parked.iter().map(|p| self.parked_over(p)).collect();
            let mut over = over.into_iter();
            let parked = std::mem::take(&mut self.parked);
            for p in parked {
                match over.next().flatten() {
                    Some(result) => {
                        woken(&p.c);
                        self.make_ready(Cohort { resumed: true, result, ..p.c });
                    }
                    None => self.parked.push(p),
                }
            }
            return;
        }
        let (mut i, mut kept) = (0, 0);
        while i < self.parked.len() {
            let p = &self.parked[i];
            match self.over(&p.c, &p.wait) {
                Some(result) => {
                    let c = p.c;
                    woken(&c);
                    self.make_ready(Cohort { resumed: true, result, ..c });
                }
                None => {
                    self.parked.swap(kept, i);
                    kept += 1;
                }
            }
            i += 1;
        }
        self.parked.truncate(kept);
    }

    fn parked_over(&self, p: &super::cluster::Parked) -> Option<u64> {
        let members = match p.wait {
            Wait::WarpSync { members, .. } => members,
            Wait::WholeWarp { .. } => u32::MAX,
            _ => return self.over(&p.c, &p.wait),
        };
        let here = self.met(p);
        let live = *self.ctas.get(p.c.cta as usize)?.live.get(p.c.lo as usize)?;
        // members as the result: those that met go on together, and with nobody else
        (members & live & !here == 0).then_some(members as u64)
    }

    /// A cohort can run. One that has waited does not find itself epochs behind the others of its warps.
    pub(crate) fn make_ready(&mut self, mut c: Cohort) {
        let behind = self.ready.iter().filter(|o| o.overlaps(&c)).map(|o| o.epoch).min();
        c.epoch = c.epoch.max(behind.unwrap_or(0));
        self.ready.push_back(c);
    }
}
