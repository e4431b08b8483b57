//! Loops that can never end: all threads that could run poll, and nothing that they read can change any more.
//!
//! When a launch has run for long with no thread ending, each cohort is watched as it is picked. One that comes back to a region with the
//! same values in all registers that matter, while memory and synchronisation state stay as they are, does the same forever. If that
//! holds for all of them, and nothing is in flight, it is a deadlock.

pub(crate) mod idle;
pub(crate) mod seen;
pub(crate) mod touched;
mod values;

use crate::fault::words::{at, id};
use crate::fault::{Fault, FaultKind};
use crate::machine::body::{Body, Looping};
use crate::machine::cluster::Cohort;
use crate::machine::ctx::Ctx;
use crate::machine::deadlock::{Waiting, wait};
use crate::machine::describe::threads;
use ptx_dsl_isa::image::NO_SITE;
use seen::{CHANGES, CohortKey, CohortState};

fn key(slot: usize, c: &Cohort) -> CohortKey {
    (slot, c.cta, c.lo, c.hi, c.mask)
}

fn looping(slot: usize, c: &Cohort) -> Looping {
    let (cta, lo, hi) = (c.cta as usize, c.lo as usize, c.hi as usize);
    Looping { slot, cta, lo, hi, mask: c.mask, pc: c.pc }
}

/// The current cohort is about to run.
pub(super) fn watch(body: &mut dyn Body, x: &mut Ctx<'_>) {
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

/// The verdict of a watch for polling loops.
pub(super) enum Verdict {
    /// The watch has to go on.
    Unknown,
    /// Everything that can run polls, so waits at mbarriers have to time out.
    TimeOut,
    /// The launch is stuck: no value will ever change.
    Stuck,
}

/// Does everything poll or wait forever?
pub(super) fn verdict(x: &mut Ctx<'_>) -> Verdict {
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
pub(super) fn stuck(body: &mut dyn Body, x: &mut Ctx<'_>) -> Box<Fault> {
    let (mut waiting, mut first, mut writers) = (Waiting::default(), None, Vec::new());
    let slots = (0..x.residents.clusters.len()).filter(|slot| x.residents.clusters[*slot].resident);
    for slot in slots.collect::<Vec<_>>() {
        let mut ready: Vec<Cohort> = x.residents.clusters[slot].ready.iter().copied().collect();
        ready.sort_by_key(|c| (c.cta, c.lo, c.mask.trailing_zeros()));
        let mut waits = Vec::new();
        for c in ready {
            let polls = body.loop_reads(&looping(slot, &c));
            let loops = x.geometry.loops(c.pc);
            let site = polls.reads.first().map(|read| read.site).or(loops.statement).unwrap_or(NO_SITE);
            (x.residents.slot, x.cur) = (slot, c);
            first = first.or(Some((slot, c, site)));
            writers.extend(polls.writers);
            let reads: Vec<_> = polls.reads.iter().take(4).map(|read| values::polled(x, read)).collect();
            let head = loops.heads.first().map_or(String::new(), |head| format!(" in the loop {}", at(head)));
            let what = if reads.is_empty() { "runs forever".into() } else { format!("polls {}", reads.join(", ")) };
            waits.push((c.cta, format!("{}{head}: {what}", threads(c.lo, c.hi, c.mask))));
        }
        let cluster = &x.residents.clusters[slot];
        waits.extend(cluster.in_order().into_iter().map(|p| (p.c.cta, wait(&x.geometry, cluster, p))));
        waiting.add(cluster.id, waits);
    }
    let mut waiting = waiting.lines(&x.geometry);
    writers.sort_unstable();
    writers.dedup();
    let list: Vec<_> = writers.iter().take(4).map(|site| x.geometry.statement(*site, "")).collect();
    let pending = x.residents.pending(x.scheduling.team);
    let who = if pending > 0 { "no resident thread" } else { "no thread" };
    waiting.push(match &list[..] {
        [] => "no statement outside of these loops changes memory".into(),
        list => format!("{who} will execute what could change that: {}", list.join(", ")),
    });
    if pending > 0 {
        waiting.push(places(x, pending));
    }
    if let Some((slot, c, site)) = first {
        (x.residents.slot, x.cur, x.site, x.warp) = (slot, c, site, c.lo);
    }
    let lane = x.cur.mask.trailing_zeros().min(31);
    x.fault(FaultKind::Deadlock { waiting }, lane)
}

/// Clusters that start only when a resident one ends. PTX does not promise that they run while others poll, nor in which order they start.
fn places(x: &Ctx<'_>, pending: u64) -> String {
    let resident = x.residents.clusters.iter().filter(|c| c.resident);
    let last = resident.max_by_key(|c| x.geometry.cluster_number(c.id));
    let next = x.scheduling.team.next_pending();
    if let (Some(last), Some(next)) = (last, next)
        && next < x.geometry.cluster_number(last.id)
    {
        let name = |of: [u32; 3]| format!("CTA {}", id(x.geometry.ctaid(of, 0)));
        return format!(
            "{} has started before {}: CTAs start in any order, so one must not wait for another that may start later; let each take its \
             number from a counter with `atom.add`, or use `Host::start_in_order` or `--start-in-order` for a GPU that starts them in order",
            name(last.id),
            name(x.geometry.clusterid(next))
        );
    }
    let resident = x.residents.clusters.len();
    let (clusters, start) = if pending == 1 { ("cluster", "starts") } else { ("clusters", "start") };
    let all = pending + resident as u64;
    format!(
        "{pending} more {clusters} {start} only when one of the {resident} resident clusters ends, so these must not wait for what a later \
         one does; a GPU that has room for {all} clusters runs them all at once: `Host::resident_clusters({all})` or `--resident {all}`"
    )
}
