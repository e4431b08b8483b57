//! The state that the host threads of a launch share besides global memory: the queue of pending clusters, the step budget, and
//! agreement on a deadlock.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::machine::grid::{Grid, Limits};
use crate::machine::limits::{DEFAULT_STEP_LIMIT, Listener, Progress};

/// A thread whose clusters all wait checks them again after this time: another thread's store may end a `try_wait` loop.
const RETRY: Duration = Duration::from_millis(1);

/// The most clusters that a thread claims at a time.
const MAX_CLAIM: u64 = 32;

/// Regions by which threads may exceed the default budget until one of them has looked for progress.
const GRACE: u64 = DEFAULT_STEP_LIMIT / 8;

/// The host threads of one launch.
#[derive(Debug)]
pub(crate) struct Team {
    threads: usize,
    /// Clusters that a thread claims at a time.
    batch: u64,
    /// Clusters of the grid, and the next one that is pending.
    clusters: u64,
    next: AtomicU64,
    /// Clusters that cluster launch control has cancelled.
    cancelled: AtomicU64,
    /// Clusters after the next one that have been taken: only one thread chooses, in any order. And their number.
    taken_ahead: Mutex<BTreeSet<u64>>,
    gaps: AtomicU64,
    limit: AtomicU64,
    turns: AtomicU64,
    stopped: AtomicBool,
    listener: Option<Listener>,
    /// Clusters that have ended.
    ended: Mutex<u64>,
    idle: Mutex<Idle>,
}

/// Agreement on a deadlock. An epoch begins whenever a thread that ran something runs out of work. A thread agrees once it has
/// checked all its waits in the current epoch in vain; when all running threads agree, no wait will ever end.
#[derive(Debug)]
struct Idle {
    epoch: u64,
    running: usize,
    agreed: usize,
    deadlock: bool,
}

impl Idle {
    fn begin(&mut self) -> u64 {
        self.epoch += 1;
        self.agreed = 0;
        self.epoch
    }
}

/// The next action of a host thread that has nothing to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Checks its waits again.
    Again,
    /// Reports the deadlock.
    Deadlock,
    /// Ends: another thread has a fault.
    Stop,
}

