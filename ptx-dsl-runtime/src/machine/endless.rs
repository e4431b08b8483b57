//! Finds endless loops when the launch gives no step limit: nothing ends, although each warp has had time for a lot.
//!
//! Instructions are counted, not time, so that a launch ends alike in every run. There are two counts since the last progress. All that has
//! run must stay below a limit, and so must what has run for each warp that can run. A launch with a thread in a loop that counts to an end
//! ([`super::counted`]) gets the time of the limits several times. Progress is that a thread ends, that memory changes where it had not
//! changed before ([`super::written`]), or that copies read memory that none had read before
//! ([`Visited`](crate::memory::visited::Visited)): persistent clusters that multiply large matrices read for long before the first of them
//! writes a result.

/// Instructions that a warp may run on the interpreter without progress: what takes a few seconds.
const INTERPRETED: u64 = if cfg!(ptx_dsl_optimised) { 100_000_000 } else { 4_000_000 };
/// Instructions that all warps together may run without progress.
const TOGETHER: u64 = 2 * INTERPRETED;
/// The limit that [`INTERPRETED`] is, for code that rustc has compiled without optimising it: 12 million regions.
pub(crate) const UNOPTIMISED: u64 = 12_000_000 * OF_A_REGION;
/// The number of times that a counted loop gets a new time limit.
const COUNTED: u32 = 16;
/// Instructions of a warp after which loops are looked at.
const PATIENCE: u64 = INTERPRETED / 400;
/// Stores that weak memory may keep while no thread ends: some hundreds of bytes each.
const KEPT: u64 = 1_000_000;
/// Instructions that a region counts for where they are not counted.
const OF_A_REGION: u64 = 8;

/// The verdict on the work done since the last progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spent {
    /// The work is within all limits.
    Little,
    /// All warps together are above their limit.
    MuchTogether,
    /// Each warp is above its limit.
    Much,
    /// Weak memory keeps too many stores.
    TooManyStores,
}

/// The work done since the last progress, and its limits.
pub(crate) struct EndlessGuard {
    /// Instructions that have run, counted by the interpreter per warp.
    pub instructions: u64,
    /// Work since the last check beyond that of an instruction, in instructions: that of large copies and products.
    pub work: u64,
    /// Instructions and regions at the last check.
    last: (u64, u64),
    /// Instructions of all warps since the last progress.
    together: u64,
    /// Instructions per warp since the last progress.
    spent: u64,
    /// The number of times that a counted loop has got more time since the last progress.
    counted: u32,
    /// Stores that weak memory has kept since a thread ended.
    kept: u64,
    limit: u64,
    limit_together: u64,
    /// The instructions per warp above which loops are examined: at first, and now.
    suspicion: [u64; 2],
}

impl EndlessGuard {
    /// Finds none.
    pub const OFF: Self = EndlessGuard {
        instructions: 0,
        work: 0,
        last: (0, 0),
        together: 0,
        spent: 0,
        counted: 0,
        kept: 0,
        limit: u64::MAX,
        limit_together: u64::MAX,
        suspicion: [u64::MAX; 2],
    };

    /// A guard with this limit for each warp, unless the user has set the step budget.
    pub fn new(has_default_budget: bool, limit: u64) -> Self {
        EndlessGuard { limit: if has_default_budget { limit } else { u64::MAX }, ..Self::OFF }
    }

    /// A guard for the interpreter, which can look at loops. With a monitor an instruction takes longer.
    pub fn interpreted(has_default_budget: bool, monitored: bool) -> Self {
        let part = if monitored { 2 } else { 1 };
        let limit_together = if has_default_budget { TOGETHER / part } else { u64::MAX };
        EndlessGuard { suspicion: [PATIENCE; 2], limit_together, ..Self::new(has_default_budget, INTERPRETED / part) }
    }

    /// Records that a thread has ended.
    pub fn progress(&mut self) {
        self.kept = 0;
        self.suspicion[1] = self.suspicion[0];
        self.writes();
    }

    /// Records that memory has changed where it had not changed before, or that copies have read new parts of it.
    pub fn writes(&mut self) {
        (self.spent, self.together, self.counted) = (0, 0, 0);
    }

