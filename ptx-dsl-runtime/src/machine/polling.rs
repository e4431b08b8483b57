//! Loops that can never end: all threads that could run poll, and nothing that they read can change any more.
//!
//! When a launch has run for long with no thread ending, each cohort is watched as it is picked. One that comes back to a region with the
//! same values in all registers that matter, while memory and synchronisation state stay as they are, does the same for ever. If that
//! holds for all of them, and nothing is in flight, it is a deadlock.

use std::collections::HashMap;

use crate::fault::{Fault, FaultKind};
use crate::flow::Pc;
use crate::machine::body::{Body, Looping};
use crate::machine::cluster::Cohort;
use crate::machine::ctx::Ctx;
use crate::machine::deadlock::line;
use crate::machine::describe::threads;
use crate::monitor::Monitor;

/// A cohort: slot, CTA, warps, lanes.
type Key = (usize, u32, u32, u32, u32);

fn key(slot: usize, c: &Cohort) -> Key {
    (slot, c.cta, c.lo, c.hi, c.mask)
}

fn looping(slot: usize, c: &Cohort) -> Looping {
    let (cta, lo, hi) = (c.cta as usize, c.lo as usize, c.hi as usize);
    Looping { slot, cta, lo, hi, mask: c.mask, pc: c.pc }
}

/// A state in which a cohort was picked.
#[derive(Debug)]
struct Seen {
    state: (Pc, bool, [u64; 2]),
    /// How often it came back to it.
    repeats: u32,
    /// It was picked so often, and takes the state anew at powers of two.
    picks: u64,
}

/// So often a state has to come back.
const ENOUGH: u32 = 3;
/// Changes of memory after which a watch ends.
const CHANGES: u32 = 64;
/// Regions that a watch takes.
const TURNS: u64 = 1 << 19;
/// Groups of threads, statements that a report lists.
const MOST: usize = 16;

/// A watch of all cohorts.
#[derive(Debug)]
pub(crate) struct Polling {
    progress: u64,
    changes: u32,
    until: u64,
    seen: HashMap<Key, Seen>,
    /// How often all waits at mbarriers have timed out.
    timeouts: u32,
}

impl Polling {
    /// From this progress and time on.
    pub fn new(progress: u64, turns: u64) -> Polling {
        Polling { progress, changes: 0, until: turns + TURNS, seen: HashMap::new(), timeouts: 0 }
    }

    fn repeats(&self, key: Key) -> bool {
        self.seen.get(&key).is_some_and(|seen| seen.repeats >= ENOUGH)
    }

    /// A cohort is picked in this state.
    fn pick(&mut self, key: Key, state: (Pc, bool, [u64; 2])) {
        let seen = self.seen.entry(key).or_insert(Seen { state, repeats: 0, picks: 0 });
        seen.picks += 1;
        if seen.picks > 1 && seen.state == state {
            seen.repeats += 1;
        } else if seen.picks.is_power_of_two() {
            (seen.state, seen.repeats) = (state, 0);
        }
    }
}

/// The current cohort is about to run.
pub(super) fn watch<M: Monitor>(body: &mut dyn Body<M>, x: &mut Ctx<'_, M>) {
    let slot = x.residents.slot;
    let Some(polling) = &mut x.scheduling.polling else { return };
    if polling.progress != x.scheduling.progress {
        polling.progress = x.scheduling.progress;
        polling.changes += 1;
        polling.seen.clear();
        polling.timeouts = 0;
    }
    if polling.changes > CHANGES || x.scheduling.turns > polling.until {
        x.scheduling.stop_polling();
        return;
    }
    if let Some(state) = body.loop_state(&looping(slot, &x.cur)) {
        polling.pick(key(slot, &x.cur), (x.cur.pc, x.cur.resumed, state));
    }
}

/// What a watch has found out.
pub(super) enum Verdict {
    /// Nothing yet.
    Unknown,
    /// All that can run polls: what waits at mbarriers has to time out.
    TimeOut,
    /// Nothing will ever change.
    Stuck,
}

