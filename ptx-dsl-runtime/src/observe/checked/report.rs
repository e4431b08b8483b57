//! Findings with both accesses, and what would have ordered them.

use super::Checked;
use super::actor;
use super::counters::WeakPair;
use super::misses::MissEvent;
use super::shadow::{Record, ShadowedMemory};
use super::what::RecordKind;
use crate::fault::{FaultKind, NearMiss, Race, Side, Strength, ThreadId};
use crate::observe::monitor::{Access, Place, Proxy, Who};
use crate::observe::probe::{LastWrite, LastWriter};

impl Checked {
    #[cold]
    pub(super) fn race(&mut self, a: &Access, space: &'static str, own: Record, other: Record) -> FaultKind {
        let observer = (a.who.slot, a.who.rank, a.who.warp);
        let event = MissEvent { actor: other.actor, lanes: other.lanes, time: other.time };
        let near = self.misses.on_the_way(&self.threads, observer, event);
        let near = near.map(|m| WeakPair { why: m.why, from: m.from, to: m.to });
        let near = near.or_else(|| self.weak_chain(a.who, event));
        let near_miss = near.map(|m| NearMiss { why: m.why, from: m.from, from_at: None, to: m.to, to_at: None });
        self.finding_of(a, space, (own, other), near_miss, None)
    }

    /// The pair of operations that is too weak in a chain of atomic operations, which leads to the observer directly or through a flag.
    fn weak_chain(&self, observer: Who, event: MissEvent) -> Option<WeakPair> {
        let own = self.threads.warp_at(observer)?;
        let counted = |known: &dyn Fn(MissEvent) -> bool| self.counters.weak_pair(&self.threads, event, known);
        let knows = |e: MissEvent| e.actor == own.id || own.any_knows(e.actor, e.lanes, e.time);
        // the flag comes first: nothing is ordered without it
        let flag = self.misses.of_cta(observer).find(|m| counted(&|e| m.may_have(&self.threads, e)).is_some());
        flag.map(|m| WeakPair { why: m.why, from: m.from, to: m.to }).or_else(|| counted(&knows))
    }

    /// The proxy fence between a store and this access is missing.
    #[cold]
    pub(super) fn unfenced(&mut self, a: &Access, space: &'static str, own: Record, other: Record) -> FaultKind {
        let fence = match (a.proxy, space) {
            (Proxy::Tensormap, _) => "fence.proxy.tensormap::generic",
            (_, "shared") => "fence.proxy.async.shared::cta",
            _ => "fence.proxy.async.global",
        };
        self.finding_of(a, space, (own, other), None, Some(fence))
    }

    /// The last write to a place.
    #[cold]
    pub(super) fn written_last(&mut self, place: Place, slot: u32) -> LastWrite {
        let (memory, at) = match place {
            Place::Shared { rank, offset } => (ShadowedMemory::Shared { slot, rank }, offset.into()),
            Place::Global { segment, offset } => (ShadowedMemory::Global { segment }, offset),
            Place::Local { .. } | Place::Const { .. } | Place::Param { .. } => return LastWrite::Unknown,
        };
        let Some(of) = self.shadows.of(memory).last_write(at) else { return LastWrite::Nobody };
        let (actor, lanes) = self.operations.thread(of.actor, of.lanes, of.time);
        let (ctaid, rank, warp) = self.threads.place(actor);
        let thread = ThreadId { ctaid, tid: [0; 3], warp, lane: lanes.trailing_zeros() & 31, rank };
        LastWrite::By(LastWriter { site: of.site, thread })
    }

    fn finding_of(
        &mut self,
        a: &Access,
        space: &'static str,
        (own, other): (Record, Record),
        near_miss: Option<NearMiss>,
        fence: Option<&'static str>,
    ) -> FaultKind {
        let early = self.early_phase(a.who, other);
        let (actor, lanes) = self.operations.thread(other.actor, other.lanes, other.time);
        let (ctaid, rank, warp) = self.threads.place(actor);
        let lane = (lanes & !if actor == own.actor { own.lanes } else { 0 }).trailing_zeros() & 31;
        let thread = ThreadId { ctaid, tid: [0; 3], warp, lane, rank };
        let asynchronous = own.what.is_asynchronous() || other.what.is_asynchronous();
        let by_thread = |of: &Record| matches!(of.what, RecordKind::Load | RecordKind::Store | RecordKind::Atomic);
        let of_threads = by_thread(&own) && by_thread(&other);
        let strength = of_threads.then_some(Strength {
            own: own.strong,
            other: other.strong,
            differ: own.is_mutual_scope(&other),
        });
        let released_by = if of_threads { self.lane_known_since(a.who, other) } else { None };
        let same_statement =
            (own.what, own.site, own.actor, own.time) == (RecordKind::Store, other.site, other.actor, other.time);
        let completion = other.what.is_asynchronous().then(|| actor::completion(other.actor));
        let owner = match a.place {
            Place::Shared { rank, .. } => Some(rank).filter(|rank| *rank != a.who.rank),
            _ => None,
        };
        let other = Side { access: other.what.name(), site: other.site, at: None, thread };
        let access = own.what.name();
        let (addr, bytes) = (a.addr, a.bytes);
        FaultKind::DataRace(Box::new(Race {
            space,
            addr,
            bytes,
            access,
            other,
            near_miss,
            early,
            strength,
            fence,
            asynchronous,
            same_statement,
            completion,
            owner,
            released_by,
            site: own.site,
            across_warps: false,
        }))
    }

    /// A lane that did not make this access of another warp, and of which the observer knows as much as would order the access: it has
    /// released its own accesses since.
    fn lane_known_since(&mut self, observer: Who, access: Record) -> Option<u32> {
        let lane = observer.lanes.trailing_zeros() & 31;
        let warp = self.threads.of(observer).filter(|warp| warp.id != access.actor)?;
        (0..32).find(|&l| access.lanes >> l & 1 == 0 && warp.knows(lane, access.actor, 1 << l, access.time))
    }
}
