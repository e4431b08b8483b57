//! A shadow word: who has written its four bytes last, and the read set, who has read them since. [`packed`](super::packed) is how it is
//! kept.
//!
//! A write replaces the records of the bytes that it covers, because all of them have happened before it or are a race. A read replaces
//! the reads that have happened before it.
//!
//! Of strong reads that are alike only two are kept: the first one that does not come before the others, and the newest. So a weak write
//! that comes after these two, but not after a third one, is no race here.

mod object;

use super::lists::Lists;
use super::record::{Record, joins, replaces};
use crate::observe::checked::operations::View;
use crate::observe::checked::threads::Warp;
use crate::observe::checked::what::RecordKind;

/// The largest read set of a word. Of more reads some are forgotten, and races with them.
pub(super) const MOST_READS: usize = 32;

/// The last write to four bytes and the read set, decoded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WordAccesses {
    pub write: Record,
    pub read: Record,
    /// The number of the list of further records.
    pub more: u32,
}

/// The outcome of comparing an access with a shadow word.
#[derive(Debug, Default)]
pub(in crate::observe::checked) struct Outcome {
    /// An access that is in a race with it.
    pub race: Option<Record>,
    /// It reads bytes that nothing has written.
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

impl WordAccesses {
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
        let done = writes && self.read.what == RecordKind::Load && self.read.lanes != 0;
        let mut check = |r: &Record| {
            let event = (r.actor, r.lanes, r.time, r.site);
            if let Some(content) = view.content.filter(|_| r.what == RecordKind::CopyStore)
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
                && (r.what.needs_fence() && !done || view.reads && r.what == RecordKind::Load)
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