/// Does everything poll or wait for ever?
pub(super) fn verdict<M: Monitor>(x: &mut Ctx<'_, M>) -> Verdict {
    let Some(polling) = &mut x.scheduling.polling else { return Verdict::Unknown };
    if polling.progress != x.scheduling.progress || !x.async_ops.is_empty() {
        return Verdict::Unknown;
    }
    let resident = || x.residents.clusters.iter().enumerate().filter(|(_, c)| c.resident);
    let mut ready = resident().flat_map(|(slot, cluster)| cluster.ready.iter().map(move |c| key(slot, c)));
    let polls = resident().any(|(_, cluster)| !cluster.ready.is_empty());
    if !polls || !ready.all(|key| polling.repeats(key)) {
        return Verdict::Unknown;
    }
    let waits = resident().flat_map(|(slot, cluster)| {
        cluster.parked.iter().filter(|p| p.wait.can_time_out()).map(move |p| key(slot, &p.c))
    });
    if waits.into_iter().all(|key| polling.repeats(key)) {
        return Verdict::Stuck;
    }
    polling.timeouts += 1;
    // enough for each to come back to one state, if it ever does
    if polling.timeouts < 32 { Verdict::TimeOut } else { Verdict::Unknown }
}

/// The fault.
pub(super) fn stuck<M: Monitor>(body: &mut dyn Body<M>, x: &mut Ctx<'_, M>) -> Box<Fault> {
    let (mut waiting, mut first, mut writers) = (Vec::new(), None, Vec::new());
    for slot in (0..x.residents.clusters.len()).filter(|slot| x.residents.clusters[*slot].resident) {
        let mut ready: Vec<Cohort> = x.residents.clusters[slot].ready.iter().copied().collect();
        ready.sort_by_key(|c| (c.cta, c.lo, c.mask.trailing_zeros()));
        for c in ready {
            let polls = body.loop_reads(&looping(slot, &c));
            let site = polls.reads.first().map_or(u32::MAX, |read| read.0);
            first = first.or(Some((slot, c, site)));
            writers.extend(polls.writers);
            let reads: Vec<_> = polls.reads.iter().take(4).map(|(site, at)| x.polled(*site, *at)).collect();
            let ctaid = x.geometry.ctaid(x.residents.clusters[slot].id, c.cta);
            let head = x.geometry.loops(c.pc).first().map_or(String::new(), |head| format!(" in the loop at `{head}`"));
            let what = if reads.is_empty() { "runs for ever".into() } else { format!("polls {}", reads.join(", ")) };
            waiting.push(format!("CTA {ctaid:?}, {}{head}: {what}", threads(c.lo, c.hi, c.mask)));
        }
        let cluster = &x.residents.clusters[slot];
        waiting.extend(cluster.in_order().into_iter().map(|p| line(&x.geometry, cluster, p)));
    }
    if waiting.len() > MOST {
        let more = waiting.len() - MOST;
        waiting.truncate(MOST);
        waiting.push(format!("and {more} more groups of threads"));
    }
    writers.sort_unstable();
    writers.dedup();
    let list: Vec<_> = writers.iter().take(4).map(|site| x.geometry.statement(*site, "")).collect();
    waiting.push(match &list[..] {
        [] => "no statement outside of these loops changes memory".into(),
        list => format!("no thread will execute what could change that: {}", list.join(", ")),
    });
    if let Some((slot, c, site)) = first {
        (x.residents.slot, x.cur, x.site, x.warp) = (slot, c, site, c.lo);
    }
    let lane = x.cur.mask.trailing_zeros().min(31);
    x.fault(FaultKind::Deadlock { waiting }, lane)
}

impl<M> Ctx<'_, M> {
    /// A statement that polls, and where.
    fn polled(&self, site: u32, at: Option<u64>) -> String {
        let statement = self.geometry.statement(site, "memory");
        match at {
            Some(at) => {
                let place = self.place_in_words(at).unwrap_or_else(|| format!("address {at:#x}"));
                format!("{statement} at {place}")
            }
            None => statement,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_comes_back_repeats() {
        let (key, state) = ((0, 0, 0, 1, 1), |pc| (pc, false, [0; 2]));
        let mut polling = Polling::new(0, 0);
        for i in 0..100 {
            polling.pick(key, state(i));
        }
        assert!(!polling.repeats(key));
        // after a prologue, a cycle of three
        for i in 0..200 {
            polling.pick(key, state(i % 3));
        }
        assert!(polling.repeats(key));
    }
}
