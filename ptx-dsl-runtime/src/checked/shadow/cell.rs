//! Four bytes: who has written them last and who has read them since. [`packed`](super::packed) is how they are kept.
//!
//! A record is an access by lanes of one actor at one time, to some of the four bytes. A write replaces the records of the bytes that it
//! covers, because all of them have happened before it or are a race. A read replaces the reads that have happened before it.
//!
//! Of strong reads that are alike only two are kept: the first one that does not come before the others, and the newest. So a weak write
//! that comes after these two, but not after a third one, is no race here.

mod object;

use super::lists::Lists;
use crate::checked::actor::{Actor, COPIES, includes};
use crate::checked::clock::Bridge;
use crate::checked::operations::View;
use crate::checked::threads::Warp;
use crate::monitor::{Order, Scope};

/// Accesses to some of four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::checked) struct Record {
    pub actor: Actor,
    pub time: u32,
    /// 0: no record.
    pub lanes: u32,
    pub site: u32,
    /// Bit i: byte i.
    pub bytes: u8,
    /// Strong accesses have a scope.
    pub strong: Option<Scope>,
    pub what: What,
}

/// What kind of access a record is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::checked) enum What {
    #[default]
    Load,
    Store,
    Atomic,
    /// Of an mbarrier object.
    Init,
    /// Of an mbarrier object. What it leaves counts as never written.
    Inval,
    /// Of an mbarrier object.
    Mbarrier,
    /// By a copy in flight.
    CopyLoad,
    CopyStore,
    CopyReduction,
    /// The same in the generic proxy: `cp.async`, `st.async`.
    AsyncStore,
    AsyncReduction,
    /// An operand in shared memory of `wgmma` or `tcgen05`.
    Operand,
    /// Of a tensor map by a tensor copy.
    TensorMap,
    /// The end of a CTA, no access.
    End,
}

impl What {
    pub fn name(self) -> &'static str {
        match self {
            What::Load => "load",
            What::Store => "store",
            What::Atomic => "atomic operation",
            What::Init => "`mbarrier.init` or `.inval`",
            What::Inval => "`mbarrier.inval`",
            What::Mbarrier => "operation on the mbarrier object",
            What::CopyLoad => "read by an asynchronous copy",
            What::CopyStore => "write by an asynchronous copy",
            What::AsyncStore => "asynchronous store",
            What::CopyReduction | What::AsyncReduction => "asynchronous reduction",
            What::Operand => "read by a matrix operation",
            What::TensorMap => "read of the tensor map",
            What::End => "end of the CTA",
        }
    }

    pub fn writes(self) -> bool {
        use What::*;
        !matches!(self, Load | Inval | Mbarrier | CopyLoad | Operand | TensorMap)
    }

    /// Is it a store through the generic proxy, which other proxies see only after a proxy fence?
    pub fn needs_fence(self) -> bool {
        matches!(self, What::Store | What::Atomic | What::AsyncStore | What::AsyncReduction)
    }

    /// Is it an atomic operation on each element?
    fn reduces(self) -> bool {
        matches!(self, What::CopyReduction | What::AsyncReduction)
    }

    /// Does it end at a time of its own?
    pub fn is_asynchronous(self) -> bool {
        use What::*;
        matches!(self, CopyLoad | CopyStore | CopyReduction | AsyncStore | AsyncReduction | Operand)
    }
}

impl Record {
    /// Of lanes, at the time of their warp.
    pub fn new(warp: &mut Warp, lanes: u32, site: u32, what: What, order: Order) -> Record {
        let (time, id) = (warp.event(), warp.id);
        Record { actor: id, time, lanes, site, bytes: 0, strong: order.strong.then_some(order.scope), what }
    }

    /// Do the scopes of two strong accesses include both threads?
    fn is_mutual(&self, other: &Record) -> bool {
        // the scope of reductions is that of the GPU
        let alike = self.bytes == other.bytes || self.what.reduces() || other.what.reduces();
        alike && self.is_mutual_scope(other)
    }

    /// The same of their scopes alone.
    #[inline]
    pub fn is_mutual_scope(&self, other: &Record) -> bool {
        let (Some(a), Some(b)) = (self.strong, other.strong) else { return false };
        a.min(b) >= Scope::Gpu || includes(a.min(b), self.actor, other.actor)
    }

    /// Are both strong loads that are in a race with the same writes, unless these come after them?
    #[inline]
    pub fn is_alike(&self, other: &Record) -> bool {
        let what = (self.what, other.what) == (What::Load, What::Load);
        what && self.bytes == other.bytes && self.strong == other.strong && self.is_mutual_scope(other)
    }

    /// Has it happened before an access of lanes?
    #[inline]
    fn is_before(&self, view: &View<'_>) -> bool {
        if self.what == What::Mbarrier {
            return self.is_operation_before(view);
        }
        // a thread's accesses are in order
        let own = if self.actor == view.warp.id && view.lanes.is_power_of_two() { view.lanes } else { 0 };
        let others = self.lanes & !own;
        others == 0 || view.knows(self.actor, others, self.time)
    }

    /// The same for an operation on an mbarrier object, for which a lane speaks for its warp. libcu++ relies on that: one lane leaves a
    /// pipeline for all after `match.any.sync`, and the last one to leave invalidates the objects.
    #[cold]
    fn is_operation_before(&self, view: &View<'_>) -> bool {
        self.actor == view.warp.id || (0..32).any(|lane| view.knows(self.actor, 1 << lane, self.time))
    }

    /// The fence that orders it with an access even if what synchronises the two is relaxed: a proxy fence loads and copies with accesses
    /// through the other proxy (the example of 9.7.13.17), `fence.mbarrier_init` an initialisation with operations on the object.
    fn bridge(&self, view: &View<'_>) -> Option<Bridge> {
        match self.what {
            What::Init => Some(Bridge::MbarrierInit),
            What::Load | What::CopyStore => view.bridge,
            _ => None,
        }
    }

