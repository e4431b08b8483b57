//! The last accesses to a line that warps access in regular pieces.

use super::event::ShadowEvent;
use super::events::Events;
use super::record::Record;
use super::stripe::Stripe;
use super::tags::Tags;
use crate::observe::checked::actor::are_neighbours;
use crate::observe::checked::operations::View;
use crate::observe::checked::threads::Warp;

/// The accesses to a line: the last write, and the reads since. By number; 0: none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Last {
    write: u32,
    read: u32,
    pub tags: Tags,
}

/// The largest read set of a line, beside the last read. Of more reads some are forgotten, and races with them.
const MOST: usize = 128;

/// Above this many accesses, partial writes move to shadow words.
const MOST_PARTS: usize = 24;

/// The lists of neighbouring lines have the same accesses: so many are known to come before a pass.
const OTHERS: usize = 8;

/// An access that goes from line to line.
pub(super) struct Pass<'v> {
    pub new: ShadowEvent,
    /// The warps of the event, or the one that starts an operation.
    warps: &'v [Warp],
    view: View<'v>,
    /// The lanes of `view` make the access, whatever the event says: they start an operation.
    starts: bool,
    /// It needs a write before.
    pub reads: bool,
    /// The number of the event, once a record refers to it.
    id: u32,
    /// The last ones that came before it on any line.
    before: [u32; 2],
    /// The last ones of lists that did, by number.
    others: [u32; OTHERS],
    /// The last read that it says all of.
    replaced: u32,
}

impl<'v> Pass<'v> {
    /// By warps that know the same.
    pub fn new(new: ShadowEvent, warps: &'v [Warp], view: View<'v>, reads: bool) -> Pass<'v> {
        let starts = new.by.actor != warps[0].id;
        Pass { new, warps, view, starts, reads, id: 0, before: [0; 2], others: [0; OTHERS], replaced: 0 }
    }

    /// The actor and its knowledge, for a piece of the line.
    pub fn view(&self, stripe: &Stripe) -> View<'v> {
        if self.starts {
            return self.view;
        }
        let warp = &self.warps[stripe.actor().wrapping_sub(self.new.by.actor) as usize % self.warps.len()];
        View { warp, lanes: stripe.lanes(), ..self.view }
    }

    /// Whether the access is already checked, and recorded for later accesses only.
    pub fn again(self) -> Pass<'v> {
        Pass { starts: true, ..self }
    }

    /// Is it only kept?
    pub fn is_again(&self) -> bool {
        self.starts && are_neighbours(self.new.by.actor, self.warps[0].id)
    }

    /// The first warp.
    pub fn warp(&self) -> &'v Warp {
        &self.warps[0]
    }

    /// The last read that came before it on a line, if it is a write.
    #[inline]
    pub fn last_read_before(&self) -> Option<u32> {
        (self.before[1] != 0).then_some(self.before[1])
    }

    /// Does a record refer to it?
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.id != 0
    }

    #[inline]
    fn id(&mut self, events: &mut Events) -> u32 {
        if self.id == 0 {
            self.id = events.keep_for_lines(self.new);
        }
        self.id
    }

    /// Has an access in the list of a line happened before?
    #[inline]
    fn is_after_other(&mut self, events: &Events, id: u32, line: u64) -> bool {
        let place = id as usize % OTHERS;
        if self.others[place] == id {
            return true;
        }
        let after = self.is_after(events, id, line, 1);
        // if that is not so for this line alone
        if self.before[1] == id {
            self.others[place] = id;
        }
        after
    }

    /// Does a barrier of the CTA come between?
    #[inline]
    fn is_behind_barrier(&self, old: &ShadowEvent) -> bool {
        are_neighbours(old.by.actor, self.warps[0].id) && self.warps[0].knows_by_barrier(old.by.actor, old.by.time)
    }

    /// Have these accesses to a line happened before, or do the two not conflict?
    #[inline]
    fn is_after(&mut self, events: &Events, id: u32, line: u64, slot: usize) -> bool {
        self.is_after_all(events, id, slot) || events.get(id).is_none_or(|old| self.is_after_each(old, line))
    }

    /// Is that so for all lines, and seen without a look at the places?
    #[inline]
    fn is_after_all(&mut self, events: &Events, id: u32, slot: usize) -> bool {
        if id == self.before[slot] {
            return true;
        }
        let Some(old) = events.get(id) else { return true };
        let plain = self.view.bridge.is_none() && (self.is_behind_barrier(old) || old.is_alike(&self.new));
        let alone = if self.starts { old.lanes_of_all() } else { old.lanes().filter(|_| self.warps.len() == 1) };
        let after = plain || alone.is_some_and(|lanes| self.knows(old, lanes));
        if after {
            self.before[slot] = id;
        }
        after
    }

    /// Do the lanes, or whoever starts the operation, know all of an access by these lanes?
    fn knows(&self, old: &ShadowEvent, lanes: u32) -> bool {
        let Record { actor, time, what, .. } = old.by;
        self.view.is_behind(what, actor, lanes, time)
    }

    /// Has each piece of an access happened before?
    #[inline(never)]
    fn is_after_each(&self, old: &ShadowEvent, line: u64) -> bool {
        if old.bytes(line) & self.new.bytes(line) == 0 {
            return true;
        }
        let mut fine = true;
        self.new.stripes(line, |new| {
            let view = self.view(&new);
            old.stripes(line, |old| fine = fine && old.is_before(&new, &view));
        });
        fine
    }

    /// Does it say all of a read of a line, or of a line all of whose bytes it reads?
    #[inline]
    fn replaces(&self, old: &ShadowEvent, line: Option<u64>) -> bool {
        old.is_replaced(&self.new, |old| self.is_behind_barrier(old), line)
    }
}

