//! The driver: runs cohorts until the grid is done.

use std::collections::VecDeque;

use crate::fault::{Fault, FaultKind};
use crate::kernel::Next;
use crate::machine::cluster::{Cohort, Parked, clear};
use crate::machine::team::Verdict;
use crate::machine::{Body, Ctx};
use crate::monitor::{Monitor, Who};
use crate::schedule::Choice;

/// Regions a cluster runs before another resident one has a turn.
const SLICE: u64 = 1 << 14;
/// Regions a fragment runs ahead of the others of its warp.
const EPOCH: u32 = 256;
/// A `try_wait` that has waited this many regions or more returns false, as the hardware's does after a time.
const PATIENCE: u64 = 1 << 20;

/// Runs the grid.
pub(crate) fn drive<M: Monitor>(body: &mut dyn Body<M>, x: &mut Ctx<'_, M>) -> Result<(), Box<Fault>> {
    let mut last = x.clusters.len().saturating_sub(1);
    let mut probe: Option<Probe> = None;
    let mut impatient = PATIENCE;
    let mut turn = Vec::new();
    loop {
        if x.vacant {
            x.vacant = false;
            admit(body, x);
            if x.free.len() == x.clusters.len() {
                return x.settle();
            }
        }
        x.look_around()?;
        if !x.agents.is_empty() {
            x.deliver_due()?;
        }
        if probe.as_ref().is_some_and(|p| p.progress != x.progress) {
            // something has changed: they go on
            probe = None;
            x.probing = false;
        }
        if x.turns >= impatient {
            impatient = x.turns + PATIENCE;
            give_up_waiting(x);
        }
        turn.clear();
        let n = x.clusters.len();
        for i in 1..=n {
            let slot = (last + i) % n;
            wake(x, slot);
            if !x.clusters[slot].ready.is_empty() || x.agents.any(slot) {
                turn.push(slot);
                if x.plain {
                    break;
                }
            }
        }
        if turn.is_empty() {
            probe = Some(quiet(body, x, probe)?);
            continue;
        }
        last = turn[x.choose(Choice::Cluster, turn.len())];
        if x.clusters[last].ready.is_empty() {
            // nobody of the cluster can run: this is as late as what is under way for it can be
            x.deliver_to(last)?;
        } else {
            run_cluster(body, x, last)?;
        }
    }
}

/// Fills free places with pending clusters.
fn admit<M: Monitor>(body: &mut dyn Body<M>, x: &mut Ctx<'_, M>) {
    while let Some(&slot) = x.free.last() {
        let Some(n) = x.team.take(&mut x.hand) else { return };
        x.free.pop();
        start(body, x, slot, n);
    }
}

/// The `n`-th cluster takes a place.
fn start<M: Monitor>(body: &mut dyn Body<M>, x: &mut Ctx<'_, M>, slot: usize, n: u64) {
    x.occupy(slot, n);
    body.reset(slot);
}

impl<M: Monitor> Ctx<'_, M> {
    /// The `n`-th cluster takes a place; its registers are the caller's.
    fn occupy(&mut self, slot: usize, n: u64) {
        let id = self.cluster_of(n);
        self.report.clusters_launched += 1;
        let shared = self.shared_size().2 as usize;
        let (ctas, threads, local) = (self.cluster_size() as usize, self.threads, self.local_size());
        self.clusters[slot].start(id, ctas, threads, shared, local);
        if let [cta] = &mut self.clusters[slot].ctas[..] {
            cta.id = id;
        } else {
            for rank in 0..ctas {
                let within = self.ctaid_in_cluster(rank as u32);
                self.clusters[slot].ctas[rank].id = std::array::from_fn(|i| id[i] * self.cluster[i] + within[i]);
            }
        }
        if M::ON {
            self.monitor.cluster(slot as u32);
        }
    }

    /// Bytes of `.local` memory of a CTA.
    fn local_size(&self) -> usize {
        self.info.local_size as usize * self.threads.next_multiple_of(32) as usize
    }

    /// Is the current cohort, which ends, all of its cluster, and has nobody to be asked or told?
    fn ends_at_once(&self) -> bool {
        self.agents.is_empty() && self.pairs.is_none() && self.clusters[self.slot].ends_with(&self.cur)
    }

    /// The cluster that takes the place of the current one, which has ended, at once: where nobody has to be asked or told.
    fn next_here(&mut self) -> Option<u64> {
        let at_once = !M::ON && !self.rotate && self.plain && self.free.is_empty() && self.agents.is_empty();
        if at_once { self.team.take(&mut self.hand) } else { None }
    }

    /// The current cohort ends, and its cluster with it: the next one takes its place, and the same cohort goes on as that, with
    /// registers that the caller makes new. False, with nothing done, if that is not all there is to it.
    pub(crate) fn follow(&mut self) -> bool {
        if self.leave || !self.ends_at_once() || !self.clusters[self.slot].is_lasting() {
            return false;
        }
        let Some(n) = self.next_here() else { return false };
        self.progress += 1;
        self.tell_progress();
        self.report.clusters_launched += 1;
        let (id, local) = (self.cluster_of(n), self.local_size());
        self.here().again(id, local);
        clear(&mut self.shared);
        self.cur = Cohort { pc: 0, resumed: false, result: 0, epoch: 0, spent: 0, ..self.cur };
        true
    }
}

