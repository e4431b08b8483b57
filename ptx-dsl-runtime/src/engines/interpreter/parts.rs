//! Parts of the interpreter that serve monitors and reports and do not run the cohort. A part is a borrow of [`Runner`].

use super::runner::Runner;

/// Follows undefined values through registers, for the checked host.
pub(super) struct ValueTracker<'r, 's, 'a> {
    pub runner: &'r mut Runner<'s, 'a>,
}

/// Adds to faults what their threads have read, and where they were called.
pub(super) struct FaultDetails<'r, 's, 'a> {
    pub runner: &'r Runner<'s, 'a>,
}

impl<'s, 'a> Runner<'s, 'a> {
    /// Borrows [`ValueTracker`].
    #[inline(always)]
    pub fn tracker(&mut self) -> ValueTracker<'_, 's, 'a> {
        ValueTracker { runner: self }
    }

    /// Borrows [`FaultDetails`].
    #[inline(always)]
    pub fn details(&self) -> FaultDetails<'_, 's, 'a> {
        FaultDetails { runner: self }
    }
}
