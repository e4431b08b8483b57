//! Accesses to memory, compared with the last ones to the same bytes.

use super::Checked;
use super::actor::{COPIES, Work};
use super::clock::Bridge;
use super::mbarriers::Completion;
use super::operations::{Bulk, View};
use super::remotes::Remote;
use super::shadow::{Outcome, Record, ShadowedMemory};
use super::what::RecordKind;
use crate::fault::FaultKind;
use crate::memory::address::Place;
use crate::observe::monitor::{Access, Agent, By, Order, Proxy, Who};

impl Checked {
    /// A live mbarrier object is not an ordinary memory.
    pub(super) fn ordinary(&self, a: &Access, rank: u32, offset: u32) -> Result<(), FaultKind> {
        let of = |offset| (a.who.slot, rank, offset);
        // objects are aligned
        let objects = of(offset & !7)..of(offset + a.bytes);
        match self.live.range(objects).next() {
            None => Ok(()),
            Some(&(_, _, offset)) => {
                let what = match (a.by, a.write) {
                    (By::Thread, true) => "ordinary store to",
                    (By::Thread, false) => "ordinary load from",
                    (By::Agent(_), true) => "write by an asynchronous operation to",
                    (By::Agent(_), false) => "read by an asynchronous operation from",
                };
                Err(FaultKind::MbarrierMisused { offset, what: what.into() })
            }
        }
    }

    /// An access to shared or global memory.
    pub(super) fn access(&mut self, a: &Access, memory: ShadowedMemory, offset: u64) -> Result<(), FaultKind> {
        if let By::Agent(agent) = a.by {
            return self.asynchronous(a, agent, memory, offset);
        }
        let lanes = a.who.lanes & a.who.lanes.wrapping_neg();
        let Some(warp) = self.threads.accesses(a.who) else { return Ok(()) };
        let what = match (a.order.atomic, a.write) {
            (true, _) => RecordKind::Atomic,
            (false, true) => RecordKind::Store,
            (false, false) => RecordKind::Load,
        };
        let record = Record::new(warp, lanes, a.who.site, what, a.order);
        self.reaches(a, memory, record, Completion::Thread)?;
        let reads = !a.write && self.may_be_unwritten(memory);
        let Some(warp) = self.threads.accesses(a.who) else { return Ok(()) };
        let view = View { warp, lanes, operations: &self.operations, bridge: None, reads: false, content: None };
        let shadow = self.shadows.of(memory);
        let outcome = shadow.access((offset, a.bytes), (reads, a.same && !self.same_values), record, &view);
        let judged = self.judge(a, memory, offset, record, &outcome);
        if let Some(weak) = &mut self.weak {
            // strong accesses follow, once their stores are chosen
            if a.write && !a.order.is_strong() {
                weak.forget(memory, offset, a.bytes, None);
            }
        } else if a.order.is_strong() || a.write {
            // a finding is no reason for others: the access synchronises
            self.exchange(a, memory, offset);
        }
        judged
    }

    /// An access that an asynchronous operation makes from now on.
    fn asynchronous(&mut self, a: &Access, agent: Agent, memory: ShadowedMemory, offset: u64) -> Result<(), FaultKind> {
        if a.write
            && let Some(weak) = &mut self.weak
        {
            weak.forget(memory, offset, a.bytes, None);
        }
        let lanes = a.who.lanes & a.who.lanes.wrapping_neg();
        let first = self.threads.warp(a.who.slot, a.who.rank, a.who.warp & !3).map(|warp| warp.id);
        let (Some(first), Some(warp)) = (first, self.threads.of(a.who)) else { return Ok(()) };
        let issued = warp.event();
        let shared = matches!(memory, ShadowedMemory::Shared { .. });
        let (actor, time, of) = match agent {
            Agent::Copy(number) => (COPIES, self.operations.start(number, warp.id, lanes.trailing_zeros()), 1),
            Agent::Bulk { group, .. } if shared && !a.write => (Work::BulkReads.of(warp.id), group as u32, lanes),
            Agent::Bulk { group, .. } => (Work::Bulk.of(warp.id), group as u32, lanes),
            Agent::Cp(group) => (Work::Cp.of(warp.id), group as u32, lanes),
            Agent::Warpgroup(group) => (Work::Warpgroup.of(first), group as u32, 1),
            Agent::Tensor(commits) => (Work::Tensor.of(warp.id), commits as u32, lanes),
        };
        if let Agent::Bulk { group, .. } = agent {
            let (warp, group, site) = (warp.id, group as u32, a.who.site);
            self.operations.starts_bulk(Bulk { warp, lanes, issued, group, site });
        }
        let generic = a.proxy == Proxy::Generic;
        let what = match (agent, a.write) {
            (Agent::Warpgroup(_) | Agent::Tensor(_), _) => RecordKind::Operand,
            (_, false) if a.proxy == Proxy::Tensormap => RecordKind::TensorMap,
            (_, false) => RecordKind::CopyLoad,
            (_, true) if a.order.atomic => {
                if generic {
                    RecordKind::AsyncReduction
                } else {
                    RecordKind::CopyReduction
                }
            }
            (_, true) => {
                if generic {
                    RecordKind::AsyncStore
                } else {
                    RecordKind::CopyStore
                }
            }
        };
        let bridge = match a.proxy {
            Proxy::Generic => None,
            Proxy::Async if shared => Some(Bridge::AsyncShared),
            Proxy::Async => Some(Bridge::AsyncGlobal),
            Proxy::Tensormap => Some(Bridge::Tensormap),
        };
        let strong = a.order.is_strong().then_some(a.order.scope);
        let record = Record { actor, time, lanes: of, site: a.who.site, bytes: 0, strong, what };
        self.reaches(a, memory, record, Completion::Thread)?;
        let Some(warp) = self.threads.of(a.who) else { return Ok(()) };
        let content = match agent {
            Agent::Bulk { content, .. } if a.write && !self.same_values => content,
            _ => None,
        };
        let view = View { warp, lanes, operations: &self.operations, bridge, reads: self.read_fences, content };
        let shadow = self.shadows.of(memory);
        let outcome = shadow.span((offset, a.bytes), shared && !a.write, record, &view);
        if let Some(content) = content {
            self.operations.writes((actor, of, time, a.who.site), content);
        }
        self.judge(a, memory, offset, record, &outcome)
    }