fn locked<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Team {
    /// A team of at most `threads` host threads, and no more than clusters.
    pub fn new(threads: usize, grid: &Grid<'_>) -> Self {
        Team::of_clusters(threads, grid.clusters(), grid.is_cooperative, &grid.limits)
    }

    fn of_clusters(threads: usize, clusters: u64, is_cooperative: bool, limits: &Limits) -> Self {
        let threads = (threads as u64).min(clusters).max(1) as usize;
        // of a cooperative launch each thread takes only what it has room for
        let batch =
            if threads == 1 || is_cooperative { 1 } else { (clusters / (threads as u64 * 64)).clamp(1, MAX_CLAIM) };
        Team {
            threads,
            batch,
            clusters,
            next: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            taken_ahead: Mutex::default(),
            gaps: AtomicU64::new(0),
            limit: AtomicU64::new(limits.steps.unwrap_or(DEFAULT_STEP_LIMIT)),
            turns: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            listener: limits.listener.clone(),
            ended: Mutex::new(0),
            idle: Mutex::new(Idle { epoch: 0, running: threads, agreed: 0, deadlock: false }),
        }
    }

    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Whether there is only one host thread.
    #[inline(always)]
    pub fn is_single(&self) -> bool {
        self.threads == 1
    }

    /// Resident clusters of each thread.
    pub fn slots(&self, resident: usize) -> usize {
        let resident = self.clusters.min(resident as u64) as usize;
        resident.div_ceil(self.threads).max(1)
    }

    /// The next cluster for a thread, by number in the grid: from those it has `claimed`, or else from the queue. In a large grid
    /// it claims several consecutive ones: neighbours often share cache lines.
    #[inline]
    pub fn claim(&self, claimed: &mut Range<u64>) -> Option<u64> {
        if let Some(n) = claimed.next() {
            return Some(n);
        }
        *claimed = self.pending(self.batch)?;
        claimed.next()
    }

    #[inline]
    fn pending(&self, at_most: u64) -> Option<Range<u64>> {
        let more = |n: u64| (n < self.clusters).then(|| self.clusters.min(n + at_most));
        let n = if self.is_single() {
            // no atomic read-modify-write
            let mut n = self.next.load(Relaxed);
            if self.gaps.load(Relaxed) > 0 {
                n = self.skip_taken(n);
                self.next.store(n, Relaxed);
            }
            self.next.store(more(n)?, Relaxed);
            n
        } else {
            self.next.fetch_update(Relaxed, Relaxed, more).ok()?
        };
        Some(n..more(n)?)
    }

    /// The first cluster from `n` on that is not taken.
    #[cold]
    fn skip_taken(&self, mut n: u64) -> u64 {
        let mut ahead = locked(&self.taken_ahead);
        while ahead.remove(&n) {
            n += 1;
        }
        self.gaps.store(ahead.len() as u64, Relaxed);
        n
    }

    /// Leaves one cluster of a launch that has not begun, for all. Returns their number.
    pub fn leave_one(&self) -> u64 {
        self.next.store(self.clusters - 1, Relaxed);
        *locked(&self.ended) = self.clusters - 1;
        self.clusters
    }

    /// The first cluster that nobody has claimed yet.
    pub fn next_pending(&self) -> Option<u64> {
        let ahead = locked(&self.taken_ahead);
        (self.next.load(Relaxed)..self.clusters).find(|n| !ahead.contains(n))
    }

    /// The number of clusters that no host thread has claimed yet.
    pub fn unclaimed(&self) -> u64 {
        self.clusters.saturating_sub(self.next.load(Relaxed)).saturating_sub(self.gaps.load(Relaxed))
    }

    /// The number of pending clusters to choose from, at most `most`; 1 if there is no choice.
    pub fn choices(&self, most: u64) -> u64 {
        if !self.is_single() {
            return 1;
        }
        self.unclaimed().clamp(1, most)
    }

    /// Takes a pending cluster for cluster launch control: the next one, or the `which`-th after it ([`Team::choices`]).
    pub fn cancel(&self, which: u64) -> Option<u64> {
        let n = self.take(which)?;
        self.cancelled.fetch_add(1, Relaxed);
        Some(n)
    }

    /// Takes the next pending cluster, or the `which`-th after it ([`Team::choices`]).
    pub fn take(&self, which: u64) -> Option<u64> {
        if which == 0 { Some(self.pending(1)?.start) } else { self.take_ahead(which) }
    }

    fn take_ahead(&self, which: u64) -> Option<u64> {
        let mut ahead = locked(&self.taken_ahead);
        let pending = (self.next.load(Relaxed)..self.clusters).filter(|n| !ahead.contains(n));
        let n = pending.skip(1).nth(which as usize - 1)?;
        ahead.insert(n);
        self.gaps.store(ahead.len() as u64, Relaxed);
        Some(n)
    }

    pub fn has_listener(&self) -> bool {
        self.listener.is_some()
    }

    /// A cluster has ended: calls the listener, one call at a time.
    pub fn cluster_ended(&self) {
        let Some(Listener(listener)) = &self.listener else { return };
        let mut ended = locked(&self.ended);
        *ended += 1;
        listener(Progress {
            clusters_done: *ended + self.cancelled.load(Relaxed),
            clusters: self.clusters,
            turns: self.turns.load(Relaxed),
        });
    }

    /// Adds to the regions run by all threads. False if they exceed the budget.
    pub fn spend(&self, turns: u64) -> bool {
        self.turns.fetch_add(turns, Relaxed).saturating_add(turns) <= self.limit.load(Relaxed)
    }

    /// Gives all threads the budget once more.
    pub fn extend_limit(&self) {
        self.limit.fetch_max(self.turns.load(Relaxed).saturating_add(DEFAULT_STEP_LIMIT), Relaxed);
    }

    /// Do the regions run by all threads exceed the budget by little?
    pub fn has_grace(&self) -> bool {
        self.turns.load(Relaxed) <= self.limit.load(Relaxed).saturating_add(GRACE)
    }

    /// The clusters that host threads have claimed.
    pub fn started(&self) -> u64 {
        self.next.load(Relaxed).saturating_add(self.gaps.load(Relaxed))
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// All threads end soon.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// A thread that ran something has nothing left to run: begins an epoch.
    pub fn begin_epoch(&self) -> u64 {
        locked(&self.idle).begin()
    }

    pub fn epoch(&self) -> u64 {
        locked(&self.idle).epoch
    }

    /// A thread has no more clusters.
    pub fn leave(&self) {
        let mut q = locked(&self.idle);
        q.running = q.running.saturating_sub(1);
        q.begin();
    }

    /// All clusters of a thread wait, and it has checked the waits since `epoch` began.
    pub fn agree(&self, epoch: u64) -> Verdict {
        let mut q = locked(&self.idle);
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
        let mut q = locked(&self.idle);
        if q.deadlock {
            return Verdict::Deadlock;
        }
        if q.epoch == epoch {
            q.agreed -= 1;
        }
        if self.is_stopped() { Verdict::Stop } else { Verdict::Again }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(threads: usize, clusters: u64) -> Team {
        Team::of_clusters(threads, clusters, false, &Limits::default())
    }

    #[test]
    fn every_cluster_is_given_out_once() {
        for (threads, clusters) in [(1, 10), (4, 10), (1, 300), (2, 301), (4, 1200)] {
            let t = team(threads, clusters);
            let mut claims = vec![0..0; threads];
            let mut all: Vec<u64> = Vec::new();
            while all.len() < clusters as usize {
                let claimed = &mut claims[all.len() / 5 % threads];
                all.extend(if all.len() % 7 == 3 {
                    t.cancel(0).or_else(|| t.claim(claimed))
                } else {
                    t.claim(claimed)
                });
                let next = t.next.load(Relaxed);
                assert!(
                    next < clusters
                        || claims.iter().map(|c| c.end - c.start).sum::<u64>() + all.len() as u64 == clusters
                );
                if next == clusters {
                    all.extend(claims.iter_mut().flatten());
                }
            }
            assert!(threads > 1 || all.is_sorted(), "one thread goes in order");
            all.sort_unstable();
            assert!(all.into_iter().eq(0..clusters), "{threads} threads");
            assert_eq!((t.claim(&mut claims[0]), t.cancel(0)), (None, None));
        }
        assert_eq!(team(8, 3).threads(), 3);
    }

    #[test]
    fn any_pending_cluster_can_be_cancelled() {
        let (t, claimed) = (team(1, 8), &mut (0..0));
        assert_eq!((t.choices(16), t.choices(3), t.claim(claimed)), (8, 3, Some(0)));
        // 1 to 7 are pending
        assert_eq!((t.cancel(2), t.cancel(0), t.cancel(3)), (Some(3), Some(1), Some(6)));
        assert_eq!((t.choices(16), t.claim(claimed), t.claim(claimed)), (4, Some(2), Some(4)));
        assert_eq!((t.cancel(1), t.choices(16), t.cancel(1)), (Some(7), 1, None));
        assert_eq!((t.claim(claimed), t.claim(claimed), t.cancel(0), t.choices(16)), (Some(5), None, None, 1));
        let (t, claimed) = (team(1, 3), &mut (0..0));
        assert_eq!(
            (t.cancel(2), t.cancel(1), t.claim(claimed), t.cancel(0), t.claim(claimed)),
            (Some(2), Some(1), Some(0), None, None)
        );
        assert_eq!(team(2, 100).choices(16), 1, "several threads take them in order");
    }

    #[test]
    fn any_pending_cluster_can_start() {
        let (t, claimed) = (team(1, 5), &mut (0..0));
        assert_eq!((t.take(3), t.unclaimed(), t.take(1), t.claim(claimed)), (Some(3), 4, Some(1), Some(0)));
        assert_eq!((t.take(1), t.unclaimed(), t.claim(claimed), t.take(0)), (Some(4), 1, Some(2), None));
    }

    #[test]
    fn slots_are_shared_out() {
        assert_eq!(team(1, 100).slots(16), 16);
        assert_eq!(team(4, 100).slots(16), 4);
        assert_eq!(team(7, 100).slots(16), 3, "no fewer than were asked for");
        assert_eq!(team(2, 4).slots(16), 2, "both have something to do");
        assert_eq!(team(4, 100).slots(1), 1);
    }

    #[test]
    fn a_deadlock_needs_all() {
        let t = team(2, 2);
        let e = t.begin_epoch();
        assert_eq!(t.agree(e), Verdict::Again, "the other one runs");
        let f = t.begin_epoch();
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
        let e = t.begin_epoch();
        t.stop();
        assert_eq!(t.agree(e), Verdict::Stop);
    }
}