impl Last {
    /// Cells have the accesses from now on.
    pub fn leave(&mut self, words: u32) {
        (self.write, self.read) = (0, 0);
        self.tags.set_words(words);
    }

    /// Has nobody accessed anything?
    #[inline]
    pub fn is_empty(&self) -> bool {
        (self.write, self.read, self.tags.list()) == (0, 0, 0)
    }

    /// Have threads of the CTA of a warp written all bytes, and does a barrier come after that? `before` is the write of the line
    /// before, if that is so for it.
    #[inline]
    pub fn is_quiet(&self, events: &Events, line: u64, warp: &Warp, before: &mut u32) -> bool {
        let alone = self.tags.is_full() && self.tags.list() == 0;
        if alone && self.write == *before {
            return self.write != 0;
        }
        let quiet = self.is_quiet_itself(events, line, warp);
        *before = if quiet && alone { self.write } else { 0 };
        quiet
    }

    fn is_quiet_itself(&self, events: &Events, line: u64, warp: &Warp) -> bool {
        let is_behind = |id: &u32| {
            events.get(*id).is_some_and(|e| {
                !e.by.what.writes()
                    || are_neighbours(e.by.actor, warp.id) && warp.knows_by_barrier(e.by.actor, e.by.time)
            })
        };
        self.write != 0
            && is_behind(&self.write)
            && self.others(events).iter().all(is_behind)
            && (self.tags.is_full() || self.has_written(events, line, u64::MAX))
    }

    /// Can a write to these bytes be kept? It must say all of a read or nothing.
    #[inline]
    pub fn has_room(&self, events: &Events, line: u64, bytes: u64) -> bool {
        let is_apart = |id: &u32| {
            events.get(*id).is_none_or(|event| {
                let read = event.bytes(line);
                event.by.what.writes() || read & bytes == 0 || read & !bytes == 0
            })
        };
        let others = self.others(events);
        bytes == u64::MAX || others.len() < MOST_PARTS && is_apart(&self.read) && others.iter().all(is_apart)
    }

