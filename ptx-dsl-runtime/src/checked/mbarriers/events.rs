//! Operations on mbarrier objects.

use super::bytes::Bytes;
use super::{Object, Publishing};
use crate::checked::Checked;
use crate::checked::accesses::shadow_of;
use crate::checked::misses::Events;
use crate::checked::operations::View;
use crate::checked::shadow::{Memory, Record, What};
use crate::fault::FaultKind;
use crate::mem::address::Place;
use crate::monitor::{Access, By, Order, Proxy, Scope, Who};

/// All bytes of a cell.
const CELL: u8 = 0b1111;

impl Checked {
    /// `mbarrier.init`
    pub(in crate::checked) fn begins(&mut self, object: Object, who: Who) -> Result<(), FaultKind> {
        let (slot, rank, offset) = object;
        if !self.live.insert(object) {
            return Err(FaultKind::MbarrierMisused { offset, what: "`mbarrier.init` over".into() });
        }
        if let Some(warp) = self.threads.warp(slot, rank, 0) {
            self.mbarriers.init(object, warp.id);
        }
        self.object(object, What::Init, who)?;
        if let Some(warp) = self.threads.of(who)
            && who.lanes.is_power_of_two()
            && offset.is_multiple_of(8)
        {
            let init = Record::new(warp, who.lanes, who.site, What::Init, Order::default());
            self.mbarriers.of(object).bytes = Some(Bytes::new(Record { bytes: CELL, ..init }));
        }
        Ok(())
    }

    /// `mbarrier.inval`
    pub(in crate::checked) fn ends(&mut self, object: Object, who: Who) -> Result<(), FaultKind> {
        let (slot, rank, offset) = object;
        self.live.remove(&object);
        if let Some(bytes) = self.mbarriers.find(object).and_then(|object| object.bytes.take()) {
            self.shadow(Memory::Shared { slot, rank }).add(offset.into(), &bytes.others, bytes.last);
        }
        self.object(object, What::Init, who)?;
        // the memory is as if never written
        self.shadow(Memory::Shared { slot, rank }).forget(offset.into(), 8);
        Ok(())
    }

    /// An operation on the bytes of an object.
    pub(in crate::checked) fn object(&mut self, object: Object, what: What, who: Who) -> Result<(), FaultKind> {
        let (slot, rank, offset) = object;
        let Some(warp) = self.threads.of(who) else { return Ok(()) };
        if !warp.is_together(who.lanes) {
            let mut lanes = (0..32).map(|l| who.lanes & 1 << l).filter(|lane| *lane != 0);
            return lanes.try_for_each(|lanes| self.object(object, what, Who { lanes, ..who }));
        }
        let strong = what == What::Mbarrier;
        let order = Order { strong, scope: Scope::Sys, ..Order::default() };
        let record = Record::new(warp, who.lanes, who.site, what, order);
        let place = Place::Shared { rank, offset };
        let (by, proxy, addr, write) = (By::Thread, Proxy::Generic, offset.into(), what == What::Init);
        let a = Access { place, addr, bytes: 8, write, same: false, by, proxy, order, who };
        let memory = Memory::Shared { slot, rank };
        self.inside(&a)?;
        self.reaches(&a, memory, record)?;
        let Some(warp) = self.threads.of(who) else { return Ok(()) };
        let (lanes, operations) = (who.lanes, &self.operations);
        let view = View { warp, lanes, operations, bridge: None, reads: false, content: None };
        let race = match self.mbarriers.find(object).and_then(|object| object.bytes.as_mut()) {
            Some(bytes) => bytes.access(Record { bytes: CELL, ..record }, &view),
            None => {
                let shadow = shadow_of(&mut self.shared, &mut self.global, memory);
                shadow.guard(offset.into());
                shadow.access((offset.into(), 8), (false, false), record, &view).race
            }
        };
        match race {
            Some(other) => Err(self.race(&a, "shared", record, other)),
            None => Ok(()),
        }
    }

    /// Lanes of a warp arrive.
    pub(in crate::checked) fn arrives(&mut self, object: Object, order: Order, who: Who) -> Result<(), FaultKind> {
        self.object(object, What::Mbarrier, who)?;
        if let Some(warp) = self.threads.of(who) {
            self.mbarriers.of(object).arrive(warp, order, who);
        }
        Ok(())
    }

    /// A thread tests a phase of this parity.
    pub(in crate::checked) fn tests(&mut self, object: Object, parity: u64, who: Who) -> Result<(), FaultKind> {
        let Some(warp) = self.threads.of(who) else { return Ok(()) };
        let phases = self.mbarriers.find(object).and_then(|object| object.phases.as_ref());
        let Some(late) = phases.and_then(|phases| phases.test(parity, who.warp, warp)) else { return Ok(()) };
        let what = format!(
            "a wait for phase {} of the mbarrier object at shared address {:#x}, counted from 0, comes too late: {} phases are \
             complete, and parity {parity} names a later one",
            late.wanted, object.2, late.complete
        );
        Err(FaultKind::MbarrierPhase { what })
    }

    /// A thread has seen the completion of a phase.
    pub(in crate::checked) fn waited(&mut self, object: Object, order: Order, who: Who) {
        let (Some(warp), Some(object)) = (self.threads.of(who), self.mbarriers.find(object)) else { return };
        if let Some(phases) = &mut object.phases {
            phases.sees(who.warp);
        }
        for (clock, how) in &object.done {
            let why = match how {
                Publishing::Released | Publishing::Remote if !order.acquire => {
                    warp.observe(who.lanes, clock, None);
                    "the wait is `.relaxed`, and no fence of acquire semantics follows it"
                }
                Publishing::Remote if order.scope < Scope::Cluster => {
                    "the scope of the wait does not include the thread that arrives"
                }
                Publishing::Released | Publishing::Remote => {
                    warp.learn(who.lanes, clock);
                    continue;
                }
                Publishing::Narrow => "the scope of the arrival does not include the thread that waits",
                Publishing::Relaxed => "the arrival is `.relaxed`, and no fence of release semantics precedes it",
            };
            warp.meet(who.lanes, clock);
            self.misses.remember(who, Events::Known(clock.clone()), why, object.site);
        }
    }
}
