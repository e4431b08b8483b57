//! Operations on mbarrier objects.

use super::bytes::ObjectBytes;
use super::{Completion, Mbarrier, MbarrierKey, Publishing, meant_scope};
use crate::fault::{FaultKind, TooWeak};
use crate::memory::address::Place;
use crate::observe::checked::Checked;
use crate::observe::checked::inside::SHARED;
use crate::observe::checked::misses::{Events, Misses};
use crate::observe::checked::operations::View;
use crate::observe::checked::shadow::{Record, ShadowedMemory};
use crate::observe::checked::threads::Warp;
use crate::observe::checked::what::RecordKind;
use crate::observe::monitor::{Access, By, Order, Proxy, Scope, Sem, Who};

/// The memory order of an operation on an object, for the accesses to its bytes: a strong one.
const OPERATION: Order = Order::new(Sem::Relaxed, Scope::Sys);

impl Checked {
    /// `mbarrier.init`
    pub(in crate::observe::checked) fn begins(&mut self, object: MbarrierKey, who: Who) -> Result<(), FaultKind> {
        let (slot, rank, offset) = object;
        if !self.live.insert(object) {
            return Err(FaultKind::MbarrierMisused { offset, what: "`mbarrier.init` over".into() });
        }
        if let Some(warp) = self.threads.warp(slot, rank, 0) {
            self.mbarriers.init(object, warp.id);
        }
        self.object(object, RecordKind::Init, Completion::Thread, who)?;
        if let Some(warp) = self.threads.of(who)
            && who.lanes.is_power_of_two()
            && offset.is_multiple_of(8)
        {
            let init = Record::new(warp, who.lanes, who.site, RecordKind::Init, Order::default());
            self.mbarriers.of(object).bytes = Some(ObjectBytes::new(init));
        }
        Ok(())
    }

    /// `mbarrier.inval`
    pub(in crate::observe::checked) fn ends(&mut self, object: MbarrierKey, who: Who) -> Result<(), FaultKind> {
        let (slot, rank, offset) = object;
        self.live.remove(&object);
        if let Some(bytes) = self.mbarriers.find(object).and_then(|object| object.bytes.take()) {
            let warp = self.threads.of(who);
            let lane = who.lanes.trailing_zeros() & 31;
            let open = bytes.operations(|object, phase| warp.as_ref().is_some_and(|w| w.knows(lane, object, 1, phase)));
            self.shadows.of(ShadowedMemory::Shared { slot, rank }).add(offset.into(), &open);
        }
        self.object(object, RecordKind::Init, Completion::Thread, who)?;
        // the memory is as if never written, but who writes it must know of the end
        self.shadows.of(ShadowedMemory::Shared { slot, rank }).forget(offset.into(), 8);
        self.object(object, RecordKind::Inval, Completion::Thread, who)
    }

    /// An operation on the bytes of an object.
    pub(in crate::observe::checked) fn object(
        &mut self,
        object: MbarrierKey,
        what: RecordKind,
        done: Completion,
        who: Who,
    ) -> Result<(), FaultKind> {
        let (slot, rank, offset) = object;
        let Some(warp) = self.threads.of(who) else { return Ok(()) };
        if !warp.is_together(who.lanes) {
            let mut lanes = (0..32).map(|l| who.lanes & 1 << l).filter(|lane| *lane != 0);
            return lanes.try_for_each(|lanes| self.object(object, what, done, Who { lanes, ..who }));
        }
        let order = if what == RecordKind::Mbarrier { OPERATION } else { Order::default() };
        let record = Record::new(warp, who.lanes, who.site, what, order);
        let place = Place::Shared { rank, offset };
        let (by, proxy, addr, write) = (By::Thread, Proxy::Generic, offset.into(), what == RecordKind::Init);
        let a = Access { place, addr, bytes: 8, write, same: false, by, proxy, order, who };
        let memory = ShadowedMemory::Shared { slot, rank };
        self.inside(&a)?;
        self.reaches(&a, memory, record, done)?;
        let Some(warp) = self.threads.of(who) else { return Ok(()) };
        let (lanes, operations) = (who.lanes, &self.operations);
        let view = View { warp, lanes, operations, bridge: None, reads: false, content: None };
        let race = match self.mbarriers.find(object).and_then(|object| object.bytes.as_mut()) {
            Some(bytes) => bytes.access(&record, &view, done),
            None => {
                let shadow = self.shadows.of(memory);
                shadow.guard(offset.into());
                shadow.access((offset.into(), 8), (false, false), record, &view).race
            }
        };
        match race {
            Some(other) => Err(self.race(&a, "shared", record, other)),
            None => Ok(()),
        }
    }

