//! What the threads that run a grid have in common, besides its global memory: the queue of pending clusters, the step budget,
//! and whether any of them can still go on.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::fault::{Fault, FaultKind};
use crate::launch::{CancelHandle, Launch, Listener, Progress};
use crate::machine::Ctx;
use crate::machine::ctx::QUANTUM;
use crate::monitor::Monitor;

/// A thread whose clusters all wait looks again after this time: what others store may end a loop of `try_wait`.
const RETRY: Duration = Duration::from_millis(1);

/// The most clusters that a thread takes at a time.
const AT_ONCE: u64 = 32;

/// The threads of one launch.
#[derive(Debug)]
pub(crate) struct Team {
    threads: usize,
    /// Clusters that a thread takes at a time.
    at_once: u64,
    /// Clusters of the grid, and the next one that is pending.
    clusters: u64,
    next: AtomicU64,
    /// Clusters that cluster launch control has cancelled.
    cancelled: AtomicU64,
    /// Those of them behind the next one, where one thread chooses, and how many they are.
    ahead: Mutex<BTreeSet<u64>>,
    gaps: AtomicU64,
    limit: u64,
    turns: AtomicU64,
    stopped: AtomicBool,
    listener: Option<Listener>,
    /// Clusters that have ended.
    ended: Mutex<u64>,
    quiet: Mutex<Quiet>,
}

/// Which threads have nothing to run. Each time one of them has had, a new epoch begins; those that have then looked at
/// everything again, in vain, agree. When all agree nobody will ever run.
#[derive(Debug)]
struct Quiet {
    epoch: u64,
    running: usize,
    agreed: usize,
    deadlock: bool,
}

impl Quiet {
    fn begin(&mut self) -> u64 {
        self.epoch += 1;
        self.agreed = 0;
        self.epoch
    }
}

/// What a thread that has nothing to run does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Looks again.
    Again,
    /// Reports who waits for what.
    Deadlock,
    /// Ends: another thread has a fault.
    Stop,
}

