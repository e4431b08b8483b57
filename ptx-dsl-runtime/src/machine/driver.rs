//! The driver: schedules the cohorts of the resident clusters until the grid is done.
//!
//! Round-robin over clusters and cohorts unless a seed chooses. When nothing can run it probes for a deadlock.

use std::collections::VecDeque;

use crate::fault::{Fault, FaultKind};
use crate::kernel::flow::Next;
use crate::machine::body::Body;
use crate::machine::cluster::{Cohort, Parked, clear};
use crate::machine::ctx::Ctx;
use crate::machine::ctx::parts::Starts;
use crate::machine::deadlock::deadlock;
use crate::machine::polling::{self, idle};
use crate::machine::schedule::Choice;
use crate::machine::team::Verdict;
use crate::observe::monitor::{Event, Sync};

/// Regions a fragment runs before the others of its warp catch up.
const EPOCH: u32 = 256;
/// A `try_wait` times out after at most this many regions, as on hardware.
const PATIENCE: u64 = 1 << 20;

pub(super) fn drive(body: &mut dyn Body, x: &mut Ctx<'_>) -> Result<(), Box<Fault>> {
    let mut last = x.residents.clusters.len().saturating_sub(1);
    let mut probe: Option<Probe> = None;
    let mut impatient = PATIENCE;
    let mut turn = Vec::new();
    loop {
        if x.residents.take_vacant() {
            while let Some((slot, n)) = x.starts().admit() {
                start(body, x, slot, n);
            }
            if x.residents.all_free() {
                return x.budget().check_step_limit();
            }
        }
        x.budget().check_limits_if_due()?;
        if !x.async_ops.is_empty() {
            x.async_unit().deliver_due()?;
        }
        if probe.as_ref().is_some_and(|p| p.progress != x.scheduling.progress) {
            // something has changed: no deadlock
            probe = None;
            x.scheduling.probing = x.scheduling.ignores_equal_stores();
        }
        if x.scheduling.polling.is_some() {
            match polling::verdict(x) {
                polling::Verdict::Stuck => return Err(polling::stuck(body, x)),
                polling::Verdict::TimeOut => time_out_waits(x),
                polling::Verdict::Unknown => {}
            }
        }
        if x.scheduling.turns >= impatient {
            impatient = x.scheduling.turns + PATIENCE;
            time_out_waits(x);
        }
        turn.clear();
        let n = x.residents.clusters.len();
        for i in 1..=n {
            let slot = (last + i) % n;
            wake(x, slot);
            if idle::can_run(x, slot) || x.async_ops.any(slot) {
                turn.push(slot);
                if x.scheduling.always_first {
                    break;
                }
            }
        }
        if turn.is_empty() && !x.scheduling.idle.is_empty() {
            // all that could run polls, and nothing is in flight: does nothing ever change?
            x.scheduling.idle.forget();
            x.scheduling.start_polling();
            continue;
        }
        if turn.is_empty() {
            probe = Some(probe_deadlock(body, x, probe)?);
            continue;
        }
        last = turn[x.scheduling.choose(Choice::Cluster, turn.len())];
        if !idle::can_run(x, last) {
            // no thread of the cluster can run: its next asynchronous operation cannot complete any later
            x.async_unit().deliver_to(last)?;
        } else {
            run_cluster(body, x, last)?;
        }
    }
}

/// The `n`-th cluster starts in a slot.
pub(super) fn start(body: &mut dyn Body, x: &mut Ctx<'_>, slot: usize, n: u64) {
    x.starts().occupy(slot, n);
    x.scheduling.idle.forget_slot(slot);
    body.reset(slot);
}

impl Starts<'_, '_> {
    /// Starts the `n`-th cluster in a slot; the caller resets its registers.
    fn occupy(&mut self, slot: usize, n: u64) {
        let (g, cluster) = (&self.ctx.geometry, &mut self.ctx.residents.clusters[slot]);
        let id = g.clusterid(n);
        cluster.start(id, g.cluster_size() as usize, g.threads, g.shared_end() as usize, g.local_size());
        if let [cta] = &mut cluster.ctas[..] {
            cta.id = id;
        } else {
            for (rank, cta) in (0..).zip(&mut cluster.ctas) {
                cta.id = g.ctaid(id, rank);
            }
        }
        self.ctx.residents.launched += 1;
        self.ctx.report().slot_starts(slot);
        self.ctx.report().cluster_starts(slot, id);
    }

