//! The limits of a launch: its step budget, a handle that cancels it, a listener that hears of its progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancels a running launch from another thread.
#[derive(Debug, Clone, Default)]
pub struct CancelHandle(Arc<AtomicBool>);

impl CancelHandle {
    /// A handle that has not been cancelled.
    pub fn new() -> Self {
        CancelHandle::default()
    }

    /// Cancels the launch: it soon ends with a fault.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the launch has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The progress of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Clusters that have ended, including those cancelled by cluster launch control.
    pub clusters_done: u64,
    /// Clusters of the grid.
    pub clusters: u64,
    /// Regions run so far, counted per warp.
    pub turns: u64,
}

/// The callback of [`Launch::on_progress`](crate::api::launch::Launch::on_progress).
#[derive(Clone)]
pub(crate) struct Listener(pub(crate) Arc<dyn Fn(Progress) + Send + Sync>);

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

/// The default of [`Launch::step_limit`](crate::api::launch::Launch::step_limit) in regions, counted while no cluster starts, global memory does not change where it had not changed before, and copies read no part of it for the first time.
pub const DEFAULT_STEP_LIMIT: u64 = 200_000_000;
