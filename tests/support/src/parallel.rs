//! Independent jobs on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The most threads: a job may run a compiler, which takes gigabytes of memory.
const THREADS: usize = 8;

/// Calls `work` for each job, on as many threads as there are processors. The results are in the order of the jobs.
///
/// # Panics
/// When `work` panics.
pub fn map<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let numbers = || std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
    let worker = || numbers().map_while(|n| Some((n, work(jobs.get(n)?)))).collect::<Vec<_>>();
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let threads = processors.min(THREADS).min(jobs.len());
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