    /// The cluster of a slot runs from now on.
    #[inline(always)]
    pub(super) fn enter(&mut self, slot: usize) {
        self.ctx.residents.slot = slot;
        if self.ctx.geometry.devices > 1 {
            let device = self.ctx.geometry.device(self.ctx.residents.here().id);
            self.ctx.memory.select(device);
        }
    }

    /// Is the current cohort, which exits, all of its cluster, with nothing left to check or wake?
    fn ends_at_once(&self) -> bool {
        self.ctx.async_ops.is_unused() && self.ctx.residents.here().ends_with(&self.ctx.cur)
    }

    /// Claims the cluster that replaces the current one, which has ended, if nothing else is to be done first.
    fn claim_next(&mut self) -> Option<u64> {
        let s = &self.ctx.scheduling;
        let watched = self.ctx.monitor.is_on() && !self.ctx.monitor.needs().barriers || s.steps.is_some();
        let at_once =
            !watched && !s.rotate && s.always_first && self.ctx.residents.is_full() && self.ctx.async_ops.is_empty();
        if at_once { self.ctx.residents.claim(s.team) } else { None }
    }

    /// The fast path from one cluster to the next: the current cohort exits, its cluster ends, and the same cohort starts the next
    /// cluster in this slot. The caller resets the registers. False, with nothing done, if there is more to do.
    pub(crate) fn start_next_cluster(&mut self) -> bool {
        if self.ctx.leaves() || !self.ends_at_once() || !self.ctx.residents.here().is_reusable() {
            return false;
        }
        let Some(n) = self.claim_next() else { return false };
        self.ctx.changed();
        self.ctx.scheduling.endless.progress();
        self.ctx.scheduling.report_progress();
        self.ctx.residents.launched += 1;
        let (id, local) = (self.ctx.geometry.clusterid(n), self.ctx.geometry.local_size());
        self.ctx.here().reuse(id, local);
        self.enter(self.ctx.residents.slot);
        clear(&mut self.ctx.memory.shared);
        let slot = self.ctx.residents.slot;
        self.ctx.report().slot_starts(slot);
        self.ctx.cur = Cohort { pc: 0, resumed: false, result: 0, epoch: 0, spent: 0, ..self.ctx.cur };
        true
    }
}

pub(super) fn wake(x: &mut Ctx<'_>, slot: usize) {
    if !x.residents.clusters[slot].dirty {
        return;
    }
    let (mut woken, events) = (Vec::new(), x.monitor.wants().events || x.monitor.needs().waits);
    x.residents.clusters[slot].wake(|c| {
        if events {
            woken.push(*c);
        }
    });
    woken.iter().for_each(|c| x.report().resumes(slot, c, false));
}

fn run_cluster(body: &mut dyn Body, x: &mut Ctx<'_>, slot: usize) -> Result<(), Box<Fault>> {
    let end = x.scheduling.end_of_cluster_turn();
    x.scheduling.rotate = false;
    // when the fragments of a warp began to take turns among themselves
    let mut began = x.scheduling.time();
    loop {
        if !x.async_ops.is_empty() {
            x.async_unit().deliver_due()?;
        }
        x.budget().check_limits_if_due()?;
        x.starts().enter(slot);
        wake(x, slot);
        let Some(diverged) = pick(body, x) else { return Ok(()) };
        if x.scheduling.polling.is_some() {
            polling::watch(body, x);
        }
        idle::begin_turn(x);
        x.scheduling.begin_turn(diverged);
        x.step.clear();
        x.fragments.clear();
        let (from, before) = (x.scheduling.time(), x.scheduling.progress);
        x.report().runs();
        x.hold_shared();
        let next = body.step(x);
        x.release_shared();
        x.report().event(Event::Pauses);
        let next = next?;
        let spent = x.scheduling.time() - from;
        age(&mut x.cur, spent, diverged || matches!(next, Next::Split), x.scheduling.yielded);
        match next {
            Next::Go(pc) => {
                let c = Cohort { pc, ..x.cur };
                idle::end_turn(body, x, &c, before);
                // a fragment runs one region: other warps, which run many, come after an epoch, or if all fragments poll
                let s = &x.scheduling;
                let in_turn = diverged && s.always_first && s.time() - began < EPOCH.into();
                let is_behind = |o: &Cohort| o.overlaps(&c) && o.epoch < c.epoch;
                if in_turn && (!s.yielded || x.residents.here().ready.iter().any(is_behind)) {
                    x.here().ready.push_front(c);
                } else {
                    x.here().ready.push_back(c);
                    began = x.scheduling.time();
                }
            }
            Next::Split => {
                idle::forget_current(x);
                split(x)?;
            }
            Next::Exit => {
                idle::forget_current(x);
                if exit(x)? {
                    if x.scheduling.time() < end
                        && let Some(n) = x.starts().claim_next()
                    {
                        x.scheduling.report_progress();
                        start(body, x, slot, n);
                        continue;
                    }
                    x.residents.vacate(slot);
                    x.scheduling.report_progress();
                    return Ok(());
                }
            }
        }
        let slice_is_over = x.scheduling.time() >= end;
        if slice_is_over || x.scheduling.rotate {
            if slice_is_over && !x.scheduling.team.is_single() {
                // a cluster that polls may wait for a host thread that has no processor
                std::thread::yield_now();
            }
            return Ok(());
        }
    }
}

