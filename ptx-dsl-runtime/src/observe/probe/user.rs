//! A monitor of a user as a probe.

use super::Probe;
use crate::fault::FaultKind;
use crate::kernel::KernelInfo;
use crate::observe::monitor::{Access, Event, Finding, Monitor, Offsets, Order, Sync, TensorAccess, Wants, Who};

/// A monitor of a user: it hears what [`Monitor`] has, and nothing else.
pub(crate) struct UserMonitor<M>(pub M);

impl<M: Monitor> Monitor for UserMonitor<M> {
    fn wants(&self) -> Wants {
        self.0.wants()
    }

    fn launch(&mut self, kernel: &KernelInfo<'_>) {
        self.0.launch(kernel);
    }

    fn cluster(&mut self, slot: u32, ctas: &[[u32; 3]], threads: u32) {
        self.0.cluster(slot, ctas, threads);
    }

    fn memory(&mut self, access: Access) -> Result<(), FaultKind> {
        self.0.memory(access)
    }

    fn warp(&mut self, first: &Access, offsets: Offsets<'_>) -> bool {
        self.0.warp(first, offsets)
    }

    fn sync(&mut self, what: Sync, order: Order, who: Who) -> Result<(), FaultKind> {
        self.0.sync(what, order, who)
    }

    fn tensor(&mut self, access: &TensorAccess<'_>, who: Who) -> Result<(), FaultKind> {
        self.0.tensor(access, who)
    }

    fn finding(&mut self, kind: &FaultKind, who: Who) -> Finding {
        self.0.finding(kind, who)
    }

    fn event(&mut self, turns: u64, event: Event<'_>) {
        self.0.event(turns, event);
    }
}

impl<M: Monitor> Probe for UserMonitor<M> {}