    /// An access to the shared memory of another CTA, which must have started.
    pub(super) fn reaches(
        &mut self,
        a: &Access,
        memory: ShadowedMemory,
        record: Record,
        done: Completion,
    ) -> Result<(), FaultKind> {
        let ShadowedMemory::Shared { slot, rank } = memory else { return Ok(()) };
        if rank == a.who.rank {
            return Ok(());
        }
        let of = self.threads.warp(slot, rank, 0).map(|warp| warp.id);
        let (Some(of), Some(warp)) = (of, self.threads.accesses(a.who)) else { return Ok(()) };
        let lanes = a.who.lanes;
        let remote = Remote { record, addr: a.addr, bytes: a.bytes, done };
        if self.remotes.access((slot, rank), of, warp, lanes, remote) {
            return Ok(());
        }
        Err(FaultKind::undefined(
            format!("access to the shared memory of CTA {rank} of the cluster, and this CTA may not have started"),
            "9.7.9.23",
            "`barrier.cluster.arrive` and `.wait` at the beginning",
        ))
    }

    /// A CTA ends: the accesses of others to its shared memory must be done.
    #[cold]
    pub(super) fn cta_ends(&mut self, who: Who) -> Result<(), FaultKind> {
        let Some(remote) = self.remotes.end((who.slot, who.rank), &self.threads, &self.operations).next() else {
            return Ok(());
        };
        let own = Record { what: RecordKind::End, site: who.site, lanes: who.lanes, ..Record::default() };
        let (place, addr) = (Place::Shared { rank: who.rank, offset: 0 }, remote.addr);
        let (by, proxy, order) = (By::Thread, Proxy::Generic, Order::default());
        let a = Access { place, addr, bytes: remote.bytes, write: false, same: false, by, proxy, order, who };
        Err(self.race(&a, "shared", own, remote.record))
    }

    /// The fault of an access, if it has one.
    fn judge(
        &mut self,
        a: &Access,
        memory: ShadowedMemory,
        offset: u64,
        own: Record,
        found: &Outcome,
    ) -> Result<(), FaultKind> {
        if let Some(other) = found.race {
            return Err(self.race(a, memory.name(), own, other));
        }
        if let Some(other) = found.unfenced {
            return Err(self.unfenced(a, memory.name(), own, other));
        }
        if found.unwritten
            && self.may_be_unwritten(memory)
            && let Some(byte) = self.unwritten(a, memory, offset)
        {
            // a copy of many bytes says which
            let addr = if a.by == By::Thread { a.addr } else { a.addr + u64::from(byte) };
            return Err(FaultKind::Uninitialised { space: memory.name(), addr });
        }
        Ok(())
    }

    /// Whether threads have to write memory before they read it: shared memory and the heap. The host has written other global memory.
    pub(super) fn may_be_unwritten(&self, memory: ShadowedMemory) -> bool {
        match memory {
            ShadowedMemory::Shared { .. } => true,
            ShadowedMemory::Global { segment } => self.heap.is(segment),
        }
    }

    /// The first byte that the access uses and nobody has written.
    #[cold]
    fn unwritten(&mut self, a: &Access, memory: ShadowedMemory, offset: u64) -> Option<u32> {
        let used = self.used(a);
        let shadow = self.shadows.of(memory);
        let is_used = |byte: u32| used.checked_shr(byte).is_none_or(|used| used & 1 != 0);
        (0..a.bytes).find(|byte| is_used(*byte) && shadow.is_unwritten(offset + u64::from(*byte), 1))
    }

    /// The bytes of an access that nothing has written, a bit each.
    #[cold]
    pub(super) fn unwritten_bytes(&mut self, a: &Access, memory: ShadowedMemory, offset: u64) -> u64 {
        let shadow = self.shadows.of(memory);
        if !shadow.is_unwritten(offset, a.bytes) {
            return 0;
        }
        let bytes = 0..a.bytes.min(64);
        bytes.filter(|byte| shadow.is_unwritten(offset + u64::from(*byte), 1)).fold(0, |all, byte| all | 1 << byte)
    }

    /// The bytes that a load uses, a bit each.
    pub(super) fn used(&self, a: &Access) -> u64 {
        self.used_bytes.get(&a.who.site).map_or(u64::MAX, |mask| u64::from(*mask))
    }
}
