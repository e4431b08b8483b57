//! The end of waits: wakes the parked cohorts of a cluster.

use crate::kernel::flow::Wait;
use crate::machine::cluster::{Cluster, Cohort, Parked};
use crate::memory::little_endian;
use crate::sync::mbarrier;

impl Cluster {
    /// The result of this wait of `c`, if it is over. A rendezvous of a warp is decided in `wake`, for all together.
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
            Wait::Registers { warp, count } => {
                let cta = self.ctas.get(c.cta as usize)?;
                cta.registers.suffices(*warp, *count, &cta.live)
            }
            Wait::Warpgroup { groups } => {
                self.ctas.get(c.cta as usize)?.warpgroup_missing(c.lo, c.hi, *groups).next().is_none()
            }
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
        little_endian::load(&cta.shared, offset as u64, 8).map(|[word, ..]| word)
    }

    /// Moves the parked cohorts whose wait is over to the ready ones.
    pub(crate) fn wake(&mut self, mut woken: impl FnMut(&Cohort)) {
        self.dirty = false;
        if self.parked.iter().any(|p| p.wait.is_rendezvous()) {
            // a rendezvous depends on all parked fragments of the warp: decide all before any leaves
            let over: Vec<Option<u64>> = self.parked.iter().map(|p| self.rendezvous_over(p)).collect();
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

    fn rendezvous_over(&self, p: &Parked) -> Option<u64> {
        let members = match p.wait {
            Wait::WarpSync { members, .. } => members,
            Wait::WholeWarp { .. } => u32::MAX,
            _ => return self.over(&p.c, &p.wait),
        };
        let here = self.gathered(p);
        let live = *self.ctas.get(p.c.cta as usize)?.live.get(p.c.lo as usize)?;
        // the members are the result: cohorts with different results do not merge
        (members & live & !here == 0).then_some(members as u64)
    }

    /// A cohort can run. One that has waited does not find itself epochs behind the others of its warps.
    pub(crate) fn make_ready(&mut self, mut c: Cohort) {
        let behind = self.ready.iter().filter(|o| o.overlaps(&c)).map(|o| o.epoch).min();
        c.epoch = c.epoch.max(behind.unwrap_or(0));
        self.ready.push_back(c);
    }
}