fn age(c: &mut Cohort, spent: u64, diverged: bool, yielded: bool) {
    if diverged {
        c.spent = c.spent.saturating_add(spent.min(EPOCH as u64) as u32);
    }
    if yielded || c.spent >= EPOCH {
        c.epoch = c.epoch.saturating_add(1);
        c.spent = 0;
    }
}

/// Takes the next cohort of the current cluster, merged with the ready ones at the same region. True if other fragments of its
/// warps are ready too.
fn pick(body: &dyn Body, x: &mut Ctx<'_>) -> Option<bool> {
    let n = x.here().ready.len();
    let mut c = match n {
        0 => return None,
        1 if x.scheduling.idle.is_empty() => {
            let c = x.here().ready.pop_front()?;
            x.cur = part(x, c);
            return Some(false);
        }
        _ if x.scheduling.idle.is_empty() => {
            let i = x.scheduling.choose(Choice::Cohort, n);
            x.here().ready.remove(i)?
        }
        _ => {
            let i = pick_of_some(x)?;
            x.here().ready.remove(i)?
        }
    };
    let ready = &x.here().ready;
    let behind = (0..ready.len()).filter(|&i| ready[i].overlaps(&c)).min_by_key(|&i| (ready[i].epoch, ready[i].pc));
    if let Some(i) = behind
        && (ready[i].epoch, ready[i].pc) < (c.epoch, c.pc)
        && x.scheduling.choose(Choice::Converge, 4) == 0
    {
        let ready = &mut x.here().ready;
        let first = ready.remove(i)?;
        ready.push_back(c);
        c = first;
    }
    let (slot, per_cta) = (x.residents.slot, x.ids().nwarps() as usize);
    let first = |c: &Cohort| c.cta as usize * per_cta + c.lo as usize;
    let agree = |o: &Cohort| o.agrees(&c) && body.agree(slot, first(o), first(&c));
    let ready = &mut x.here().ready;
    if ready.iter().any(agree) {
        c = merge(ready, c, agree);
    }
    let c = part(x, c);
    let diverged = x.here().ready.iter().any(|o| o.overlaps(&c));
    x.cur = c;
    Some(diverged)
}

/// Chooses a ready cohort of the current cluster that does not wait for a change, if there is one.
fn pick_of_some(x: &mut Ctx<'_>) -> Option<usize> {
    let slot = x.residents.slot;
    let ready: Vec<Cohort> = x.residents.clusters[slot].ready.iter().copied().collect();
    let able: Vec<usize> = (0..ready.len()).filter(|i| !idle::waits_for_change(x, slot, &ready[*i])).collect();
    let i = x.scheduling.choose(Choice::Cohort, able.len());
    able.get(i).copied()
}

/// The warps of a cohort that run now. The others are ready; a warp may run ahead of those before it.
fn part(x: &mut Ctx<'_>, c: Cohort) -> Cohort {
    let warps = c.warps();
    if warps < 2 || x.scheduling.always_first {
        return c;
    }
    let (lo, hi) = match x.scheduling.choose(Choice::Part, 4) {
        // a warp
        2 => {
            let warp = c.lo + x.scheduling.choose(Choice::Part, warps as usize) as u32;
            (warp, warp + 1)
        }
        // the last warps
        3 => (c.lo + 1 + x.scheduling.choose(Choice::Part, warps as usize - 1) as u32, c.hi),
        _ => return c,
    };
    let others = [Cohort { hi: lo, ..c }, Cohort { lo: hi, ..c }];
    x.here().ready.extend(others.into_iter().filter(|others| others.warps() != 0));
    Cohort { lo, hi, ..c }
}

