//! Deadlock reports: what each group of threads waits for.

mod waiting;

pub(super) use waiting::Waiting;

use crate::fault::{Fault, FaultKind};
use crate::kernel::flow::Wait;
use crate::machine::cluster::{Cluster, Cohort, Parked};
use crate::machine::ctx::Ctx;
use crate::machine::describe::{groups, groups_of_cluster, lanes, threads};
use crate::machine::geometry::Geometry;
use crate::machine::tx_log::Change;
use crate::sync::mbarrier::State;
use crate::sync::tensor_memory::WaitsFor;

/// A deadlock, with a line for each group of threads. Its place is the first of the most telling waits.
pub(crate) fn deadlock(x: &mut Ctx<'_>) -> Box<Fault> {
    if let Some(stuck) = stuck_rendezvous(x) {
        return stuck;
    }
    let mut waiting = Waiting::default();
    let mut first: Option<(Telling, usize, Cohort, u32)> = None;
    let mut slots: Vec<usize> =
        (0..x.residents.clusters.len()).filter(|&slot| x.residents.clusters[slot].resident).collect();
    slots.sort_by_key(|&slot| x.geometry.cluster_number(x.residents.clusters[slot].id));
    for slot in slots {
        let cluster = &x.residents.clusters[slot];
        let parked = joined(cluster);
        for p in &parked {
            let telling = cluster.telling(&p.wait);
            if first.is_none_or(|(most, ..)| telling > most) {
                first = Some((telling, slot, p.c, p.site));
            }
        }
        waiting.add(cluster.id, parked.iter().map(|p| (p.c.cta, wait(&x.geometry, cluster, p))).collect());
    }
    let mut waiting = waiting.lines(&x.geometry);
    waiting.extend(x.residents.clusters.iter().filter(|c| c.resident).find_map(Cluster::cycle));
    let Some((_, slot, c, site)) = first else {
        return x.fault(FaultKind::Internal("threads are lost: none runs and none waits".into()), 0);
    };
    (x.residents.slot, x.cur, x.site, x.warp) = (slot, c, site, c.lo);
    x.fault(FaultKind::Deadlock { waiting }, c.mask.trailing_zeros().min(31))
}

/// A warp whose lanes all wait for each other, some of them in an instruction that the whole warp must execute: a fault of that
/// instruction.
fn stuck_rendezvous(x: &mut Ctx<'_>) -> Option<Box<Fault>> {
    for slot in 0..x.residents.clusters.len() {
        let cluster = &x.residents.clusters[slot];
        let stuck = cluster.in_order().into_iter().find(|p| {
            let missing = cluster.missing(p);
            let elsewhere = cluster.parked.iter().filter(|o| {
                let rendezvous = matches!(o.wait, Wait::WarpSync { .. } | Wait::WholeWarp { .. });
                rendezvous && o.c.cta == p.c.cta && o.c.lo == p.c.lo && o.wait != p.wait
            });
            let there = elsewhere.fold(0, |m, o| m | o.c.mask);
            matches!(p.wait, Wait::WholeWarp { .. }) && missing & !there == 0
        });
        let Some(p) = stuck else { continue };
        let other = cluster
            .parked
            .iter()
            .find(|o| o.c.cta == p.c.cta && o.c.lo == p.c.lo && o.c.mask & cluster.missing(p) != 0);
        let at = other.map_or(String::new(), |o| match x.geometry.at(o.site) {
            Some(_) => format!(", which wait at {}", x.geometry.statement(o.site, "")),
            None => String::new(),
        });
        let (here, missing) = (lanes(cluster.gathered(p)), lanes(cluster.missing(p)));
        let what = format!("executed by {here} of a warp, but not by its {missing}{at}");
        (x.residents.slot, x.cur, x.site, x.warp) = (slot, p.c, p.site, p.c.lo);
        let lane = x.cur.mask.trailing_zeros().min(31);
        let help = "execute it where all lanes of the warp are";
        return Some(x.fault(FaultKind::IssueGranularity { what, help }, lane));
    }
    None
}

/// The parked cohorts in order; neighbouring warps that wait for the same at one statement are one.
fn joined(cluster: &Cluster) -> Vec<Parked> {
    let mut all: Vec<Parked> = Vec::new();
    for p in cluster.in_order() {
        let fits = |o: &Parked| {
            let places = |p: &Parked| (p.c.cta, p.c.mask, p.c.pc, p.site);
            o.c.hi == p.c.lo && places(o) == places(p) && o.wait == p.wait && !p.wait.is_rendezvous()
        };
        match all.last_mut() {
            Some(last) if fits(last) => last.c.hi = p.c.hi,
            _ => all.push(p.clone()),
        }
    }
    all
}

/// The line of a deadlock report for one parked cohort: its threads, its statement, and what it waits for.
pub(super) fn wait(geometry: &Geometry<'_>, cluster: &Cluster, p: &Parked) -> String {
    let who = threads(p.c.lo, p.c.hi, p.c.mask);
    let place = geometry.statement(p.site, "an unknown statement");
    format!("{who} at {place}: {}", cluster.waits_for(p, geometry))
}

/// The rank of a wait by how much it tells about the cause of a deadlock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Telling {
    /// A wait for other threads, which wait elsewhere.
    Others,
    /// A wait for a phase of which nothing has happened yet, or for Tensor Memory.
    Untouched,
    /// A wait for a phase with some of its arrivals.
    InPart,
    /// A wait for bytes that are missing, or for registers.
    Missing,
    /// A wait for a phase with more bytes than it expects.
    TooMany,
}

