//! Pieces of 64 bytes that lanes of a warp access in one piece.

use super::cell::{MOST_READS, Record, What};
use crate::checked::actor::{Actor, COPIES, includes};
use crate::checked::operations::View;
use crate::monitor::Scope;

/// The bytes of a line.
pub(super) const LINE: u64 = 64;

/// Which bytes of a line which lanes access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// The first byte, and the end.
    pub from: u8,
    pub to: u8,
    /// Neighbouring lanes access neighbouring elements: the logarithm of their size, 0 to 4. `None`: all lanes access all bytes.
    pub log: Option<u8>,
}

/// An access to a piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stripe {
    actor: Actor,
    time: u32,
    site: u32,
    lanes: u32,
    strong: Option<Scope>,
    what: What,
    extent: Extent,
}

impl Stripe {
    /// By these lanes.
    pub fn new(new: &Record, lanes: u32, extent: Extent) -> Stripe {
        let Record { actor, time, site, strong, what, .. } = *new;
        Stripe { actor, time, site, lanes, strong, what, extent }
    }

    /// The lane that would access the first byte of the line.
    fn origin(&self) -> Option<(u32, u8)> {
        let log = self.extent.log?;
        Some((self.lanes.trailing_zeros().wrapping_sub(u32::from(self.extent.from) >> log), log))
    }

    /// Does the same thread access each byte of both?
    fn is_alike(&self, other: &Stripe) -> bool {
        self.actor == other.actor && self.origin().is_some_and(|origin| Some(origin) == other.origin())
    }

    fn overlaps(&self, other: &Stripe) -> bool {
        self.extent.from < other.extent.to && other.extent.from < self.extent.to
    }

    fn covers(&self, other: &Stripe) -> bool {
        self.extent.from <= other.extent.from && other.extent.to <= self.extent.to
    }

    /// Has it happened before a later one, or do the two not conflict?
    #[inline]
    fn is_before(&self, new: &Stripe, view: &View<'_>) -> bool {
        let needs_fence = self.what.needs_fence() || view.reads && self.what == What::Load;
        let fenced = || view.bridge.is_none() || view.is_fenced(self.actor, self.lanes, self.time);
        self.is_alike(new)
            || !self.overlaps(new)
            || view.knows(self.actor, self.lanes, self.time) && (!needs_fence || fenced())
            || self.is_mutual(new)
    }

    fn is_mutual(&self, new: &Stripe) -> bool {
        let (Some(a), Some(b)) = (self.strong, new.strong) else { return false };
        self.extent.log.is_some() && self.extent.log == new.extent.log && includes(a.min(b), self.actor, new.actor)
    }

    /// What it is for four bytes: a record for each element in them, or one.
    fn records(&self, cell: u32) -> impl Iterator<Item = Record> {
        let Stripe { actor, time, site, lanes, strong, what, extent } = *self;
        let size = match extent.log {
            Some(log) if log < 2 => 1 << log,
            _ => 4,
        };
        let (from, to) = (u32::from(extent.from).max(cell * 4), u32::from(extent.to).min(cell * 4 + 4));
        (from..to).step_by(size).map(move |at| {
            let end = to.min(at + size as u32);
            let bytes = ((1u32 << (end - cell * 4)) - (1u32 << (at - cell * 4))) as u8;
            let lanes = match extent.log {
                Some(log) => 1 << ((lanes.trailing_zeros() + ((at - u32::from(extent.from)) >> log)) & 31),
                None => lanes,
            };
            Record { actor, time, lanes, site, bytes, strong, what }
        })
    }
}

/// The accesses to a line: the last write, which is to all of it, and the reads since.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stripes {
    write: Option<Stripe>,
    read: Option<Stripe>,
    /// The number of further reads plus 1; 0: none.
    more: u32,
}

/// Further reads, by number.
pub(super) type Reads = Vec<Vec<Stripe>>;

impl Stripes {
    fn others<'m>(&self, more: &'m Reads) -> &'m [Stripe] {
        self.more.checked_sub(1).and_then(|at| more.get(at as usize)).map_or(&[], Vec::as_slice)
    }

    /// A read of a piece, or a write of the whole line. False, with nothing done, if something is wrong: a race, or a read that needs a
    /// write before.
    #[inline]
    pub fn access(&mut self, more: &mut Reads, new: Stripe, reads: bool, view: &View<'_>) -> bool {
        if reads && self.write.is_none() {
            return false;
        }
        let writes = new.what.writes();
        let last = if writes { self.write } else { self.read };
        if last == Some(new) && !(writes && self.read.is_some()) {
            return true;
        }
        if self.write.is_some_and(|w| !w.is_before(&new, view)) {
            return false;
        }
        if !writes {
            self.read(more, new, view);
            return true;
        }
        if self.read.is_some_and(|r| !r.is_before(&new, view))
            || self.others(more).iter().any(|r| !r.is_before(&new, view))
        {
            return false;
        }
        self.set(more, new);
        true
    }

    /// A write that comes after everything.
    pub fn set(&mut self, more: &mut Reads, new: Stripe) {
        (self.write, self.read) = (Some(new), None);
        if let Some(others) = self.more.checked_sub(1).and_then(|at| more.get_mut(at as usize)) {
            others.clear();
        }
    }

    fn read(&mut self, more: &mut Reads, new: Stripe, view: &View<'_>) {
        // a strong read is in no race with strong writes, but a weak one is
        let replaces = |old: &Stripe| {
            let same = old.actor == new.actor && old.actor != COPIES && old.lanes == new.lanes;
            let own = old.is_alike(&new) || same && old.extent == new.extent;
            old.strong == new.strong
                && old.what == new.what
                && new.covers(old)
                && (own || view.warp.knows_by_barrier(old.actor, old.time))
        };
        let Some(old) = self.read.replace(new) else { return };
        if replaces(&old) {
            return;
        }
        // the same lanes read one element after the other
        let goes_on = Stripe { extent: new.extent, ..old } == new && new.extent.log.is_none();
        if goes_on && old.extent.to == new.extent.from {
            self.read = Some(Stripe { extent: Extent { from: old.extent.from, ..new.extent }, ..new });
            return;
        }
        if self.more == 0 {
            more.push(Vec::new());
            self.more = more.len() as u32;
        }
        let Some(others) = more.get_mut(self.more as usize - 1) else { return };
        match others.iter().position(replaces) {
            Some(at) => others[at] = old,
            None if others.len() < MOST_READS => others.push(old),
            None => {}
        }
    }

    /// Calls `f` with the records of four bytes.
    pub fn records(&self, more: &Reads, cell: u32, f: impl FnMut(Record)) {
        let all = self.write.iter().chain(&self.read).chain(self.others(more));
        all.flat_map(|s| s.records(cell)).for_each(f);
    }
}