fn wake<M: Monitor>(x: &mut Ctx<'_, M>, slot: usize) {
    if !x.clusters[slot].dirty {
        return;
    }
    let monitor = &mut x.monitor;
    x.clusters[slot].wake(|c| {
        if M::ON {
            monitor.wake(who(slot, c, 0));
        }
    });
}

fn who(slot: usize, c: &Cohort, site: u32) -> Who {
    Who { site, slot: slot as u32, rank: c.cta, warp: c.lo, lanes: c.mask }
}

fn run_cluster<M: Monitor>(body: &mut dyn Body<M>, x: &mut Ctx<'_, M>, slot: usize) -> Result<(), Box<Fault>> {
    let end = x.turns + SLICE;
    x.rotate = false;
    loop {
        if !x.agents.is_empty() {
            x.deliver_due()?;
        }
        x.look_around()?;
        x.slot = slot;
        wake(x, slot);
        let Some(diverged) = pick(body, x) else { return Ok(()) };
        x.begin(diverged);
        let from = x.turns;
        x.hold();
        let next = body.step(x);
        x.release();
        let next = next?;
        let spent = x.turns - from;
        age(&mut x.cur, spent, diverged || matches!(next, Next::Split), x.yielded);
        match next {
            Next::Go(pc) => {
                let c = Cohort { pc, ..x.cur };
                x.here().ready.push_back(c);
            }
            Next::Split => split(x)?,
            Next::Exit => {
                exit(x)?;
                if x.here().ctas.iter().all(|c| c.exited) {
                    if x.turns < end
                        && let Some(n) = x.next_here()
                    {
                        x.tell_progress();
                        start(body, x, slot, n);
                        continue;
                    }
                    x.here().resident = false;
                    x.free.push(slot);
                    x.vacant = true;
                    x.tell_progress();
                    return if x.agents.is_empty() { Ok(()) } else { x.forgotten(slot).map_or(Ok(()), Err) };
                }
            }
        }
        if x.turns >= end || x.rotate {
            if !x.team.alone() {
                // what a cluster that polls waits for may be up to a thread that has no processor
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

/// Takes the next cohort of the current cluster, merged with those that stand where it stands. True if other fragments of its
/// warps are ready too.
fn pick<M: Monitor>(body: &dyn Body<M>, x: &mut Ctx<'_, M>) -> Option<bool> {
    let n = x.here().ready.len();
    let mut c = match n {
        0 => return None,
        1 => {
            x.cur = x.here().ready.pop_front()?;
            return Some(false);
        }
        _ => {
            let i = x.choose(Choice::Cohort, n);
            x.here().ready.remove(i)?
        }
    };
    let ready = &x.here().ready;
    let behind = (0..ready.len()).filter(|&i| ready[i].overlaps(&c)).min_by_key(|&i| (ready[i].epoch, ready[i].pc));
    if let Some(i) = behind
        && (ready[i].epoch, ready[i].pc) < (c.epoch, c.pc)
        && x.choose(Choice::Converge, 4) == 0
    {
        let ready = &mut x.here().ready;
        let first = ready.remove(i)?;
        ready.push_back(c);
        c = first;
    }
    let (slot, per_cta) = (x.slot, x.warps_per_cta());
    let first = |c: &Cohort| c.cta as usize * per_cta + c.lo as usize;
    let agree = |o: &Cohort| o.agrees(&c) && body.agree(slot, first(o), first(&c));
    let ready = &mut x.here().ready;
    if ready.iter().any(agree) {
        c = merge(ready, c, agree);
    }
    let diverged = x.here().ready.iter().any(|o| o.overlaps(&c));
    x.cur = c;
    Some(diverged)
}

/// All that agree with `c`, as few cohorts as possible: neighbouring warps with equal lanes. Returns the one with the first warp
/// of `c`.
fn merge(ready: &mut VecDeque<Cohort>, c: Cohort, agree: impl Fn(&Cohort) -> bool) -> Cohort {
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

/// The parts of the current cohort go their ways; neighbouring warps that go the same way stay together.
fn split<M: Monitor>(x: &mut Ctx<'_, M>) -> Result<(), Box<Fault>> {
    if x.all_wait() {
        let c = Cohort { resumed: false, result: 0, ..x.cur };
        if M::ON {
            x.monitor.block(who(x.slot, &c, x.site));
        }
        let (wait, site) = (x.wait.clone(), x.site);
        let here = x.here();
        here.parked.push(Parked { c, wait, site });
        here.dirty = true;
        return Ok(());
    }
    let mut parts = std::mem::take(&mut x.parts);
    if parts.is_empty() {
        return Err(x.fault(FaultKind::Internal("a region ended without saying where to go".into()), 0));
    }
    let (cur, slot) = (x.cur, x.slot);
    let (mut groups, mut ready) = (std::mem::take(&mut x.groups), std::mem::take(&mut x.going));
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
    x.parts = parts;
    for p in groups.drain(..) {
        if M::ON {
            x.monitor.block(who(slot, &p.c, p.site));
        }
        let here = x.here();
        here.parked.push(p);
        here.dirty = true;
    }
    x.here().ready.extend(ready.drain(..));
    (x.groups, x.going) = (groups, ready);
    Ok(())
}

/// The threads of the current cohort end: they no longer count at barriers.
fn exit<M: Monitor>(x: &mut Ctx<'_, M>) -> Result<(), Box<Fault>> {
    let (c, per_cta) = (x.cur, x.warps_per_cta());
    if x.ends_at_once() {
        let cta = x.cta_mut();
        (cta.threads, cta.exited) = (0, true);
        x.progress += 1;
        return Ok(());
    }
    let cluster = x.here();
    cluster.ctas[c.cta as usize].thinned = true;
    for w in c.lo..c.hi {
        cluster.barrier.exit(c.cta as usize * per_cta + w as usize, c.mask);
        let cta = &mut cluster.ctas[c.cta as usize];
        cta.live[w as usize] &= !c.mask;
        cta.threads -= c.mask.count_ones();
    }
    cluster.dirty = true;
    let cta = &mut cluster.ctas[c.cta as usize];
    cta.exited = cta.threads == 0;
    if cta.exited
        && !x.agents.is_empty()
        && let Some(fault) = x.abandoned(c.cta)
    {
        return Err(fault);
    }
    let cta = &mut x.here().ctas[c.cta as usize];
    for id in (0..16).filter(|id| cta.barriers_used >> id & 1 != 0) {
        if let Err(what) = cta.barriers[id].check(&cta.live, cta.threads) {
            let lane = c.mask.trailing_zeros().min(31);
            return Err(x.fault(FaultKind::Barrier { id: id as u32, what }, lane));
        }
    }
    x.progress += 1;
    if x.cta().exited { x.check_tensor_memory_at_exit(c.cta) } else { Ok(()) }
}

/// Ends every wait at an mbarrier: `try_wait` then says false.
fn give_up_waiting<M: Monitor>(x: &mut Ctx<'_, M>) {
    for cluster in &mut x.clusters {
        let parked = std::mem::take(&mut cluster.parked);
        for p in parked {
            if p.wait.gives_up() {
                cluster.make_ready(Cohort { resumed: true, result: 0, ..p.c });
            } else {
                cluster.parked.push(p);
            }
        }
    }
}

/// What all waiting threads looked like when nothing could run.
struct Probe {
    /// The parked cohorts by slot.
    waiting: Vec<(usize, Cohort)>,
    progress: u64,
    /// Of the team, before they looked again.
    epoch: u64,
}

/// Nobody can run and nothing is under way. `try_wait` may say false after a time, so all of them do; if that changes nothing,
/// not even a register, and everybody waits again, then nothing will ever change.
fn quiet<M: Monitor>(body: &mut dyn Body<M>, x: &mut Ctx<'_, M>, last: Option<Probe>) -> Result<Probe, Box<Fault>> {
    let mut waiting = Vec::new();
    for (slot, cluster) in x.clusters.iter().enumerate() {
        let mbarrier = cluster.parked.iter().filter(|p| p.wait.gives_up());
        waiting.extend(mbarrier.map(|p| (slot, Cohort { epoch: 0, spent: 0, resumed: false, result: 0, ..p.c })));
    }
    waiting.sort_unstable_by_key(|(slot, c)| (*slot, c.cta, c.lo, c.mask, c.pc));
    let last = last.filter(|p| p.waiting == waiting && p.progress == x.progress && body.unchanged());
    // no other thread can end these waits, but it can store what a loop around `try_wait` looks at
    let epoch = match last {
        _ if waiting.is_empty() => return Err(x.deadlock()),
        None => x.team.was_busy(),
        Some(_) if x.team.alone() => return Err(x.deadlock()),
        Some(p) => match x.team.agree(p.epoch) {
            Verdict::Deadlock => return Err(x.deadlock()),
            Verdict::Stop => return Err(x.stop()),
            Verdict::Again => x.team.epoch(),
        },
    };
    let per_cta = x.warps_per_cta();
    let warps = waiting.iter().map(|(slot, c)| {
        let first = c.cta as usize * per_cta;
        (*slot, first + c.lo as usize, first + c.hi as usize)
    });
    body.snapshot(&warps.collect::<Vec<_>>());
    x.probing = true;
    give_up_waiting(x);
    Ok(Probe { waiting, progress: x.progress, epoch })
}