    /// An operation by lanes that know the same on the bytes of a live object of their CTA: the warp, and the object. `None` if there is
    /// more to it than that nothing is wrong.
    #[inline]
    fn operation(
        &mut self,
        object: MbarrierKey,
        counts: bool,
        who: Who,
    ) -> Option<(&mut Warp, &mut Mbarrier, &mut Misses)> {
        let (_, rank, offset) = object;
        let bytes = (offset.into(), u64::from(offset) + 8);
        if rank != who.rank || self.variables.left_by(who.site, SHARED, bytes).is_some() {
            return None;
        }
        let (warp, object) = (self.threads.of(who)?, self.mbarriers.find(object)?);
        let done = object.completion(counts);
        let bytes = object.bytes.as_mut().filter(|_| warp.is_together(who.lanes))?;
        let record = Record::new(warp, who.lanes, who.site, RecordKind::Mbarrier, OPERATION);
        let (lanes, operations) = (who.lanes, &self.operations);
        let view = View { warp, lanes, operations, bridge: None, reads: false, content: None };
        bytes.access(&record, &view, done).is_none().then_some((warp, object, &mut self.misses))
    }

    /// Lanes of a warp arrive.
    pub(in crate::observe::checked) fn arrives(
        &mut self,
        object: MbarrierKey,
        order: Order,
        who: Who,
    ) -> Result<(), FaultKind> {
        if let Some((warp, object, _)) = self.operation(object, true, who) {
            object.arrive(warp, order, who);
            return Ok(());
        }
        let done = self.mbarriers.completion(object, true);
        let found = self.object(object, RecordKind::Mbarrier, done, who);
        if let Some(warp) = self.threads.of(who) {
            self.mbarriers.of(object).arrive(warp, order, who);
        }
        found
    }

    /// Lanes of a warp test a phase, which is complete or not. False if there is more to it than that nothing is wrong: then the test
    /// comes again, in parts.
    pub(in crate::observe::checked) fn test_at_once(
        &mut self,
        object: MbarrierKey,
        (parity, complete): (u64, bool),
        order: Order,
        who: Who,
    ) -> bool {
        let Some((warp, object, misses)) = self.operation(object, false, who) else { return false };
        if object.phases.as_ref().is_some_and(|phases| phases.test(parity, who.warp, warp).is_some()) {
            return false;
        }
        if complete {
            object.waited(warp, order, who, misses);
        }
        true
    }

    /// A thread tests a phase of this parity.
    pub(in crate::observe::checked) fn tests(
        &mut self,
        object: MbarrierKey,
        parity: u64,
        who: Who,
    ) -> Result<(), FaultKind> {
        let Some(warp) = self.threads.of(who) else { return Ok(()) };
        let phases = self.mbarriers.find(object).and_then(|object| object.phases.as_ref());
        let Some(late) = phases.and_then(|phases| phases.test(parity, who.warp, warp)) else { return Ok(()) };
        let (offset, wanted, complete) = (object.2, late.wanted, late.complete);
        Err(FaultKind::MbarrierLateWait { offset, object: String::new(), wanted, complete, parity })
    }

    /// A thread has seen the completion of a phase.
    pub(in crate::observe::checked) fn waited(&mut self, object: MbarrierKey, order: Order, who: Who) {
        if let (Some(warp), Some(object)) = (self.threads.of(who), self.mbarriers.find(object)) {
            object.waited(warp, order, who, &mut self.misses);
        }
    }
}

impl Mbarrier {
    /// A warp has seen the completion of a phase.
    fn waited(&mut self, warp: &mut Warp, order: Order, who: Who, misses: &mut Misses) {
        if let Some(phases) = &mut self.phases {
            phases.sees(who.warp);
        }
        for (clock, how) in &self.done {
            let why = match how {
                Publishing::Released | Publishing::Remote if !order.acquires() => {
                    warp.observe(who.lanes, clock, None);
                    TooWeak::RelaxedWait
                }
                Publishing::Remote if meant_scope(order) < Scope::Cluster => TooWeak::WaitScope,
                Publishing::Released | Publishing::Remote => {
                    warp.learn(who.lanes, clock);
                    continue;
                }
                Publishing::Narrow => TooWeak::ArrivalScope,
                Publishing::Relaxed => TooWeak::RelaxedArrival,
                Publishing::Untracked => {
                    misses.remember(who, Events::Known(clock.clone()), TooWeak::OtherCommit, self.commit_site);
                    continue;
                }
            };
            warp.meet(who.lanes, clock);
            misses.remember(who, Events::Known(clock.clone()), why, self.site);
        }
    }
}
