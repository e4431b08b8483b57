//! The outcome of a step for the warps of the running cohort: collected by a step, read by the driver.
//!
//! Warps that stay together are counted; only when they differ is there a [`Part`] for each group of lanes.

use crate::kernel::flow::{Pc, Wait};
use crate::machine::cluster::{Cohort, Parked};

/// Lanes `mask` of warp `warp` go on at `pc`, or wait there.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub warp: u32,
    pub mask: u32,
    pub pc: Pc,
    pub wait: Option<Wait>,
    pub site: u32,
}

/// The regions where the warps of the running cohort continue or wait.
#[derive(Debug)]
pub(crate) struct CohortOutcome {
    pub parts: Vec<Part>,
    /// The first warps of the cohort, this many, go on at `pc` with all their lanes. Then `parts` is empty.
    together: u32,
    /// The first warps, this many, wait at `pc` for `wait`. Then `parts` is empty and `together` is 0.
    waiting: u32,
    pc: Pc,
    pub wait: Wait,
    /// Scratch space of the driver's `split`.
    pub scratch: (Vec<Parked>, Vec<Cohort>),
}

/// The common outcome of a whole cohort.
pub(crate) enum Together {
    /// The cohort continues at this region.
    Go(Pc),
    /// The cohort waits at this region.
    Wait(Wait, Pc),
}

impl CohortOutcome {
    pub fn new() -> Self {
        CohortOutcome {
            parts: Vec::new(),
            together: 0,
            waiting: 0,
            pc: 0,
            wait: Wait::Cluster { phase: 0 },
            scratch: (Vec::new(), Vec::new()),
        }
    }

    /// Clears the outcome before a step.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.together = 0;
        self.waiting = 0;
    }

    /// Counts warp `warp` of cohort `c` among those that go on together, if the lanes of `mask` are all its lanes and go to the
    /// same region as the warps before. False, with nothing done, if not.
    #[inline(always)]
    pub fn branch_together(&mut self, c: &Cohort, warp: u32, mask: u32, pc: Pc) -> bool {
        let together = mask == c.mask
            && self.parts.is_empty()
            && self.waiting == 0
            && warp == c.lo + self.together
            && (self.together == 0 || self.pc == pc);
        if together {
            self.pc = pc;
            self.together += 1;
        }
        together
    }

    /// Counts warp `warp` of cohort `c` among those that wait together, if it waits for the same as the warps before.
    /// Gives `wait` back, with nothing done, if not.
    #[inline(always)]
    pub fn park_together(&mut self, c: &Cohort, warp: u32, pc: Pc, wait: Wait) -> Option<Wait> {
        let together = self.parts.is_empty()
            && self.together == 0
            && warp == c.lo + self.waiting
            && (self.waiting == 0 || self.pc == pc && self.wait == wait)
            && !wait.is_rendezvous();
        if !together {
            return Some(wait);
        }
        self.pc = pc;
        self.wait = wait;
        self.waiting += 1;
        None
    }

    /// Adds a part: from now on the warps of cohort `c` do not stay together.
    pub fn push(&mut self, c: &Cohort, part: Part) {
        self.spread(c, part.site);
        self.parts.push(part);
    }

    /// Turns the counted warps into parts.
    fn spread(&mut self, c: &Cohort, site: u32) {
        let (mask, pc) = (c.mask, self.pc);
        for i in 0..std::mem::take(&mut self.together) {
            self.parts.push(Part { warp: c.lo + i, mask, pc, wait: None, site });
        }
        for i in 0..std::mem::take(&mut self.waiting) {
            self.parts.push(Part { warp: c.lo + i, mask, pc, wait: Some(self.wait.clone()), site });
        }
    }

    /// The region where the whole cohort continues, if all its warps branched to one region.
    #[inline(always)]
    pub fn take_together(&mut self, c: &Cohort) -> Option<Pc> {
        (self.together == c.hi - c.lo).then(|| {
            self.together = 0;
            self.pc
        })
    }

    /// The region where the whole cohort waits, if all its warps wait for [`CohortOutcome::wait`].
    #[inline(always)]
    pub fn all_wait(&self, c: &Cohort) -> Option<Pc> {
        (self.waiting != 0 && self.waiting == c.hi - c.lo).then_some(self.pc)
    }

    /// Forgets the warps that [`CohortOutcome::all_wait`] found.
    #[inline(always)]
    pub fn take_waiting(&mut self) {
        self.waiting = 0;
    }

    /// The lanes of a warp of cohort `c` whose outcome is known, each with the region where they continue or wait.
    pub fn outcome(&self, c: &Cohort, warp: u32) -> Vec<(u32, Pc, bool)> {
        let at = warp.wrapping_sub(c.lo);
        if at < self.together {
            return vec![(c.mask, self.pc, false)];
        }
        if at < self.waiting {
            return vec![(c.mask, self.pc, true)];
        }
        let own = self.parts.iter().filter(|part| part.warp == warp);
        own.map(|part| (part.mask, part.pc, part.wait.is_some())).collect()
    }

    /// The common outcome of the whole cohort, if all its parts have the same.
    pub fn common_part(&mut self, c: &Cohort, site: u32) -> Option<Together> {
        self.spread(c, site);
        let first = self.parts.first()?;
        let same = |p: &Part| p.pc == first.pc && p.mask == c.mask && p.wait == first.wait;
        let whole = self.parts.len() == (c.hi - c.lo) as usize && self.parts.iter().all(same);
        whole.then(|| match &first.wait {
            None => Together::Go(first.pc),
            Some(wait) => Together::Wait(wait.clone(), first.pc),
        })
    }
}
