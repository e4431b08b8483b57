//! The machine as the running region sees it: the current warp, and the parts of the machine, which borrow separately.

mod control_flow;
mod faults;
mod ids;
pub(crate) mod meetings;
mod monitored_access;
mod monitoring;
mod objects;
mod operands;
pub(crate) mod parts;
mod steps;
mod weak_memory;

use crate::machine::async_ops::AsyncOps;
use crate::machine::cluster::{Cluster, Cohort, Cta};
use crate::machine::findings::Findings;
use crate::machine::fragments::Fragments;
use crate::machine::geometry::Geometry;
use crate::machine::memory::Memory;
use crate::machine::residents::Residents;
use crate::machine::scheduling::Scheduling;
use crate::machine::step::CohortOutcome;
use crate::numerics::simd::InstructionSet;
use crate::observe::monitor::Order;
use crate::observe::probe::Monitored;

/// The machine, as seen by the region that runs on it.
pub struct Ctx<'a> {
    /// Active lanes.
    pub mask: u32,
    /// The PTX statement that runs, for faults.
    pub site: u32,
    /// The memory order of the running statement, for monitors.
    pub(crate) order: Order,
    /// A monitor must see the accesses of each lane: there is one, and it has not seen those of this statement in the current warp.
    pub(crate) watched: bool,
    /// The current warp in its CTA.
    pub warp: u32,
    /// Rows of eight lanes in a warp, 4: see [`crate::numerics::lanes::Level::lanes`].
    pub rows: u8,
    /// The instruction set that kernels run with.
    pub(crate) set: InstructionSet,
    /// The running cohort.
    pub(crate) cur: Cohort,
    /// The regions where the warps of the running cohort continue.
    pub(crate) step: CohortOutcome,
    /// The other fragments of the current warp that can run.
    pub(crate) fragments: Fragments,
    pub(crate) scheduling: Scheduling<'a>,
    pub(crate) geometry: Geometry<'a>,
    pub(crate) memory: Memory<'a>,
    pub(crate) residents: Residents,
    pub(crate) async_ops: AsyncOps,
    pub(crate) monitor: Monitored,
    pub(crate) findings: Findings,
}

impl Ctx<'_> {
    /// The current cluster, to change.
    #[inline(always)]
    pub(crate) fn here(&mut self) -> &mut Cluster {
        self.residents.here_mut()
    }

    /// The current CTA.
    #[inline(always)]
    pub(crate) fn cta(&self) -> &Cta {
        self.residents.cta(self.cur.cta)
    }

    /// The current CTA, to change.
    #[inline(always)]
    pub(crate) fn cta_mut(&mut self) -> &mut Cta {
        self.residents.cta_mut(self.cur.cta)
    }

    /// Moves the shared memory of the step's CTA to [`Memory::shared`], at the begin of a step.
    #[inline]
    pub(crate) fn hold_shared(&mut self) {
        if let Some(cta) = self.residents.here_mut().ctas.get_mut(self.cur.cta as usize) {
            self.memory.swap_shared(&mut cta.shared, self.cur.cta);
        }
    }

    /// Moves the shared memory back to its CTA, at the end of a step.
    #[inline]
    pub(crate) fn release_shared(&mut self) {
        if let Some(cta) = self.residents.here_mut().ctas.get_mut(self.cur.cta as usize) {
            self.memory.swap_shared(&mut cta.shared, Memory::NO_CTA);
        }
    }

    /// Counts a change of memory or of synchronisation state.
    #[inline(always)]
    pub(crate) fn changed(&mut self) {
        self.scheduling.progress += 1;
    }

    /// Something that other threads wait for may have changed.
    #[inline(always)]
    pub fn notify_waiters(&mut self) {
        self.changed();
        let here = self.residents.here_mut();
        if !here.parked.is_empty() {
            here.dirty = true;
            self.scheduling.leave = true;
        }
    }
}
