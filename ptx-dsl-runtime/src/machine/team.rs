//! What the threads that run a grid have in common, besides its global memory: the queue of pending clusters, the step budget,
//! and whether any of them can still go on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::launch::{Launch, Listener, Progress};

/// A thread whose clusters all wait tries again after this time: what others store may end a loop of `try_wait`.
const RETRY: Duration = Duration::from_millis(2);

/// The threads of one launch.
#[derive(Debug)]
pub(crate) struct Team {
    threads: usize,
    /// Clusters of the grid, and the next one that is pending.
    clusters: u64,
    next: AtomicU64,
    /// Clusters that cluster launch control has cancelled.
    cancelled: AtomicU64,
    limit: u64,
    turns: AtomicU64,
    stopped: AtomicBool,
    listener: Option<Listener>,
    /// Clusters that have ended.
    ended: Mutex<u64>,
    quiet: Mutex<Quiet>,
    changed: Condvar,
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
        Team {
            threads,
            clusters,
            next: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            limit: launch.step_limit,
            turns: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            listener: launch.listener.clone(),
            ended: Mutex::new(0),
            quiet: Mutex::new(Quiet { epoch: 0, running: threads, agreed: 0, deadlock: false }),
            changed: Condvar::new(),
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

    /// Takes the next pending cluster, counted through the grid.
    pub fn take(&self) -> Option<u64> {
        let more = |n: u64| (n < self.clusters).then_some(n + 1);
        if self.alone() {
            // without the price of an atomic step
            let n = self.next.load(Relaxed);
            self.next.store(more(n)?, Relaxed);
            return Some(n);
        }
        self.next.fetch_update(Relaxed, Relaxed, more).ok()
    }

    /// The same, for cluster launch control.
    pub fn cancel(&self) -> Option<u64> {
        let n = self.take()?;
        self.cancelled.fetch_add(1, Relaxed);
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
        // nobody falls asleep between looking and waiting
        drop(locked(&self.quiet));
        self.changed.notify_all();
    }

    /// A thread has something new to tell: it has had something to run, and from now on has not. The epoch that begins.
    pub fn was_busy(&self) -> u64 {
        let mut q = locked(&self.quiet);
        self.begin(&mut q)
    }

    fn begin(&self, q: &mut Quiet) -> u64 {
        q.epoch += 1;
        q.agreed = 0;
        self.changed.notify_all();
        q.epoch
    }

    pub fn epoch(&self) -> u64 {
        locked(&self.quiet).epoch
    }

    /// A thread has no more clusters.
    pub fn leave(&self) {
        let mut q = locked(&self.quiet);
        q.running = q.running.saturating_sub(1);
        self.begin(&mut q);
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
            self.changed.notify_all();
            return Verdict::Deadlock;
        }
        if !self.is_stopped() {
            q = self.changed.wait_timeout(q, RETRY).unwrap_or_else(PoisonError::into_inner).0;
        }
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
        Team::new(threads, clusters, &Launch::grid(1))
    }

    #[test]
    fn every_cluster_is_given_out_once() {
        for threads in [1, 4] {
            let t = team(threads, 10);
            assert_eq!((0..10).map(|_| t.take()).collect::<Vec<_>>(), (0..10).map(Some).collect::<Vec<_>>());
            assert_eq!((t.take(), t.cancel()), (None, None));
        }
        assert_eq!(team(8, 3).threads(), 3);
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
