//! The clocks of the threads of the resident clusters.

mod warp;

use super::actor::{self, Actor};
use super::clock::Clock;
use crate::observe::monitor::Who;
use std::rc::Rc;

pub(super) use warp::{Fenced, Published, Warp, join_fenced};

/// A resident cluster.
#[derive(Debug, Default)]
struct ClusterThreads {
    number: u32,
    /// Threads of each CTA.
    threads: u32,
    /// The warps so far, by rank and warp.
    warps: Vec<Warp>,
    /// The clock of a thread that starts.
    nothing: Rc<Clock>,
    /// The first warp, and the number of warps, that have used the same time and know the same, if nobody has asked for a warp
    /// since.
    alike: (u32, u32),
}

impl ClusterThreads {
    /// Makes warps up to this number.
    #[cold]
    fn grow(&mut self, to: u32) {
        for next in self.warps.len() as u32..to {
            let (id, exist) = self.warp(next);
            self.warps.push(Warp::new(id, exist, self.neighbours(), &self.nothing));
        }
    }

    /// The actor of a warp, and the lanes that exist.
    fn warp(&self, at: u32) -> (Actor, u32) {
        let exist = self.threads.saturating_sub(at % 32 * 32);
        let exist = if exist >= 32 { u32::MAX } else { (1 << exist) - 1 };
        (actor::warp(self.number, at / 32, at), exist)
    }

    /// Warps from one on access memory. False if they do so at different times, or their lanes do not know the same.
    fn access(&mut self, from: u32, count: u32) -> bool {
        if (self.warps.len() as u32) < from + count {
            self.grow(from + count);
        }
        let Some(warps) = self.warps.get_mut(from as usize..(from + count) as usize) else { return false };
        let Some(time) = warps.first().map(|warp| warp.time) else { return false };
        let alike = warps.iter_mut().fold(true, |alike, warp| alike & (warp.event() == time) & warp.whole);
        self.alike = if alike { (from, count) } else { (0, 0) };
        alike
    }

    /// The warps of a CTA, so many from one on, meet. False, with nothing done, if one of them has learnt anything but from such barriers.
    fn meet_plain(&mut self, from: u32, count: u32) -> bool {
        let warps = self.warps.get_mut(from as usize..(from + count) as usize);
        let Some(warps) = warps.filter(|warps| warps.iter().all(|warp| warp.plain)) else { return false };
        meet_at_one_time(warps);
        self.alike = (0, 0);
        true
    }

    fn neighbours(&self) -> u32 {
        self.threads.div_ceil(32).min(32)
    }
}

/// All threads of a CTA meet, who know nothing of others but what barriers of the CTA say, and a clock that they share: then the new
/// barrier says all. False, with nothing done, if that is not so.
fn meet_all(warps: &mut [Warp], lanes: &[(u32, u32)]) -> bool {
    let Some(known) = warps.first().and_then(|warp| warp.groups.first()).map(|group| group.known.clone()) else {
        return false;
    };
    // each warp as a whole, in their order
    let is_whole = |(warp, (at, (w, lanes))): (&Warp, (u32, &(u32, u32)))| {
        at == *w && *lanes == warp.exist && warp.knows_only(&known)
    };
    if lanes.len() != warps.len() || !warps.iter().zip((0..).zip(lanes)).all(is_whole) {
        return false;
    }
    meet_at_one_time(warps);
    true
}

/// The barrier says all that is to be known.
fn meet_at_one_time(warps: &mut [Warp]) {
    warps.iter_mut().for_each(Warp::end_event);
    let time = warps.iter().map(|warp| warp.time).max().unwrap_or(0);
    warps.iter_mut().for_each(|warp| (warp.time, warp.floor) = (time, time));
}

/// The join of the clocks of these lanes of warps, their own events excepted. `None` if a warp is missing.
fn join_groups(warps: &[Warp], lanes: &[(u32, u32)]) -> Option<(Clock, Fenced)> {
    let mut all: Option<(Rc<Clock>, Fenced)> = None;
    for &(w, lanes) in lanes {
        for g in warps.get(w as usize)?.groups.iter().filter(|g| g.lanes & lanes != 0) {
            let Some((known, fenced)) = &mut all else {
                all = Some((g.known.clone(), g.fenced.clone()));
                continue;
            };
            if !Rc::ptr_eq(known, &g.known) {
                Rc::make_mut(known).join(&g.known);
            }
            join_fenced(fenced, &g.fenced);
        }
    }
    let (known, fenced) = all?;
    Some((Rc::unwrap_or_clone(known), fenced))
}

/// The warps of the resident clusters.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// The cluster in each slot.
    slots: Vec<ClusterThreads>,
    /// Clusters started so far.
    clusters: u32,
    /// `%ctaid` of the CTAs, by cluster.
    ctas: Vec<[u32; 3]>,
    /// CTAs of a cluster.
    size: usize,
}