/// Merges all ready cohorts that agree with `c` into as few as possible, each of neighbouring warps with equal lanes. Returns the
/// one with the first warp of `c`.
pub(super) fn merge(ready: &mut VecDeque<Cohort>, c: Cohort, agree: impl Fn(&Cohort) -> bool) -> Cohort {
    let mut lanes = [0u32; 33];
    let (mut epoch, mut spent) = (c.epoch, c.spent);
    let mut add = |o: &Cohort| {
        lanes[o.lo as usize..o.hi as usize].iter_mut().for_each(|m| *m |= o.mask);
        (epoch, spent) = (epoch, spent).max((o.epoch, o.spent));
    };
    add(&c);
    ready.retain(|o| {
        let fits = agree(o);
        if fits {
            add(o);
        }
        !fits
    });
    let mut result = c;
    let mut lo = 0;
    while lo < 32 {
        let mut hi = lo + 1;
        while hi < 32 && lanes[hi] == lanes[lo] {
            hi += 1;
        }
        if lanes[lo] != 0 {
            let run = Cohort { lo: lo as u32, hi: hi as u32, mask: lanes[lo], epoch, spent, ..c };
            if (run.lo..run.hi).contains(&c.lo) { result = run } else { ready.push_back(run) }
        }
        lo = hi;
    }
    result
}

/// Splits the current cohort: neighbouring warps that do the same stay together.
pub(super) fn split(x: &mut Ctx<'_>) -> Result<(), Box<Fault>> {
    if let Some(pc) = x.step.all_wait(&x.cur) {
        x.step.take_waiting();
        x.cur.pc = pc;
        let c = Cohort { resumed: false, result: 0, ..x.cur };
        let parked = Parked { c, wait: x.step.wait.clone(), site: x.site };
        x.report().waits(&parked);
        let here = x.here();
        here.parked.push(parked);
        here.dirty = true;
        return Ok(());
    }
    let mut parts = std::mem::take(&mut x.step.parts);
    if parts.is_empty() {
        return Err(x.fault(FaultKind::Internal("a region ended without saying where to go".into()), 0));
    }
    let cur = x.cur;
    let (mut groups, mut ready) = std::mem::take(&mut x.step.scratch);
    for p in parts.drain(..) {
        let c = Cohort { lo: p.warp, hi: p.warp + 1, mask: p.mask, pc: p.pc, resumed: false, result: 0, ..cur };
        let fits = |o: &Cohort| o.hi == c.lo && o.mask == c.mask && o.pc == c.pc;
        match p.wait {
            None => match ready.iter_mut().find(|o| fits(o)) {
                Some(o) => o.hi = c.hi,
                None => ready.push(c),
            },
            // a rendezvous is of one warp
            Some(wait) => {
                let own = wait.is_rendezvous();
                match groups.iter_mut().find(|o| !own && fits(&o.c) && o.wait == wait) {
                    Some(o) => o.c.hi = c.hi,
                    None => groups.push(Parked { c, wait, site: p.site }),
                }
            }
        }
    }
    x.step.parts = parts;
    for p in groups.drain(..) {
        x.report().waits(&p);
        let here = x.here();
        here.parked.push(p);
        here.dirty = true;
    }
    x.here().ready.extend(ready.drain(..));
    x.step.scratch = (groups, ready);
    Ok(())
}

/// The threads of the current cohort exit: barriers no longer count them. True if the cluster has ended.
pub(super) fn exit(x: &mut Ctx<'_>) -> Result<bool, Box<Fault>> {
    x.scheduling.endless.progress();
    let (c, per_cta) = (x.cur, x.ids().nwarps() as usize);
    if x.starts().ends_at_once() {
        let cta = x.cta_mut();
        (cta.threads, cta.exited) = (0, true);
        x.changed();
        return ended(x);
    }
    let cluster = x.here();
    cluster.ctas[c.cta as usize].live_dirty = true;
    let mut phase = false;
    for w in c.lo..c.hi {
        phase |= cluster.barrier.exit(c.cta as usize * per_cta + w as usize, c.mask);
        let cta = &mut cluster.ctas[c.cta as usize];
        cta.live[w as usize] &= !c.mask;
        cta.threads -= c.mask.count_ones();
    }
    cluster.dirty = true;
    let cta = &mut cluster.ctas[c.cta as usize];
    cta.exited = cta.threads == 0;
    let exited = cta.exited;
    if exited
        && !x.async_ops.is_empty()
        && let Some(fault) = x.async_unit().undelivered_to(c.cta)
    {
        return Err(fault);
    }
    if exited && x.ids().cluster_size() > 1 {
        x.warp = c.lo;
        x.report_sync(Sync::CtaEnds, c.mask)?;
    }
    if phase {
        x.report_sync(Sync::ClusterCompletes, c.mask)?;
    }
    let mut completed = 0;
    let cta = &mut x.here().ctas[c.cta as usize];
    for id in (0..16).filter(|id| cta.barriers_used >> id & 1 != 0) {
        match cta.barriers[id].check(&cta.live, cta.threads) {
            Ok(complete) => completed |= u32::from(complete) << id,
            Err(what) => {
                let lane = c.mask.trailing_zeros().min(31);
                return Err(x.fault(FaultKind::Barrier { id: id as u32, what }, lane));
            }
        }
    }
    for id in (0..16).filter(|id| completed >> id & 1 != 0) {
        x.report_sync(Sync::BarrierCompletes { id: id as u32 }, c.mask)?;
    }
    x.changed();
    if x.cta().exited {
        x.tensor().check_at_exit(c.cta)?;
    }
    ended(x)
}

