//! Finds endless loops when the launch gives no step limit: nothing ends, although each warp has had time for a lot.
//!
//! Instructions are counted, not time, so that a launch ends alike in every run. What has run since a thread ended is divided by the
//! number of warps that could run meanwhile: a large launch has time for all of its warps.

use crate::launch::config::Launch;

/// Instructions that a warp may run on the interpreter while no thread ends: what takes a few seconds.
const INTERPRETED: u64 = if cfg!(ptx_dsl_optimised) { 100_000_000 } else { 4_000_000 };
/// The same for code that rustc has compiled without optimising it: 12 million regions.
pub(super) const UNOPTIMISED: u64 = 12_000_000 * OF_A_REGION;
/// Instructions of a warp after which loops are looked at.
const PATIENCE: u64 = INTERPRETED / 400;
/// Stores that weak memory may keep while no thread ends: some hundreds of bytes each.
const KEPT: u64 = 1_000_000;
/// Instructions that a region counts for where they are not counted.
const OF_A_REGION: u64 = 8;

/// What has run since a thread ended.
pub(crate) struct EndlessGuard {
    /// Instructions that have run, counted by the interpreter per warp.
    pub instructions: u64,
    /// Work since the last check beyond that of an instruction, in instructions: that of large copies and products.
    pub work: u64,
    /// Instructions and regions at the last check.
    last: (u64, u64),
    /// Instructions per warp since a thread ended.
    spent: u64,
    /// Stores that weak memory has kept since a thread ended.
    kept: u64,
    limit: u64,
    /// How many of them are suspicious, at first and now.
    suspicion: [u64; 2],
}

impl EndlessGuard {
    /// Finds none.
    pub const OFF: Self = EndlessGuard {
        instructions: 0,
        work: 0,
        last: (0, 0),
        spent: 0,
        kept: 0,
        limit: u64::MAX,
        suspicion: [u64::MAX; 2],
    };

    /// With this limit, unless the launch has one of its own.
    pub fn new(launch: &Launch, limit: u64) -> Self {
        EndlessGuard { limit: if launch.step_limit.is_some() { u64::MAX } else { limit }, ..Self::OFF }
    }

    /// The same for the interpreter, which can look at loops. With a monitor an instruction takes longer.
    pub fn interpreted(launch: &Launch, monitored: bool) -> Self {
        let limit = if monitored { INTERPRETED / 2 } else { INTERPRETED };
        EndlessGuard { suspicion: [PATIENCE; 2], ..Self::new(launch, limit) }
    }

    /// A thread has ended.
    pub fn progress(&mut self) {
        (self.spent, self.kept) = (0, 0);
        self.suspicion[1] = self.suspicion[0];
    }

    /// Weak memory keeps a store.
    pub fn keep(&mut self) {
        self.kept += 1;
    }

    /// Has no thread ended for so long that one may poll forever? The next time after four times as long.
    pub fn is_suspicious(&mut self) -> bool {
        let is = self.spent > self.suspicion[1];
        self.suspicion[1] = self.suspicion[1].saturating_mul(if is { 4 } else { 1 });
        is
    }

    /// Is the limit exceeded, `turns` regions after the start, where this many warps can run now?
    pub fn exceeded(&mut self, turns: u64, warps: u64) -> bool {
        let (instructions, regions) = (self.instructions - self.last.0, turns - self.last.1);
        self.last = (self.instructions, turns);
        let work = if instructions == 0 { regions.saturating_mul(OF_A_REGION) } else { instructions };
        let work = work.saturating_add(std::mem::take(&mut self.work));
        self.spent = self.spent.saturating_add(work / warps.max(1));
        self.spent > self.limit || self.kept > KEPT && self.limit < u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_counts_per_warp_until_a_thread_ends() {
        let mut guard = EndlessGuard::new(&Launch::grid(1), 1000);
        guard.instructions = 900;
        assert!(!guard.exceeded(10, 1));
        guard.progress();
        guard.instructions += 900;
        assert!(!guard.exceeded(20, 1));
        guard.instructions += 200;
        assert!(guard.exceeded(30, 1));
        let mut many = EndlessGuard::new(&Launch::grid(1), 1000);
        many.instructions = 8000;
        assert!(!many.exceeded(10, 8));
        // regions, where instructions are not counted
        let mut compiled = EndlessGuard::new(&Launch::grid(1), 1000);
        assert!(!compiled.exceeded(125, 1) && compiled.exceeded(126, 1));
        let mut own = EndlessGuard::new(&Launch::grid(1).step_limit(1), 1000);
        assert!(!own.exceeded(1 << 40, 1));
        // an instruction that does the work of many
        let mut heavy = EndlessGuard::new(&Launch::grid(1), 1000);
        (heavy.instructions, heavy.work) = (1, 999);
        assert!(!heavy.exceeded(1, 1));
        (heavy.instructions, heavy.work) = (2, 0);
        assert!(heavy.exceeded(2, 1));
        // stores that are kept
        let mut weak = EndlessGuard::new(&Launch::grid(1), 1000);
        (0..KEPT).for_each(|_| weak.keep());
        assert!(!weak.exceeded(1, 1));
        weak.keep();
        own.kept = weak.kept;
        assert!(weak.exceeded(1, 1) && !own.exceeded(1 << 40, 1));
    }
}