impl Threads {
    /// A cluster starts.
    pub fn start(&mut self, slot: u32, ctas: &[[u32; 3]], threads: u32) {
        let slot = slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Default::default);
        }
        let cluster = &mut self.slots[slot];
        (cluster.number, cluster.threads) = (self.clusters, threads);
        let mut warps = std::mem::take(&mut cluster.warps);
        warps.truncate(32 * ctas.len());
        for (warp, at) in warps.iter_mut().zip(0..) {
            let (id, exist) = cluster.warp(at);
            warp.start(id, exist, cluster.neighbours(), &cluster.nothing);
        }
        (cluster.warps, cluster.alike) = (warps, (0, 0));
        self.clusters += 1;
        self.ctas.extend_from_slice(ctas);
        self.size = ctas.len();
    }

    /// A warp of a resident cluster.
    #[inline]
    pub fn warp(&mut self, slot: u32, rank: u32, warp: u32) -> Option<&mut Warp> {
        let warp = self.accessing(slot, rank, warp)?;
        warp.plain = false;
        Some(warp)
    }

    /// The state of a warp that accesses memory, and learns nothing.
    #[inline]
    fn accessing(&mut self, slot: u32, rank: u32, warp: u32) -> Option<&mut Warp> {
        let cluster = self.slots.get_mut(slot as usize)?;
        cluster.alike = (0, 0);
        let at = rank * 32 + warp;
        if cluster.warps.len() as u32 <= at {
            cluster.grow(at + 1);
        }
        cluster.warps.get_mut(at as usize)
    }

    /// Makes an access of this warp and those after it, `count` in all, at one time. `None` if their lanes do not know the same.
    #[inline]
    pub fn all_access(&mut self, who: Who, count: u32) -> Option<&[Warp]> {
        let cluster = self.slots.get_mut(who.slot as usize)?;
        let from = who.rank * 32 + who.warp;
        if cluster.alike != (from, count) && !cluster.access(from, count) {
            return None;
        }
        cluster.warps.get(from as usize..(from + count) as usize)
    }

    /// All threads of a CTA, which has whole warps, have met.
    pub fn meet_all(&mut self, slot: u32, rank: u32, warps: u32) {
        if self.slots.get_mut(slot as usize).is_some_and(|cluster| cluster.meet_plain(rank * 32, warps)) {
            return;
        }
        let mut lanes = [(0, u32::MAX); 32];
        lanes.iter_mut().zip(0..).for_each(|(lanes, warp)| lanes.0 = warp);
        self.meet(slot, rank, &lanes[..warps as usize], None);
    }

    /// Joins the clocks of these lanes of the warps of a CTA, which have met: from now on they know each other's events, and what
    /// any of them knew. `others` have only arrived.
    pub fn meet(&mut self, slot: u32, rank: u32, lanes: &[(u32, u32)], others: Option<Published>) {
        let Some(cluster) = self.slots.get_mut(slot as usize) else { return };
        let from = rank * 32;
        let to = from + cluster.threads.div_ceil(32).min(32);
        cluster.grow(to);
        cluster.alike = (0, 0);
        let Some(warps) = cluster.warps.get_mut(from as usize..to as usize) else { return };
        if others.is_none() && meet_all(warps, lanes) {
            return;
        }
        warps.iter_mut().for_each(|warp| warp.plain = false);
        warps.iter_mut().for_each(Warp::report_clocks);
        let Some((mut known, mut fenced)) = join_groups(warps, lanes) else { return };
        if let Some(others) = others {
            known.join(&others.known);
            join_fenced(&mut fenced, &others.fenced);
        }
        let mut missing = [0; 32];
        missing.iter_mut().zip(&*warps).for_each(|(missing, warp)| *missing = warp.exist);
        lanes.iter().for_each(|&(w, lanes)| missing[w as usize & 31] &= !lanes);
        let all = missing == [0; 32];
        warps.iter_mut().for_each(Warp::end_event);
        let time = warps.iter().map(|w| w.time).max().unwrap_or(0);
        for &(w, lanes) in lanes {
            let warp = &mut warps[w as usize];
            if all {
                (warp.time, warp.floor, warp.told) = (time, time, time);
            }
            warp.own(lanes).for_each(|(actor, lanes, time)| known.learn(actor, lanes, time));
        }
        let known = Rc::new(known);
        for &(w, lanes) in lanes {
            warps[w as usize].replace(lanes, &known, &fenced);
        }
    }

    /// Has a thread of a CTA waited for these events?
    pub fn is_known_in(&self, slot: u32, rank: u32, actor: Actor, lanes: u32, time: u32) -> bool {
        let Some(cluster) = self.slots.get(slot as usize) else { return true };
        let warps = cluster.warps.iter().skip(rank as usize * 32).take(32);
        let knows = |clock: &Clock| clock.knows(actor, lanes, time);
        warps.into_iter().any(|warp| knows(&warp.met) || warp.groups.iter().any(|g| knows(&g.known)))
    }

    #[inline]
    pub fn of(&mut self, who: Who) -> Option<&mut Warp> {
        self.warp(who.slot, who.rank, who.warp)
    }

    /// The warp of lanes that access memory, and learn nothing.
    #[inline]
    pub fn accesses(&mut self, who: Who) -> Option<&mut Warp> {
        self.accessing(who.slot, who.rank, who.warp)
    }

    /// The warp with this number, if its cluster is resident.
    pub fn warp_of(&self, actor: Actor) -> Option<&Warp> {
        let (rank, number) = actor::place(actor);
        let cluster = self.slots.iter().find(|cluster| cluster.number == actor::cluster_of(actor))?;
        cluster.warps.get((rank * 32 + number) as usize)
    }

    /// The state of a warp of a resident cluster, if it has done anything.
    pub fn warp_at(&self, who: Who) -> Option<&Warp> {
        self.slots.get(who.slot as usize)?.warps.get((who.rank * 32 + who.warp) as usize)
    }

    /// Slot, CTA rank and number of a warp, if its cluster is resident.
    pub fn resident(&self, warp: Actor) -> Option<(u32, u32, u32)> {
        let slot = self.slots.iter().position(|cluster| cluster.number == actor::cluster_of(warp))?;
        let (rank, number) = actor::place(warp);
        Some((slot as u32, rank, number))
    }

    /// `%ctaid`, CTA rank and warp.
    pub fn place(&self, actor: Actor) -> ([u32; 3], u32, u32) {
        let (rank, number) = actor::place(actor);
        let cta = self.ctas.get(actor::cluster_of(actor) as usize * self.size + rank as usize);
        (cta.copied().unwrap_or_default(), rank, number)
    }
}