/// Has the current cluster ended?
fn ended(x: &mut Ctx<'_>) -> Result<bool, Box<Fault>> {
    let (slot, ended) = (x.residents.slot, x.here().ctas.iter().all(|c| c.exited));
    if ended {
        x.report().event(Event::ClusterEnds { slot: slot as u32 });
        if !x.async_ops.is_unused() {
            x.async_unit().end_of_cluster(slot)?;
        }
    }
    Ok(ended)
}

/// Times out every wait at an mbarrier: `try_wait` returns false.
pub(super) fn time_out_waits(x: &mut Ctx<'_>) {
    for slot in 0..x.residents.clusters.len() {
        let parked = std::mem::take(&mut x.residents.clusters[slot].parked);
        for p in parked {
            if p.wait.can_time_out() {
                x.report().resumes(slot, &p.c, true);
                x.residents.clusters[slot].make_ready(Cohort { resumed: true, result: 0, ..p.c });
            } else {
                x.residents.clusters[slot].parked.push(p);
            }
        }
    }
}

/// A deadlock probe: all waits that could time out, when nothing could run.
pub(super) struct Probe {
    /// The parked warps by slot.
    waiting: Vec<(usize, Cohort)>,
    pub progress: u64,
    /// The team's epoch before the waits timed out.
    epoch: u64,
}

/// No thread can run and nothing is in flight. `try_wait` may return false after a time, so all of them do. If all threads then
/// wait again with no change of memory or registers, that repeats forever: a deadlock.
pub(super) fn probe_deadlock(body: &mut dyn Body, x: &mut Ctx<'_>, last: Option<Probe>) -> Result<Probe, Box<Fault>> {
    let mut waiting = Vec::new();
    for (slot, cluster) in x.residents.clusters.iter().enumerate() {
        let mbarrier = cluster.parked.iter().filter(|p| p.wait.can_time_out());
        // warp by warp: a seed divides the cohorts in another way each time
        let warps = mbarrier.flat_map(|p| (p.c.lo..p.c.hi).map(|lo| Cohort { lo, hi: lo + 1, ..p.c }));
        waiting.extend(warps.map(|c| (slot, Cohort { epoch: 0, spent: 0, resumed: false, result: 0, ..c })));
    }
    waiting.sort_unstable_by_key(|(slot, c)| (*slot, c.cta, c.lo, c.mask, c.pc));
    let last = last.filter(|p| p.waiting == waiting && p.progress == x.scheduling.progress && body.unchanged());
    // another host thread cannot end these waits, but it can store what a loop around `try_wait` reads
    let epoch = match last {
        _ if waiting.is_empty() => return Err(deadlock(x)),
        None => x.scheduling.team.begin_epoch(),
        Some(_) if x.scheduling.team.is_single() => return Err(deadlock(x)),
        Some(p) => match x.scheduling.team.agree(p.epoch) {
            Verdict::Deadlock => return Err(deadlock(x)),
            Verdict::Stop => return Err(x.budget().stop()),
            Verdict::Again => x.scheduling.team.epoch(),
        },
    };
    let per_cta = x.ids().nwarps() as usize;
    let warps = waiting.iter().map(|(slot, c)| {
        let first = c.cta as usize * per_cta;
        (*slot, first + c.lo as usize, first + c.hi as usize)
    });
    body.snapshot(&warps.collect::<Vec<_>>());
    x.scheduling.probing = true;
    time_out_waits(x);
    Ok(Probe { waiting, progress: x.scheduling.progress, epoch })
}
