//! Who waits for what, when nobody can run.

use crate::fault::{Fault, FaultKind};
use crate::kernel::Wait;
use crate::machine::Ctx;
use crate::machine::cluster::{Cluster, Parked};
use crate::monitor::Monitor;
use crate::sync::mbarrier::State;
use crate::sync::tensor_memory::Waits;

/// Groups of threads listed at most.
const MOST: usize = 64;

impl<M: Monitor> Ctx<'_, M> {
    /// A deadlock, with a line for each group of threads.
    pub(crate) fn deadlock(&mut self) -> Box<Fault> {
        if let Some(torn) = self.torn_warp() {
            return torn;
        }
        let mut waiting = Vec::new();
        let mut all = 0;
        let mut first = None;
        let mut slots: Vec<usize> = (0..self.clusters.len()).filter(|&slot| self.clusters[slot].resident).collect();
        slots.sort_by_key(|&slot| self.number_of(slot));
        for slot in slots {
            for p in self.clusters[slot].in_order() {
                first = first.or(Some((slot, p.c, p.site)));
                all += 1;
                if waiting.len() < MOST {
                    waiting.push(self.line(slot, p));
                }
            }
        }
        if all > waiting.len() {
            waiting.push(format!("and {} more groups of threads", all - waiting.len()));
        }
        waiting.extend(self.clusters.iter().filter(|c| c.resident).find_map(Cluster::cycle));
        let Some((slot, c, site)) = first else {
            return self.fault(FaultKind::Internal("threads got lost: nobody runs and nobody waits".into()), 0);
        };
        (self.slot, self.cur, self.site, self.warp) = (slot, c, site, c.lo);
        self.fault(FaultKind::Deadlock { waiting }, c.mask.trailing_zeros().min(31))
    }

    fn line(&self, slot: usize, p: &Parked) -> String {
        let cluster = &self.clusters[slot];
        let within = self.ctaid_in_cluster(p.c.cta);
        let ctaid: [u32; 3] = std::array::from_fn(|i| cluster.id[i] * self.cluster[i] + within[i]);
        let place = match self.info.sites.get(p.site as usize) {
            Some(s) => format!("`{}` (PTX line {})", s.text, s.line),
            None => "an unknown statement".into(),
        };
        let who = threads(p.c.lo, p.c.hi, p.c.mask);
        format!("CTA {ctaid:?}, {who} at {place}: {}", cluster.waits_for(p, self.threads))
    }
}

/// Threads by their number in the CTA.
pub(super) fn threads(lo: u32, hi: u32, mask: u32) -> String {
    if mask == u32::MAX {
        return format!("threads {} to {}", lo * 32, hi * 32 - 1);
    }
    let warps = if hi - lo == 1 { format!("warp {lo}") } else { format!("warps {lo} to {}", hi - 1) };
    format!("{warps} lanes {}", lanes(mask))
}

/// Lanes as ranges.
pub(super) fn lanes(mask: u32) -> String {
    let mut ranges = Vec::new();
    let mut l = 0;
    while l < 32 {
        let n = (mask as u64 >> l).trailing_ones();
        match n {
            0 => {}
            1 => ranges.push(l.to_string()),
            _ => ranges.push(format!("{l} to {}", l + n - 1)),
        }
        l += n.max(1);
    }
    ranges.join(", ")
}

impl Cluster {
    fn waits_for(&self, p: &Parked, _threads: u32) -> String {
        match &p.wait {
            Wait::Barrier { id, .. } => {
                let cta = &self.ctas[p.c.cta as usize];
                let barrier = &cta.barriers[*id as usize & 15];
                let (arrived, count) = barrier.progress(&cta.live);
                match count {
                    Some(n) => format!("waits for barrier {id}, {arrived} of {n} threads have arrived"),
                    None => {
                        let missing = barrier.missing(&cta.live).map(|(w, m)| threads(w, w + 1, m));
                        let missing: Vec<_> = missing.take(8).collect();
                        format!("waits for barrier {id}, not arrived: {}", missing.join("; "))
                    }
                }
            }
            Wait::Cluster { .. } => {
                let missing = self.not_at_cluster_barrier().into_iter().take(8);
                let missing: Vec<_> =
                    missing.map(|(rank, w, m)| format!("CTA rank {rank} {}", threads(w, w + 1, m))).collect();
                format!("waits for the cluster barrier, not arrived: {}", missing.join("; "))
            }
            Wait::Phase { rank, offset, parity } => format!("waits for {}", self.phase(*rank, *offset, *parity)),
            Wait::Mbarrier(objects) => {
                let list: Vec<_> =
                    objects.iter().take(4).map(|&(rank, offset, parity)| self.phase(rank, offset, parity)).collect();
                format!("waits for {}", list.join(" or "))
            }
            Wait::WholeWarp { .. } => {
                let missing = lanes(self.absent(p));
                format!("waits for lanes {missing} of its warp: the whole warp executes it together")
            }
            Wait::TensorMemory { pair, ticket } => match self.tensor_memory_waits(p.c.cta, *pair, *ticket) {
                Some(Waits::Peer(opcode)) => format!("waits for `{opcode}` of CTA rank {}", p.c.cta ^ 1),
                Some(Waits::Room(columns, used)) => {
                    format!("waits for {columns} free columns of Tensor Memory, {used} are allocated")
                }
                None => "waits for Tensor Memory".into(),
            },
            Wait::WarpSync { members, .. } => {
                let missing = lanes(self.absent(p));
                format!("waits for lanes {missing} of its warp (members {members:#010x})")
            }
        }
    }

    fn phase(&self, rank: u32, offset: u32, parity: u64) -> String {
        let state = match self.word(rank, offset).and_then(State::decode) {
            Some(s) => {
                format!(
                    "phase {} incomplete: pending count {} of {}, tx-count {}",
                    s.phase, s.pending, s.expected, s.tx
                )
            }
            None => "not a live object".into(),
        };
        format!("mbarrier {offset:#x} of CTA rank {rank}, parity {parity} ({state})")
    }
}
