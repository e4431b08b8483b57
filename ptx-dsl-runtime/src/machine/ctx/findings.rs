//! What a monitor has found, if the launch goes on after it.

use crate::fault::{Fault, FaultKind};
use crate::machine::ctx::Ctx;
use crate::monitor::{Access, Finding, Monitor};

/// The findings of a launch so far, in order.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Fault>,
    /// Those that have the registers which their statement has read.
    described: usize,
}

impl Findings {
    /// Are there findings without registers?
    #[inline(always)]
    pub fn has_news(&self) -> bool {
        self.described < self.list.len()
    }

    /// Those, which have them from now on.
    pub fn news(&mut self) -> &mut [Fault] {
        let from = std::mem::replace(&mut self.described, self.list.len());
        &mut self.list[from..]
    }

    /// The first finding with the others, and the fault that has ended the launch.
    pub fn end(self, fault: Option<Box<Fault>>) -> Option<Box<Fault>> {
        let mut all = self.list.into_iter().chain(fault.map(|fault| *fault));
        let mut first = Box::new(all.next()?);
        first.others = all.collect();
        Some(first)
    }
}

impl<M: Monitor> Ctx<'_, M> {
    /// Tells the monitor of an access of one lane.
    pub(crate) fn tell_access(&mut self, access: Access) -> Result<(), FaultKind> {
        let done = self.monitor.memory(access);
        done.or_else(|kind| self.found(kind, access.who.lanes.trailing_zeros().min(31)))
    }

    /// The monitor has found something about a lane. Err if that ends the launch.
    #[cold]
    pub(crate) fn found(&mut self, kind: FaultKind, lane: u32) -> Result<(), FaultKind> {
        match self.monitor.finding(&kind, self.who(1 << lane)) {
            Finding::Ends => return Err(kind),
            Finding::Reported => {
                let fault = self.fault(kind, lane);
                self.findings.list.push(*fault);
            }
            Finding::Known => {}
        }
        Ok(())
    }
}