    /// Are these bytes written?
    fn has_written(&self, events: &Events, line: u64, bytes: u64) -> bool {
        let writes = [self.write].into_iter().chain(self.others(events).iter().copied());
        let written = writes.filter_map(|id| events.get(id)).filter(|event| event.by.what.writes());
        self.tags.is_full() || bytes & !written.fold(0, |all, event| all | event.bytes(line)) == 0
    }

    #[inline]
    fn others<'m>(&self, events: &'m Events) -> &'m [u32] {
        self.tags.list().checked_sub(1).and_then(|at| events.lists.get(at as usize)).map_or(&[], Vec::as_slice)
    }

    /// A read, or a write of the whole line, that records refer to: true, and done, if the line has what other lines had.
    #[inline(always)]
    pub fn is_as_before(&mut self, pass: &Pass<'_>, writes: bool) -> bool {
        if !self.tags.is_plain() || self.write != 0 && self.write != pass.before[0] {
            return false;
        }
        if writes {
            if self.read != 0 && self.read != pass.before[1] {
                return false;
            }
            (self.write, self.read) = (pass.id, 0);
            self.tags.set_full(true);
        } else {
            if self.read != 0 && self.read != pass.replaced || pass.reads && !self.tags.is_full() {
                return false;
            }
            self.read = pass.id;
        }
        true
    }

    /// A read or write of pieces. False, with nothing done, if something is wrong: a race, or a read that needs a
    /// write before.
    #[inline]
    pub fn access(&mut self, events: &mut Events, pass: &mut Pass<'_>, line: u64) -> bool {
        if pass.reads
            && !self.tags.is_full()
            && (self.write == 0 || !self.has_written(events, line, pass.new.bytes(line)))
        {
            return false;
        }
        let writes = pass.new.by.what.writes();
        let last = if writes { self.write } else { self.read };
        if last != 0 && (last == pass.id || pass.id == 0 && events.get(last).is_some_and(|event| event.is(&pass.new))) {
            pass.id = last;
            if !writes || self.read == 0 && self.others(events).is_empty() {
                return true;
            }
        }
        if self.write != 0 && !pass.is_after(events, self.write, line, 0) {
            return false;
        }
        if !self.others(events).is_empty() {
            let conflicts = |id: &u32| writes || events.get(*id).is_some_and(|event| event.by.what.writes());
            if !self.others(events).iter().filter(|id| conflicts(id)).all(|id| pass.is_after_other(events, *id, line)) {
                return false;
            }
        }
        if !writes {
            self.read(events, pass, line);
            return true;
        }
        if self.read != 0 && !pass.is_after(events, self.read, line, 1) {
            return false;
        }
        match pass.new.bytes(line) {
            u64::MAX => self.set(events, pass),
            bytes => self.write_part(events, pass, line, bytes),
        }
        true
    }

    /// An access to several lines that have had the same accesses, all of whose bytes it reads or writes. False, with nothing done, if
    /// each line has to be looked at by itself.
    #[inline]
    pub fn access_all(&mut self, events: &mut Events, pass: &mut Pass<'_>) -> bool {
        if !self.tags.is_plain() || pass.reads && !self.tags.is_full() {
            return false;
        }
        let writes = pass.new.by.what.writes();
        let last = if writes { self.write } else { self.read };
        if last != 0 && (last == pass.id || pass.id == 0 && events.get(last).is_some_and(|event| event.is(&pass.new))) {
            pass.id = last;
            if !writes || self.read == 0 {
                return true;
            }
        }
        if self.write != 0 && !pass.is_after_all(events, self.write, 0) {
            return false;
        }
        if writes {
            if self.read != 0 && !pass.is_after_all(events, self.read, 1) {
                return false;
            }
            self.set(events, pass);
            return true;
        }
        if self.read != 0 && self.read != pass.replaced {
            let Some(event) = events.get(self.read).filter(|event| pass.replaces(event, None)) else { return false };
            if event.is_alike(&pass.new) {
                pass.replaced = self.read;
            }
        }
        self.read = pass.id(events);
        true
    }

    /// A write to some of the bytes that comes after everything.
    fn write_part(&mut self, events: &mut Events, pass: &mut Pass<'_>, line: u64, bytes: u64) {
        let is_covered = |events: &Events, id: u32| events.get(id).is_none_or(|e| e.bytes(line) & !bytes == 0);
        if is_covered(events, self.read) {
            self.read = 0;
        }
        let list = self.tags.list() as usize;
        if list != 0
            && let Some(mut others) = events.lists.get_mut(list - 1).map(std::mem::take)
        {
            others.retain(|id| !is_covered(events, *id));
            events.lists[list - 1] = others;
        }
        if !is_covered(events, self.write) {
            let old = self.write;
            self.list(events).push(old);
        }
        self.write = pass.id(events);
        self.tags.set_full(false);
        self.tags.set_full(self.has_written(events, line, u64::MAX));
    }

    /// Returns the list of the line, which it makes if there is none.
    fn list<'m>(&mut self, events: &'m mut Events) -> &'m mut Vec<u32> {
        if self.tags.list() == 0 {
            events.lists.push(Vec::new());
            self.tags.set_list(events.lists.len() as u32);
        }
        &mut events.lists[self.tags.list() as usize - 1]
    }

    /// A write that comes after everything.
    #[inline]
    pub fn set(&mut self, events: &mut Events, pass: &mut Pass<'_>) {
        (self.write, self.read) = (pass.id(events), 0);
        self.tags.set_full(true);
        if let Some(list) = self.tags.list().checked_sub(1)
            && let Some(others) = events.lists.get_mut(list as usize)
        {
            others.clear();
        }
    }

    #[inline]
    fn read(&mut self, events: &mut Events, pass: &mut Pass<'_>, line: u64) {
        let old = self.read;
        if old == 0 || old == pass.replaced {
            self.read = pass.id(events);
            return;
        }
        let Some(event) = events.get(old) else { return };
        if pass.replaces(event, Some(line)) {
            if event.is_alike(&pass.new) {
                pass.replaced = old;
            }
            self.read = pass.id(events);
        } else if let Some(joined) = event.joined(&pass.new) {
            self.read = events.keep(joined);
        } else {
            self.read = pass.id(events);
            self.keep(events, pass, old, line);
        }
    }

    /// Keeps a read beside the last one.
    fn keep(&mut self, events: &mut Events, pass: &Pass<'_>, old: u32, line: u64) {
        let mut others = std::mem::take(self.list(events));
        let goes = |id: &u32| events.get(*id).is_none_or(|event| pass.replaces(event, Some(line)));
        // those of one loop are replaced in their order
        if others.len() >= MOST || others.first().is_some_and(goes) {
            others.retain(|id| !goes(id));
        }
        if others.len() < MOST {
            others.push(old);
        }
        *self.list(events) = others;
    }

    /// Calls `f` with the records of four bytes, and the events that they are of.
    pub fn records(&self, events: &Events, line: u64, word: u32, mut f: impl FnMut(u32, Record)) {
        let ids = [self.write, self.read];
        let mut covered = 0;
        // the last write first: it hides what others have written there
        for id in ids.iter().chain(self.others(events).iter().rev()) {
            let Some(event) = events.get(*id) else { continue };
            let hidden = if event.by.what.writes() { covered } else { 0 };
            event.stripes(line, |stripe| {
                for record in stripe.records(word) {
                    let bytes = record.bytes & !hidden;
                    if bytes != 0 {
                        covered |= if record.what.writes() { bytes } else { 0 };
                        f(*id, Record { bytes, ..record });
                    }
                }
            });
        }
    }

    /// Calls `f` with the numbers that it refers to itself.
    pub fn visit(&mut self, f: &mut dyn FnMut(&mut u32)) {
        [&mut self.write, &mut self.read].into_iter().filter(|id| **id != 0).for_each(f);
    }
}
