//! Findings with both accesses, and what would have ordered them.

use super::Checked;
use super::shadow::Record;
use super::what::What;
use crate::fault::{FaultKind, NearMiss, Race, Side, Strength, ThreadId};
use crate::monitor::{Access, Proxy};

impl Checked {
    #[cold]
    pub(super) fn race(&mut self, a: &Access, space: &'static str, own: Record, other: Record) -> FaultKind {
        let observer = (a.who.slot, a.who.rank, a.who.warp);
        let near = self.misses.last(observer, other.actor, other.lanes, other.time);
        let near_miss = near.map(|m| NearMiss { why: m.why, from: m.from, from_at: None, to: m.to, to_at: None });
        self.finding_of(a, space, (own, other), near_miss, None)
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
        let by_thread = |of: &Record| matches!(of.what, What::Load | What::Store | What::Atomic);
        let strength = (by_thread(&own) && by_thread(&other)).then_some(Strength {
            own: own.strong,
            other: other.strong,
            differ: own.is_mutual_scope(&other),
        });
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
        }))
    }
}
