//! The `wgmma` operations of a warp in flight (PTX ISA 9.7.15.7).

use ptx_dsl_isa::image::NO_SITE;
use std::collections::VecDeque;

/// The `wgmma` operations that a warp has issued and not waited for. Code generation numbers the registers that operations hold as
/// sets, which are bits here.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// The warp has executed `wgmma.fence`.
    pub fenced: bool,
    /// Sets of operations that are in no group yet.
    open: u64,
    /// The statement of the last operation that holds each set.
    sites: Vec<u32>,
    /// The sets of each group's operations, the oldest group first.
    groups: VecDeque<u64>,
    /// Groups so far.
    committed: u64,
    /// Operations so far, and the descriptors of the newest.
    issued: u64,
    descriptors: VecDeque<Descriptors>,
}

/// The descriptors of an operation: of A, unless it is in registers, and of B.
pub(crate) type Descriptors = [Option<u64>; 2];

/// Operations whose descriptors a warp remembers, for warps of its group that are behind.
const REMEMBERED: usize = 64;

/// Groups that a warp may leave without a wait, before the oldest are counted as one.
const MOST: usize = 1024;

/// Why registers still belong to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    /// The operation is in no group.
    Uncommitted,
    /// A wait with at most this number of newer groups would have covered it.
    Group { newer: usize },
}

impl Groups {
    /// An operation that holds these sets.
    pub fn issue(&mut self, site: u32, sets: u64, descriptors: Descriptors) {
        self.open |= sets;
        self.sites.resize(64, site);
        self.sites.iter_mut().zip(0..).filter(|(_, set)| sets >> set & 1 != 0).for_each(|(of, _)| *of = site);
        self.issued += 1;
        if self.descriptors.len() == REMEMBERED {
            self.descriptors.pop_front();
        }
        self.descriptors.push_back(descriptors);
    }

    /// The number of operations that the warp has issued.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    /// The descriptors of an operation, counted from 0, if the warp has issued it and remembers it.
    pub fn descriptors(&self, operation: u64) -> Option<Descriptors> {
        let newer = usize::try_from(self.issued.checked_sub(operation)?).ok()?;
        self.descriptors.get(self.descriptors.len().checked_sub(newer)?).copied()
    }

    pub fn commit(&mut self) {
        self.committed += 1;
        self.groups.push_back(std::mem::take(&mut self.open));
        if self.groups.len() > MOST
            && let (Some(first), Some(second)) = (self.groups.pop_front(), self.groups.front_mut())
        {
            *second |= first;
        }
    }

    /// The number of groups that the warp has committed.
    pub fn committed(&self) -> u64 {
        self.committed
    }

    /// Completes all groups but the newest `n`.
    pub fn wait(&mut self, n: u64) {
        let keep = usize::try_from(n).unwrap_or(usize::MAX).min(self.groups.len());
        self.groups.drain(..self.groups.len() - keep);
    }

    /// An operation in flight that holds one of these sets, with its statement.
    pub fn pending(&self, sets: u64) -> Option<(Pending, u32)> {
        let site = |held: u64| self.sites.get((held & sets).trailing_zeros() as usize).copied().unwrap_or(NO_SITE);
        if self.open & sets != 0 {
            return Some((Pending::Uncommitted, site(self.open)));
        }
        let (newer, held) = self.groups.iter().rev().enumerate().find(|(_, g)| *g & sets != 0)?;
        Some((Pending::Group { newer }, site(*held)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_leaves_the_newest_groups() {
        let mut g = Groups::default();
        for (site, sets) in [(10, 1), (11, 2), (12, 4)] {
            g.issue(site, sets, [None; 2]);
            g.commit();
        }
        g.issue(13, 8, [None; 2]);
        assert_eq!(g.pending(8), Some((Pending::Uncommitted, 13)));
        assert_eq!(g.pending(1), Some((Pending::Group { newer: 2 }, 10)));
        g.wait(2);
        assert_eq!((g.pending(1), g.pending(2)), (None, Some((Pending::Group { newer: 1 }, 11))));
        g.wait(0);
        assert_eq!((g.pending(7), g.pending(8)), (None, Some((Pending::Uncommitted, 13))));
    }

    #[test]
    fn groups_that_nobody_waits_for_take_no_more_memory() {
        let mut g = Groups::default();
        g.issue(0, 1, [None; 2]);
        for _ in 0..10 * MOST {
            g.commit();
        }
        assert!(g.groups.len() <= MOST);
        assert!(g.pending(1).is_some());
    }

    #[test]
    fn descriptors_of_the_newest_operations_are_remembered() {
        let mut g = Groups::default();
        for n in 0..100 {
            g.issue(0, 0, [None, Some(n)]);
        }
        assert_eq!(g.descriptors(100), None);
        assert_eq!(g.descriptors(99), Some([None, Some(99)]));
        assert_eq!(g.descriptors(36), Some([None, Some(36)]));
        assert_eq!(g.descriptors(35), None);
    }
}