    /// Whether a counted loop gets a new time limit; not after [`COUNTED`] times.
    pub fn counts(&mut self) -> bool {
        (self.spent, self.together) = (0, 0);
        self.counted += 1;
        self.counted < COUNTED
    }

    /// Records that weak memory keeps a store.
    pub fn keep(&mut self) {
        self.kept += 1;
    }

    /// Whether no thread has ended for so long that one may poll forever. The threshold then grows by a factor of four.
    pub fn is_suspicious(&mut self) -> bool {
        let is = self.spent > self.suspicion[1];
        self.suspicion[1] = self.suspicion[1].saturating_mul(if is { 4 } else { 1 });
        is
    }

    /// The verdict on the work since the last progress, `turns` regions after the start, where this many warps can run now.
    pub fn spent(&mut self, turns: u64, warps: u64) -> Spent {
        let (instructions, regions) = (self.instructions - self.last.0, turns - self.last.1);
        self.last = (self.instructions, turns);
        let work = if instructions == 0 { regions.saturating_mul(OF_A_REGION) } else { instructions };
        let work = work.saturating_add(std::mem::take(&mut self.work));
        self.spent = self.spent.saturating_add(work / warps.max(1));
        self.together = self.together.saturating_add(work);
        if self.kept > KEPT && self.limit < u64::MAX {
            Spent::TooManyStores
        } else if self.spent > self.limit {
            Spent::Much
        } else if self.together > self.limit_together {
            Spent::MuchTogether
        } else {
            Spent::Little
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_counts_per_warp_until_a_thread_ends() {
        let mut guard = EndlessGuard::new(true, 1000);
        guard.instructions = 900;
        assert_eq!(guard.spent(10, 1), Spent::Little);
        guard.progress();
        guard.instructions += 900;
        assert_eq!(guard.spent(20, 1), Spent::Little);
        guard.instructions += 200;
        assert_eq!(guard.spent(30, 1), Spent::Much);
        guard.writes();
        assert_eq!(guard.spent(30, 1), Spent::Little);
        let mut many = EndlessGuard::new(true, 1000);
        many.instructions = 8000;
        assert_eq!(many.spent(10, 8), Spent::Little);
        // all of them together, unless one counts
        let mut together = EndlessGuard { limit_together: 5000, ..EndlessGuard::new(true, 1000) };
        together.instructions = 6000;
        assert_eq!(together.spent(10, 8), Spent::MuchTogether);
        assert!(together.counts());
        together.instructions += 4000;
        assert_eq!(together.spent(20, 8), Spent::Little);
        together.instructions += 4100;
        assert_eq!(together.spent(30, 8), Spent::Much, "a warp has its own limit");
        assert_eq!((0..100).filter(|_| together.counts()).count(), 14, "not for ever");
        let limit = |monitored| EndlessGuard::interpreted(true, monitored).limit_together;
        assert_eq!((limit(false), limit(true)), (TOGETHER, TOGETHER / 2));
        // regions, where instructions are not counted
        let mut compiled = EndlessGuard::new(true, 1000);
        assert_eq!((compiled.spent(125, 1), compiled.spent(126, 1)), (Spent::Little, Spent::Much));
        let mut own = EndlessGuard::new(false, 1000);
        assert_eq!(own.spent(1 << 40, 1), Spent::Little);
        // an instruction that does the work of many
        let mut heavy = EndlessGuard::new(true, 1000);
        (heavy.instructions, heavy.work) = (1, 999);
        assert_eq!(heavy.spent(1, 1), Spent::Little);
        (heavy.instructions, heavy.work) = (2, 0);
        assert_eq!(heavy.spent(2, 1), Spent::Much);
        // stores that are kept
        let mut weak = EndlessGuard::new(true, 1000);
        (0..KEPT).for_each(|_| weak.keep());
        assert_eq!(weak.spent(1, 1), Spent::Little);
        weak.keep();
        own.kept = weak.kept;
        assert_eq!((weak.spent(1, 1), own.spent(1 << 40, 1)), (Spent::TooManyStores, Spent::Little));
    }
}
