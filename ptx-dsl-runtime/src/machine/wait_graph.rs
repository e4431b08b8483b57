//! The wait-for graph of a cluster: missing threads, and the shortest cycle by breadth-first search.

use crate::kernel::flow::Wait;
use crate::machine::cluster::{Cluster, Parked};
use crate::machine::describe::threads;

/// The most groups of threads in the graph; the report lists no more either.
const MOST: usize = 64;

/// Lanes of a warp of a CTA.
type WaitingLanes = (u32, u32, u32);

impl Cluster {
    /// The parked cohorts, sorted by CTA, warp and lanes.
    pub(super) fn in_order(&self) -> Vec<&Parked> {
        let mut parked: Vec<&Parked> = self.parked.iter().collect();
        parked.sort_by_key(|p| (p.c.cta, p.c.lo, p.c.mask.trailing_zeros()));
        parked
    }

    /// Lanes of the warp of `p` that wait for the same as `p`.
    pub(crate) fn gathered(&self, p: &Parked) -> u32 {
        let same = self.parked.iter().filter(|o| o.c.cta == p.c.cta && o.c.lo == p.c.lo && o.wait.meets(&p.wait));
        same.fold(0, |m, o| m | o.c.mask)
    }

    /// Lanes that the rendezvous of `p` waits for.
    pub(super) fn missing(&self, p: &Parked) -> u32 {
        let members = match p.wait {
            Wait::WarpSync { members, .. } => members,
            Wait::WholeWarp { .. } => u32::MAX,
            _ => return 0,
        };
        let live = self.ctas.get(p.c.cta as usize).and_then(|cta| cta.live.get(p.c.lo as usize));
        members & live.copied().unwrap_or(0) & !self.gathered(p)
    }

    /// Threads that have not arrived at the barrier of the cluster.
    pub(super) fn not_at_cluster_barrier(&self) -> Vec<WaitingLanes> {
        let warps = self.ctas.first().map_or(0, |c| c.live.len());
        let mut missing = Vec::new();
        for (rank, cta) in self.ctas.iter().enumerate() {
            for (w, &live) in cta.live.iter().enumerate() {
                let m = live & !self.barrier.arrived(rank * warps + w);
                if m != 0 {
                    missing.push((rank as u32, w as u32, m));
                }
            }
        }
        missing
    }

    /// Threads that this wait needs, as far as known.
    fn needs(&self, p: &Parked) -> Vec<WaitingLanes> {
        let rank = p.c.cta;
        match &p.wait {
            Wait::Barrier { id, .. } => {
                let cta = &self.ctas[rank as usize];
                let barrier = &cta.barriers[*id as usize & 15];
                match barrier.progress(&cta.live).1 {
                    Some(_) => Vec::new(),
                    None => barrier.missing(&cta.live).map(|(w, m)| (rank, w, m)).collect(),
                }
            }
            Wait::Cluster { .. } => self.not_at_cluster_barrier(),
            Wait::WarpSync { .. } | Wait::WholeWarp { .. } => vec![(rank, p.c.lo, self.missing(p))],
            Wait::TensorMemory { pair, .. } => {
                let cta = if *pair { rank ^ 1 } else { rank };
                let live = self.ctas.get(cta as usize).map_or(&[][..], |c| &c.live);
                live.iter().enumerate().map(|(w, &m)| (cta, w as u32, m)).collect()
            }
            Wait::Warpgroup { groups } => {
                let missing = self.ctas.get(rank as usize).map(|cta| cta.warpgroup_missing(p.c.lo, p.c.hi, *groups));
                missing.into_iter().flatten().map(|warp| (rank, warp, u32::MAX)).collect()
            }
            Wait::Mbarrier(_) | Wait::Phase { .. } | Wait::Registers { .. } => Vec::new(),
        }
    }

    /// The shortest cycle of groups of threads that wait for each other, in words.
    pub(super) fn cycle(&self) -> Option<String> {
        let parked = self.in_order().into_iter().take(MOST).collect::<Vec<_>>();
        let next: Vec<Vec<usize>> = parked
            .iter()
            .enumerate()
            .map(|(i, p)| {
                let needs = self.needs(p);
                let is_needed = |o: &Parked| {
                    needs
                        .iter()
                        .any(|&(cta, w, m)| cta == o.c.cta && (o.c.lo..o.c.hi).contains(&w) && m & o.c.mask != 0)
                };
                (0..parked.len()).filter(|&j| j != i && is_needed(parked[j])).collect()
            })
            .collect();
        let cycle = (0..parked.len()).filter_map(|start| shortest_cycle(start, &next)).min_by_key(Vec::len)?;
        let name = |i: usize| {
            let c = &parked[i].c;
            format!("{} of CTA rank {}", threads(c.lo, c.hi, c.mask), c.cta)
        };
        let mut text = format!("a cycle: {} wait for {}", name(cycle[0]), name(cycle[1]));
        for &i in cycle.iter().skip(2).chain([&cycle[0]]) {
            text += &format!(", which wait for {}", name(i));
        }
        Some(text)
    }
}

/// The shortest cycle through `start`.
fn shortest_cycle(start: usize, next: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut from = vec![None; next.len()];
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(i) = queue.pop_front() {
        for &j in &next[i] {
            if j == start {
                let mut way = vec![i];
                while let Some(before) = way.last().and_then(|&k: &usize| from[k]) {
                    way.push(before);
                }
                way.reverse();
                return Some(way);
            }
            if from[j].is_none() {
                from[j] = Some(i);
                queue.push_back(j);
            }
        }
    }
    None
}