    /// Is it an access of the same operation?
    fn is_of(&self, new: &Record) -> bool {
        let alike = self.actor == new.actor && self.time == new.time && self.lanes == new.lanes;
        new.what.is_asynchronous() && alike && self.site == new.site
    }
}

/// So many reads are kept for a place; of more than that some are forgotten, and races with them.
pub(super) const MOST_READS: usize = 32;

/// The last accesses to four bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Accesses {
    pub write: Record,
    pub read: Record,
    /// The number of the list of further records.
    pub more: u32,
}

/// What an access finds.
#[derive(Debug, Default)]
pub(in crate::checked) struct Outcome {
    /// An access that is in a race with it.
    pub race: Option<Record>,
    /// It reads bytes that nobody has written.
    pub unwritten: bool,
    /// A store that is before it without a proxy fence.
    pub unfenced: Option<Record>,
}

impl Outcome {
    /// Takes over what another piece of the access has found.
    pub fn merge(&mut self, other: Outcome) {
        self.race = self.race.or(other.race);
        self.unwritten |= other.unwritten;
        self.unfenced = self.unfenced.or(other.unfenced);
    }

    /// Is nothing wrong?
    pub fn is_fine(&self) -> bool {
        self.race.is_none() && !self.unwritten && self.unfenced.is_none()
    }
}

impl Accesses {
    /// Has another record.
    pub fn add(&mut self, more: &mut Lists, r: Record) {
        let place = if r.what.writes() { &mut self.write } else { &mut self.read };
        if place.lanes == 0 {
            *place = r;
        } else {
            self.push(more, r);
        }
    }

    /// Has nobody written some of these bytes?
    #[inline]
    pub fn is_unwritten(&self, more: &Lists, bytes: u8) -> bool {
        let missing = |written: u8| written & bytes != bytes;
        let all = |m: u8, r: &Record| if r.what.writes() { m | r.bytes } else { m };
        missing(self.write.bytes) && missing(self.others(more).iter().fold(self.write.bytes, all))
    }

    #[inline]
    pub fn access(&mut self, more: &mut Lists, new: Record, same: bool, view: &View<'_>, outcome: &mut Outcome) {
        let writes = new.what.writes();
        // the thread itself did the same last
        let mut equal = false;
        let old = if writes { &mut self.write } else { &mut self.read };
        if *old == new && (!writes || self.read.lanes == 0) && self.others(more).is_empty() {
            return;
        }
        // compilers write over a store that threads have read since: it has reached the memory
        let done = writes && self.read.what == What::Load && self.read.lanes != 0;
        let mut check = |r: &Record| {
            let event = (r.actor, r.lanes, r.time, r.site);
            if let Some(content) = view.content.filter(|_| r.what == What::CopyStore)
                && view.operations.is_copy_of(event, content)
            {
                equal = true;
                return;
            }
            // two stores of one value leave it there in any order
            let harmless = same && r.what.writes();
            let conflicts = r.lanes != 0 && r.bytes & new.bytes != 0 && (writes || r.what.writes()) && !harmless;
            if !conflicts || outcome.race.is_some() || r.is_of(&new) {
                return;
            }
            if r.is_mutual(&new) {
                return;
            }
            if !r.is_before(view) {
                if !r.bridge(view).is_some_and(|bridge| view.has_met_fenced(bridge, r.actor, r.lanes, r.time)) {
                    outcome.race = Some(*r);
                }
            } else if view.bridge.is_some()
                && (r.what.needs_fence() && !done || view.reads && r.what == What::Load)
                && !view.is_fenced(r.actor, r.lanes, r.time)
            {
                outcome.unfenced = Some(*r);
            }
        };
        check(&self.write);
        if writes {
            check(&self.read);
        }
        if self.more != 0 {
            self.others(more).iter().for_each(check);
        }
        if outcome.race.is_some() || equal {
            return;
        }
        if writes { self.write(more, new) } else { self.read(more, new, view.warp) }
    }

    fn others<'m>(&self, more: &'m Lists) -> &'m [Record] {
        more.records(self.more)
    }

    fn write(&mut self, more: &mut Lists, new: Record) {
        self.read.bytes &= !new.bytes;
        if self.read.bytes == 0 {
            self.read = Record::default();
        }
        if let Some(others) = more.get_mut(self.more) {
            others.records_mut().iter_mut().for_each(|r| r.bytes &= !new.bytes);
            others.retain(|r| r.bytes != 0);
        }
        self.write.bytes &= !new.bytes;
        if self.write.bytes != 0 {
            let old = self.write;
            self.push(more, old);
        }
        self.write = new;
    }

    pub fn read(&mut self, more: &mut Lists, new: Record, warp: &Warp) {
        if let Some(others) = more.get_mut(self.more) {
            if let Some(same) = others.records_mut().iter_mut().find(|r| joins(r, &new)) {
                same.lanes |= new.lanes;
                return;
            }
            others.retain(|r| r.what.writes() || !replaces(&new, r, warp));
        }
        if joins(&self.read, &new) {
            self.read.lanes |= new.lanes;
            return;
        }
        let are_two = self.read.is_alike(&new) && self.others(more).iter().any(|r| r.is_alike(&new));
        if self.read.lanes != 0 && !are_two && !replaces(&new, &self.read, warp) {
            let old = self.read;
            self.push(more, old);
        }
        self.read = new;
    }

    pub fn push(&mut self, more: &mut Lists, record: Record) {
        if let Some(others) = more.of(&mut self.more)
            && (record.what.writes() || others.records().len() < MOST_READS)
        {
            others.push(record);
        }
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