impl Cluster {
    fn telling(&self, wait: &Wait) -> Telling {
        let phase = |&(rank, offset): &(u32, u32)| match self.word(rank, offset).and_then(State::decode) {
            Some(s) if s.tx < 0 => Telling::TooMany,
            Some(s) if s.tx > 0 => Telling::Missing,
            Some(s) if s.pending < s.expected => Telling::InPart,
            _ => Telling::Untouched,
        };
        match wait {
            Wait::Registers { .. } => Telling::Missing,
            Wait::Phase { rank, offset, .. } => phase(&(*rank, *offset)),
            Wait::Mbarrier(objects) => {
                let all = objects.iter().map(|(rank, offset, _)| phase(&(*rank, *offset)));
                all.max().unwrap_or(Telling::Untouched)
            }
            Wait::TensorMemory { .. } => Telling::Untouched,
            Wait::Barrier { .. }
            | Wait::Cluster { .. }
            | Wait::WarpSync { .. }
            | Wait::WholeWarp { .. }
            | Wait::Warpgroup { .. } => Telling::Others,
        }
    }

    /// The description of what a group of threads waits for.
    pub(crate) fn waits_for(&self, p: &Parked, geometry: &Geometry<'_>) -> String {
        let phase = |&(rank, offset, parity): &(u32, u32, u64)| {
            let state = self.phase(&geometry.mbarrier(p.site, offset), (rank, offset), parity);
            state + &self.bytes_by_statement(rank, offset, geometry)
        };
        match &p.wait {
            Wait::Barrier { id, .. } => {
                let cta = &self.ctas[p.c.cta as usize];
                let barrier = &cta.barriers[*id as usize & 15];
                let (arrived, count) = barrier.progress(&cta.live);
                match count {
                    Some(n) => format!("waits for barrier {id}, {arrived} of {n} threads have arrived"),
                    None => {
                        format!("waits for barrier {id}, not arrived: {}", groups(barrier.missing(&cta.live)))
                    }
                }
            }
            Wait::Cluster { .. } => {
                let missing = groups_of_cluster(&self.not_at_cluster_barrier());
                format!("waits for the cluster barrier, not arrived: {missing}")
            }
            Wait::Phase { rank, offset, parity } => format!("waits for {}", phase(&(*rank, *offset, *parity))),
            Wait::Mbarrier(objects) => {
                let list: Vec<_> = objects.iter().take(4).map(phase).collect();
                format!("waits for {}", list.join(" or "))
            }
            Wait::WholeWarp { .. } => {
                let missing = lanes(self.missing(p));
                format!("waits for {missing} of its warp: the whole warp executes it together")
            }
            Wait::TensorMemory { pair, ticket } => match self.tensor_memory_waits(p.c.cta, *pair, *ticket) {
                Some(WaitsFor::Peer(opcode)) => format!("waits for `{opcode}` of CTA rank {}", p.c.cta ^ 1),
                Some(WaitsFor::Room(columns, used)) => {
                    format!("waits for {columns} free columns of Tensor Memory, {used} are allocated")
                }
                None => "waits for Tensor Memory".into(),
            },
            Wait::Registers { count, .. } => {
                let cta = &self.ctas[p.c.cta as usize];
                format!(
                    "waits for {count} registers in each thread, {} are free for a warp",
                    cta.registers.free(&cta.live)
                )
            }
            Wait::Warpgroup { groups } => {
                let cta = &self.ctas[p.c.cta as usize];
                let missing: Vec<_> = cta.warpgroup_missing(p.c.lo, p.c.hi, *groups).map(|w| w.to_string()).collect();
                format!(
                    "waits for warps {} of its warpgroup, which have not issued the same `wgmma`",
                    missing.join(", ")
                )
            }
            Wait::WarpSync { members, .. } => {
                let missing = lanes(self.missing(p));
                let others = self.ctas[p.c.cta as usize].meetings.with_others(p.c.lo, p.c.mask).next();
                let others = others.map_or(String::new(), |(_, (lane, mask))| {
                    format!("; lane {lane} was there with the member mask {mask:#010x}")
                });
                format!("waits for {missing} of its warp (members {members:#010x}){others}")
            }
        }
    }

    /// The statements that have expected and brought the bytes of an object's phase, if they do not add up to zero.
    fn bytes_by_statement(&self, rank: u32, offset: u32, geometry: &Geometry<'_>) -> String {
        let state = self.word(rank, offset).and_then(State::decode);
        let Some(cta) = self.ctas.get(rank as usize).filter(|_| state.is_some_and(|s| s.tx != 0)) else {
            return String::new();
        };
        let line = |change: Change| {
            let (statement, bytes) = (geometry.statement(change.site, "a statement"), change.bytes.unsigned_abs());
            format!("; {statement} {} {bytes} bytes", if change.bytes < 0 { "has brought" } else { "expects" })
        };
        cta.tx_log.of(offset).map(line).collect()
    }

    fn phase(&self, object: &str, (rank, offset): (u32, u32), parity: u64) -> String {
        let state = match self.word(rank, offset).and_then(State::decode) {
            Some(s) => {
                let bytes = match s.tx {
                    0 => String::new(),
                    1.. => format!(": {} more bytes are expected", s.tx),
                    _ => format!(": {} bytes more than expected have arrived", -s.tx),
                };
                // the object knows the parity of its phase, not its number
                let State { pending, expected, tx, .. } = s;
                format!("the phase is incomplete: pending count {pending} of {expected}, tx-count {tx}{bytes}")
            }
            None => "not a live object".into(),
        };
        format!("{object} of CTA rank {rank}, parity {parity} ({state})")
    }
}
