//! A record: an access by lanes of one actor at one epoch, to some of four bytes.

use crate::observe::checked::actor::{Actor, COPIES, includes};
use crate::observe::checked::clock::Bridge;
use crate::observe::checked::operations::View;
use crate::observe::checked::threads::Warp;
use crate::observe::checked::what::RecordKind;
use crate::observe::monitor::{Order, Scope};

/// Accesses to some of four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::observe::checked) struct Record {
    pub actor: Actor,
    /// The epoch of the actor.
    pub time: u32,
    /// 0: no record.
    pub lanes: u32,
    pub site: u32,
    /// Bit i: byte i.
    pub bytes: u8,
    /// Strong accesses have a scope.
    pub strong: Option<Scope>,
    pub what: RecordKind,
}

impl Record {
    /// The record of an access of lanes, at the epoch of their warp.
    pub fn new(warp: &mut Warp, lanes: u32, site: u32, what: RecordKind, order: Order) -> Record {
        let (time, id) = (warp.event(), warp.id);
        Record { actor: id, time, lanes, site, bytes: 0, strong: order.is_strong().then_some(order.scope), what }
    }

    /// Do the scopes of two strong accesses include both threads?
    pub fn is_mutual(&self, other: &Record) -> bool {
        // the scope of reductions is that of the GPU
        let alike = self.bytes == other.bytes || self.what.reduces() || other.what.reduces();
        alike && self.is_mutual_scope(other)
    }

    /// Do the scopes alone include both threads?
    #[inline]
    pub fn is_mutual_scope(&self, other: &Record) -> bool {
        let (Some(a), Some(b)) = (self.strong, other.strong) else { return false };
        a.min(b) >= Scope::Gpu || includes(a.min(b), self.actor, other.actor)
    }

    /// Are both strong loads that are in a race with the same writes, unless these come after them?
    #[inline]
    pub fn is_alike(&self, other: &Record) -> bool {
        let what = (self.what, other.what) == (RecordKind::Load, RecordKind::Load);
        what && self.bytes == other.bytes && self.strong == other.strong && self.is_mutual_scope(other)
    }

    /// Has it happened before an access of lanes?
    #[inline]
    pub fn is_before(&self, view: &View<'_>) -> bool {
        if self.what == RecordKind::Mbarrier {
            return self.is_operation_before(view);
        }
        // a thread's accesses are in order
        let own = if self.actor == view.warp.id && view.lanes.is_power_of_two() { view.lanes } else { 0 };
        let others = self.lanes & !own;
        others == 0 || view.knows(self.actor, others, self.time)
    }

    /// Has an operation on an mbarrier object happened before? A lane speaks for its warp. libcu++ relies on that: one lane leaves a
    /// pipeline for all after `match.any.sync`, and the last one to leave invalidates the objects.
    #[cold]
    pub fn is_operation_before(&self, view: &View<'_>) -> bool {
        self.actor == view.warp.id || (0..32).any(|lane| view.knows(self.actor, 1 << lane, self.time))
    }

    /// The fence that orders it with an access even if what synchronises the two is relaxed: a proxy fence loads and copies with accesses
    /// through the other proxy (the example of 9.7.13.17), `fence.mbarrier_init` an initialisation with operations on the object.
    pub fn bridge(&self, view: &View<'_>) -> Option<Bridge> {
        match self.what {
            RecordKind::Init => Some(Bridge::MbarrierInit),
            RecordKind::Load | RecordKind::CopyStore => view.bridge,
            _ => None,
        }
    }

    /// Is it an access of the same operation?
    pub fn is_of(&self, new: &Record) -> bool {
        let alike = self.actor == new.actor && self.time == new.time && self.lanes == new.lanes;
        new.what.is_asynchronous() && alike && self.site == new.site
    }
}

/// Are two reads of one instruction?
pub(super) fn joins(old: &Record, new: &Record) -> bool {
    Record { lanes: new.lanes, ..*old } == *new && old.lanes != 0
}

/// Does a read say all that an older one says?
pub(super) fn replaces(new: &Record, old: &Record, warp: &Warp) -> bool {
    let own = old.actor == new.actor && old.actor != COPIES && old.lanes & !new.lanes == 0;
    // a strong read is in no race with strong writes, but a weak one is
    old.bytes & !new.bytes == 0
        && (old.strong == new.strong)
        && old.what == new.what
        && (own || warp.knows_by_barrier(old.actor, old.time))
}