fn locked<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Team {
    /// As many threads as the clusters are worth, and `threads` at most.
    pub fn new(threads: usize, clusters: u64, launch: &Launch) -> Self {
        let threads = (threads as u64).min(clusters).max(1) as usize;
        let at_once = if threads == 1 { 1 } else { (clusters / (threads as u64 * 64)).clamp(1, AT_ONCE) };
        Team {
            threads,
            at_once,
            clusters,
            next: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            ahead: Mutex::default(),
            gaps: AtomicU64::new(0),
            limit: launch.step_limit,
            turns: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            listener: launch.listener.clone(),
            ended: Mutex::new(0),
            quiet: Mutex::new(Quiet { epoch: 0, running: threads, agreed: 0, deadlock: false }),
        }
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// One thread: nobody else to ask.
    #[inline(always)]
    pub fn alone(&self) -> bool {
        self.threads == 1
    }

    /// How many clusters are on the machine at the same time for each thread.
    pub fn places(&self, resident: usize) -> usize {
        let resident = self.clusters.min(resident as u64) as usize;
        resident.div_ceil(self.threads).max(1)
    }

    /// Takes the next pending clusters, counted through the grid, into the `hand` of a thread, and gives the first. In a grid that is
    /// large enough several follow each other: what neighbours work on is often side by side, and better left to one processor.
    #[inline]
    pub fn take(&self, hand: &mut Range<u64>) -> Option<u64> {
        if let Some(n) = hand.next() {
            return Some(n);
        }
        *hand = self.pending(self.at_once)?;
        hand.next()
    }

    #[inline]
    fn pending(&self, at_most: u64) -> Option<Range<u64>> {
        let more = |n: u64| (n < self.clusters).then(|| self.clusters.min(n + at_most));
        let n = if self.alone() {
            // without the price of an atomic step
            let mut n = self.next.load(Relaxed);
            if self.gaps.load(Relaxed) > 0 {
                n = self.behind_gaps(n);
                self.next.store(n, Relaxed);
            }
            self.next.store(more(n)?, Relaxed);
            n
        } else {
            self.next.fetch_update(Relaxed, Relaxed, more).ok()?
        };
        Some(n..more(n)?)
    }

    /// The first pending cluster from `n` on, which is no longer ahead of anything.
    #[cold]
    fn behind_gaps(&self, mut n: u64) -> u64 {
        let mut ahead = locked(&self.ahead);
        while ahead.remove(&n) {
            n += 1;
        }
        self.gaps.store(ahead.len() as u64, Relaxed);
        n
    }

    /// Among how many pending clusters cluster launch control can choose, `most` or fewer: 1 if there is no choice, or none is
    /// pending.
    pub fn choices(&self, most: u64) -> u64 {
        if !self.alone() {
            return 1;
        }
        (self.clusters - self.next.load(Relaxed) - self.gaps.load(Relaxed)).clamp(1, most)
    }

    /// The next pending cluster, or the one so many behind it ([`Team::choices`]), for cluster launch control.
    pub fn cancel(&self, which: u64) -> Option<u64> {
        let n = if which == 0 { self.pending(1)?.start } else { self.cancel_ahead(which)? };
        self.cancelled.fetch_add(1, Relaxed);
        Some(n)
    }

    fn cancel_ahead(&self, which: u64) -> Option<u64> {
        let mut ahead = locked(&self.ahead);
        let pending = (self.next.load(Relaxed)..self.clusters).filter(|n| !ahead.contains(n));
        let n = pending.skip(1).nth(which as usize - 1)?;
        ahead.insert(n);
        self.gaps.store(ahead.len() as u64, Relaxed);
        Some(n)
    }

    pub fn told(&self) -> bool {
        self.listener.is_some()
    }

    /// A cluster has ended. Who listens hears one after the other.
    pub fn ended(&self) {
        let Some(Listener(listener)) = &self.listener else { return };
        let mut ended = locked(&self.ended);
        *ended += 1;
        listener(Progress {
            clusters_done: *ended + self.cancelled.load(Relaxed),
            clusters: self.clusters,
            turns: self.turns.load(Relaxed),
        });
    }

    /// A thread has run this many regions more. False when all of them are too many.
    pub fn spend(&self, turns: u64) -> bool {
        self.turns.fetch_add(turns, Relaxed).saturating_add(turns) <= self.limit
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// All threads end soon.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// A thread has something new to tell: it has had something to run, and from now on has not. The epoch that begins.
    pub fn was_busy(&self) -> u64 {
        locked(&self.quiet).begin()
    }

    pub fn epoch(&self) -> u64 {
        locked(&self.quiet).epoch
    }

    /// A thread has no more clusters.
    pub fn leave(&self) {
        let mut q = locked(&self.quiet);
        q.running = q.running.saturating_sub(1);
        q.begin();
    }

    /// A thread's clusters all wait, and have looked at everything since `epoch` began.
    pub fn agree(&self, epoch: u64) -> Verdict {
        let mut q = locked(&self.quiet);
        if q.epoch != epoch {
            return Verdict::Again;
        }
        q.agreed += 1;
        if q.agreed == q.running {
            q.deadlock = true;
            return Verdict::Deadlock;
        }
        drop(q);
        if !self.is_stopped() {
            std::thread::sleep(RETRY);
        }
        let mut q = locked(&self.quiet);
        if q.deadlock {
            return Verdict::Deadlock;
        }
        if q.epoch == epoch {
            q.agreed -= 1;
        }
        if self.is_stopped() { Verdict::Stop } else { Verdict::Again }
    }
}

impl<M: Monitor> Ctx<'_, M> {
    /// A cluster has ended.
    #[inline]
    pub(crate) fn tell_progress(&mut self) {
        if self.team.told() {
            self.spend();
            self.team.ended();
        }
    }

    /// Tells the team how many regions have run. False when they are too many.
    fn spend(&mut self) -> bool {
        let spent = self.turns - std::mem::replace(&mut self.told, self.turns);
        self.team.spend(spent)
    }

    /// From time to time: is the launch to end?
    #[inline(always)]
    pub(crate) fn look_around(&mut self) -> Result<(), Box<Fault>> {
        if self.turns >= self.look { self.look_now() } else { Ok(()) }
    }

    #[cold]
    pub(crate) fn look_now(&mut self) -> Result<(), Box<Fault>> {
        self.look = self.turns + QUANTUM;
        if self.cancel.as_ref().is_some_and(CancelHandle::is_cancelled) {
            return Err(self.fault_of_cohort(FaultKind::Cancelled { region: self.region() }));
        }
        self.settle()?;
        if self.team.is_stopped() { Err(self.stop()) } else { Ok(()) }
    }

    /// Is the step budget overdrawn?
    pub(crate) fn settle(&mut self) -> Result<(), Box<Fault>> {
        if self.turns > self.limit || !self.team.alone() && !self.spend() {
            return Err(self.fault_of_cohort(FaultKind::StepLimit { turns: self.limit, region: self.region() }));
        }
        Ok(())
    }

    fn region(&self) -> String {
        self.info.regions.get(self.cur.pc as usize).copied().unwrap_or("the end").into()
    }

    /// Ends this thread without a fault of its own.
    pub(crate) fn stop(&mut self) -> Box<Fault> {
        self.stopped = true;
        self.fault(FaultKind::Internal("stopped".into()), 0)
    }

    /// Of the cluster at this place, its number in the grid.
    pub(crate) fn number_of(&self, slot: usize) -> u64 {
        let [x, y, _] = self.nclusterid().map(u64::from);
        let id = self.clusters.get(slot).map_or([0; 3], |c| c.id).map(u64::from);
        id[0] + x * (id[1] + y * id[2])
    }

    fn fault_of_cohort(&mut self, kind: FaultKind) -> Box<Fault> {
        self.warp = self.cur.lo;
        self.fault(kind, self.cur.mask.trailing_zeros().min(31))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(threads: usize, clusters: u64) -> Team {
        Team::new(threads, clusters, &Launch::grid(1))
    }

    #[test]
    fn every_cluster_is_given_out_once() {
        for (threads, clusters) in [(1, 10), (4, 10), (1, 300), (2, 301), (4, 1200)] {
            let t = team(threads, clusters);
            let mut hands = vec![0..0; threads];
            let mut all: Vec<u64> = Vec::new();
            while all.len() < clusters as usize {
                let hand = &mut hands[all.len() / 5 % threads];
                all.extend(if all.len() % 7 == 3 { t.cancel(0).or_else(|| t.take(hand)) } else { t.take(hand) });
                let next = t.next.load(Relaxed);
                assert!(
                    next < clusters
                        || hands.iter().map(|h| h.end - h.start).sum::<u64>() + all.len() as u64 == clusters
                );
                if next == clusters {
                    all.extend(hands.iter_mut().flatten());
                }
            }
            assert!(threads > 1 || all.is_sorted(), "one thread goes in order");
            all.sort_unstable();
            assert!(all.into_iter().eq(0..clusters), "{threads} threads");
            assert_eq!((t.take(&mut hands[0]), t.cancel(0)), (None, None));
        }
        assert_eq!(team(8, 3).threads(), 3);
    }

    #[test]
    fn any_pending_cluster_can_be_cancelled() {
        let (t, hand) = (team(1, 8), &mut (0..0));
        assert_eq!((t.choices(16), t.choices(3), t.take(hand)), (8, 3, Some(0)));
        // 1 to 7 are pending
        assert_eq!((t.cancel(2), t.cancel(0), t.cancel(3)), (Some(3), Some(1), Some(6)));
        assert_eq!((t.choices(16), t.take(hand), t.take(hand)), (4, Some(2), Some(4)));
        assert_eq!((t.cancel(1), t.choices(16), t.cancel(1)), (Some(7), 1, None));
        assert_eq!((t.take(hand), t.take(hand), t.cancel(0), t.choices(16)), (Some(5), None, None, 1));
        let (t, hand) = (team(1, 3), &mut (0..0));
        assert_eq!(
            (t.cancel(2), t.cancel(1), t.take(hand), t.cancel(0), t.take(hand)),
            (Some(2), Some(1), Some(0), None, None)
        );
        assert_eq!(team(2, 100).choices(16), 1, "several threads take them in order");
    }

    #[test]
    fn places_are_shared_out() {
        assert_eq!(team(1, 100).places(16), 16);
        assert_eq!(team(4, 100).places(16), 4);
        assert_eq!(team(7, 100).places(16), 3, "no fewer than were asked for");
        assert_eq!(team(2, 4).places(16), 2, "both have something to do");
        assert_eq!(team(4, 100).places(1), 1);
    }

    #[test]
    fn a_deadlock_needs_all() {
        let t = team(2, 2);
        let e = t.was_busy();
        assert_eq!(t.agree(e), Verdict::Again, "the other one runs");
        let f = t.was_busy();
        assert_eq!(t.agree(e), Verdict::Again, "of an epoch that is over");
        std::thread::scope(|s| {
            let one = s.spawn(|| while t.agree(f) == Verdict::Again {});
            while t.agree(f) == Verdict::Again {}
            one.join().unwrap();
        });
        let t = team(2, 2);
        t.leave();
        assert_eq!(t.agree(t.epoch()), Verdict::Deadlock, "nobody else is left");
    }

    #[test]
    fn who_waits_is_stopped() {
        let t = team(2, 2);
        let e = t.was_busy();
        t.stop();
        assert_eq!(t.agree(e), Verdict::Stop);
    }
}
