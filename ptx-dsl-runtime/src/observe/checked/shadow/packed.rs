//! Shadow words as they are kept: numbers of events, and which of their threads made the access.

use super::event::ShadowEvent;
use super::events::Events;
use super::lists::Lists;
use super::record::{Record, joins, replaces};
use super::word::WordAccesses;
use crate::observe::checked::actor::{Actor, cta_of};
use crate::observe::checked::recent::Recent;
use crate::observe::checked::threads::Warp;
use crate::observe::checked::what::RecordKind;
use crate::observe::monitor::Scope;

/// The last write to four bytes and the read set, in 16 bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ShadowWord {
    /// The events of the last write and the last read. 0: none.
    write: u32,
    read: u32,
    write_by: By,
    read_by: By,
    /// From bit 0: the bytes written, the bytes read (4 bits each), and the number of the list of further records.
    rest: u32,
}

/// The lanes of an event that a shadow word stands for, and the facts of their access that the word keeps itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct By(u16);

impl By {
    /// All lanes of the event.
    const ALL: By = By(1 << 10);

    /// The bits of the above.
    const WHO: u16 = 0x7FF;

    /// A bit for a write: there may be a message of strong accesses.
    const MESSAGE: u16 = 1 << 14;

    /// The access is strong, of scope `.gpu`.
    const GPU: u16 = 1 << 15;

    /// A shift for a read: the first of four bits of a hash of the CTA.
    const CTA: u32 = 11;

    /// The hash of the CTA of a warp.
    #[inline]
    fn cta_of(actor: Actor) -> u16 {
        (cta_of(actor).wrapping_mul(0x9E37_79B9) >> 28) as u16
    }

    #[inline]
    fn of_cta(self, hash: u16) -> By {
        By(self.0 & !(15 << By::CTA) | hash << By::CTA)
    }

    /// The hash of the CTA of a read.
    #[inline]
    fn cta(self) -> u16 {
        self.0 >> By::CTA & 15
    }

    #[inline]
    fn who(self) -> u16 {
        self.0 & By::WHO
    }

    #[inline]
    fn has(self, bits: u16) -> bool {
        self.0 & bits != 0
    }

    #[inline]
    fn with(self, bits: u16, set: bool) -> By {
        By(self.0 & !bits | if set { bits } else { 0 })
    }

    /// One thread: lanes are counted from the first of the event's warp.
    fn thread(warp: u32, lane: u32) -> By {
        By((warp * 32 + lane) as u16)
    }

    /// The record of an event for some bytes.
    #[inline]
    fn record(self, event: &ShadowEvent, bytes: u8) -> Record {
        let Record { actor, lanes, .. } = event.by;
        let (thread, one) = (u32::from(self.who()), !self.has(By::ALL.0));
        let (actor, lanes) = if one { (actor.wrapping_add(thread / 32), 1 << (thread % 32)) } else { (actor, lanes) };
        Record { actor, lanes, bytes, ..event.by }
    }

    /// Who of an event a record is of, if it is.
    fn of(record: &Record, event: &ShadowEvent) -> Option<By> {
        let Record { actor, time, lanes, site, strong, what, .. } = *record;
        let same = (time, site, strong, what) == (event.by.time, event.by.site, event.by.strong, event.by.what);
        let warp = actor.wrapping_sub(event.by.actor);
        match () {
            () if !same => None,
            () if lanes.is_power_of_two() && warp < 32 => Some(By::thread(warp, lanes.trailing_zeros())),
            () if warp == 0 && lanes == event.by.lanes => Some(By::ALL),
            () => None,
        }
    }
}

/// The facts about accesses that shadow words have no room for.
pub(super) struct Kept<'k> {
    pub events: &'k mut Events,
    pub lists: &'k mut Lists,
    pub recent: &'k mut Recent,
}

/// An access of some lanes, one after the other, that is compared with words.
pub(super) struct Quick<'q> {
    pub new: &'q Record,
    pub warp: &'q Warp,
    /// It needs a write before.
    pub reads: bool,
    /// The access is to more than one word.
    is_wide: bool,
    /// The access is strong, of scope `.gpu`.
    is_gpu: bool,
    /// The hash of its CTA.
    cta: u16,
    /// The lanes at whose places there may be a message.
    pub messages: u32,
    /// The event of the access, once there is one.
    id: u32,
    /// An event that is before all its lanes.
    before: u32,
}

impl<'q> Quick<'q> {
    pub fn new(new: &'q Record, size: u32, warp: &'q Warp, reads: bool) -> Quick<'q> {
        let (is_gpu, cta) = (is_gpu(new), By::cta_of(new.actor));
        Quick { new, warp, reads, is_wide: size > 4, is_gpu, cta, messages: 0, id: 0, before: 0 }
    }

    #[inline]
    fn id(&mut self, kept: &mut Kept<'_>) -> u32 {
        if self.id == 0 {
            let Kept { events, recent, .. } = kept;
            // the event of another warp would do for `kept`, but not for `by`
            let one = Record { lanes: 1, ..*self.new };
            let is_own = |event: &ShadowEvent| event.by.actor == one.actor && By::of(&one, event).is_some();
            let place = recent.of(one.actor, one.site);
            if !events.get(*place).is_some_and(|event| event.is_of_cells() && is_own(event)) {
                *place = events.keep(ShadowEvent::of_cells(*self.new));
            }
            self.id = *place;
        }
        self.id
    }

    /// Events may have other numbers now.
    pub fn forget(&mut self) {
        (self.id, self.before) = (0, 0);
    }

    /// Is an old access before that of a lane to bytes, or in no race with it?
    #[inline]
    fn is_fine(&mut self, events: &Events, (id, by): (u32, By), old: u8, (lane, bytes): (u32, u8)) -> bool {
        if id == 0 || id == self.before || old == bytes && self.is_gpu && by.has(By::GPU) {
            return true;
        }
        let Some(event) = events.get(id) else { return false };
        if self.is_own(event, by, lane) {
            return true;
        }
        let r = by.record(event, old);
        if self.warp.knows_by_barrier(r.actor, r.time) {
            self.before = if by.who() < 32 { id } else { self.before };
            return true;
        }
        old == bytes && r.strong == self.new.strong && r.is_mutual_scope(self.new)
    }

    /// Is it an access of the same lane?
    #[inline]
    fn is_own(&self, event: &ShadowEvent, by: By, lane: u32) -> bool {
        event.by.actor == self.new.actor && u32::from(by.who()) == lane
    }

    /// Who it is for a lane.
    #[inline]
    fn by(&self, lane: u32) -> By {
        By::thread(0, lane).with(By::GPU, self.is_gpu)
    }
}

impl ShadowWord {
    #[inline]
    fn bytes(&self) -> (u8, u8) {
        ((self.rest & 15) as u8, (self.rest >> 4 & 15) as u8)
    }

    /// The number of its list of further records.
    #[inline]
    fn list(&self) -> u32 {
        self.rest >> 8
    }

    /// An access of a lane to bytes: true, and done, if it is easily seen to be fine.
    #[inline]
    pub fn is_quick(&mut self, kept: &mut Kept<'_>, quick: &mut Quick<'_>, lane: u32, bytes: u8) -> bool {
        let written = self.bytes().0;
        if quick.reads && bytes & !written != 0
            || !quick.is_fine(kept.events, (self.write, self.write_by), written, (lane, bytes))
        {
            return false;
        }
        match quick.new.what.writes() {
            true => self.is_quick_write(kept, quick, lane, bytes),
            false => self.is_quick_read(kept, quick, lane, bytes),
        }
    }

    #[inline]
    fn is_quick_write(&mut self, kept: &mut Kept<'_>, quick: &mut Quick<'_>, lane: u32, bytes: u8) -> bool {
        let (written, read) = self.bytes();
        let covers = (written | read) & !bytes == 0;
        if !covers || !quick.is_fine(kept.events, (self.read, self.read_by), read, (lane, bytes)) {
            return false;
        }
        if let Some(list) = kept.lists.get_mut(self.list()) {
            if !list.records().iter().all(|r| r.bytes == bytes && r.is_mutual_scope(quick.new)) {
                return false;
            }
            list.clear();
        }
        // a weak store ends a message that begins with the word, others stay
        let ends = bytes == 15 && !quick.is_wide;
        let message = quick.new.strong.is_some() || !ends && self.has_message();
        (self.write, self.write_by) = (quick.id(kept), quick.by(lane).with(By::MESSAGE, message));
        self.read = 0;
        self.rest = self.rest & !255 | u32::from(bytes);
        true
    }

    #[inline]
    fn is_quick_read(&mut self, kept: &mut Kept<'_>, quick: &mut Quick<'_>, lane: u32, bytes: u8) -> bool {
        let new = Record { lanes: 1 << lane, bytes, ..*quick.new };
        let fine = if self.read == 0 {
            kept.lists.records(self.list()).is_empty()
        } else {
            self.takes_over(kept, &new, quick)
        };
        if fine {
            (self.read, self.read_by) = (quick.id(kept), quick.by(lane).of_cta(quick.cta));
            self.rest = self.rest & !240 | u32::from(bytes) << 4;
        }
        fine
    }

    /// A read takes the place of the last one, which goes to the list if need be. False, with nothing done, if there is more to it.
    #[inline]
    fn takes_over(&mut self, kept: &mut Kept<'_>, new: &Record, quick: &Quick<'_>) -> bool {
        let is_of_others = |r: &Record| r.what.writes() || joins(r, new);
        if kept.lists.records(self.list()).iter().any(is_of_others) {
            return false;
        }
        let (old, warp) = (self.bytes().1, quick.warp);
        // a strong load by another CTA, which is alike: that is known without its event, and often the list has one already
        let is_far = quick.is_gpu && self.read_by.has(By::GPU) && old == new.bytes && self.read_by.cta() != quick.cta;
        if is_far && let Some(list) = kept.lists.get_mut(self.list()) {
            list.retain(|r| !replaces(new, r, warp));
            if list.records().iter().any(|r| r.is_alike(new)) {
                return true;
            }
        }
        let Some(event) = kept.events.get(self.read) else { return false };
        let last = self.read_by.record(event, old);
        if joins(&last, new) {
            return false;
        }
        let mut all = WordAccesses { read: last, more: self.list(), ..WordAccesses::default() };
        all.read(kept.lists, *new, warp);
        self.rest = self.rest & 255 | all.more << 8;
        true
    }

    /// The event and the lane of the last write, if it is one of all bytes by a lane of the event's first warp, and there are no other
    /// accesses.
    #[inline]
    pub fn only_write(&self) -> Option<(u32, u32)> {
        let by = self.write_by.who();
        (self.rest == 15 && by < 32).then_some((self.write, by.into()))
    }

    /// A lane of the first warp of an event has written after the last write, and nobody has read.
    pub fn is_written_by(&mut self, event: u32, lane: u32) {
        let bits = By(self.write_by.0 & !By::WHO);
        (self.write, self.write_by) = (event, By(By::thread(0, lane).0 | bits.0));
    }

    /// Has a strong access left a message here, perhaps?
    #[inline]
    pub fn has_message(&self) -> bool {
        self.write_by.has(By::MESSAGE)
    }

    /// Nobody has accessed it, but a message may be there.
    pub fn forgotten() -> ShadowWord {
        ShadowWord { write_by: By(By::MESSAGE), ..ShadowWord::default() }
    }

    /// Has nobody written some of these bytes?
    #[inline]
    pub fn is_unwritten(&self, events: &Events, lists: &Lists, bytes: u8) -> bool {
        self.bytes().0 & bytes != bytes && self.open(events).is_unwritten(lists, bytes)
    }

    /// The accesses themselves.
    #[inline]
    pub fn open(&self, events: &Events) -> WordAccesses {
        let record = |id, by: By, bytes| events.get(id).map_or(Record::default(), |event| by.record(event, bytes));
        let (written, read) = self.bytes();
        let (write, read) = (record(self.write, self.write_by, written), record(self.read, self.read_by, read));
        WordAccesses { write, read, more: self.list() }
    }

    /// Keeps accesses that were these before. New ones are probably of an event.
    #[inline]
    pub fn close(&mut self, events: &mut Events, new: &WordAccesses, old: &WordAccesses, near: u32) {
        if new.write != old.write {
            // of a write that comes from the line, it is not known what was before
            let message =
                self.has_message() || near != 0 || new.write.strong.is_some() || new.write.what != RecordKind::Store;
            let (id, by) = kept(events, &new.write, near);
            (self.write, self.write_by) = (id, by.with(By::MESSAGE, message));
        }
        if new.read != old.read {
            let (id, by) = kept(events, &new.read, near);
            (self.read, self.read_by) = (id, by.of_cta(By::cta_of(new.read.actor)));
        }
        self.rest = u32::from(new.write.bytes & 15) | u32::from(new.read.bytes & 15) << 4 | new.more << 8;
    }

    /// Calls `f` with the numbers of its events.
    pub fn visit(&mut self, f: &mut dyn FnMut(&mut u32)) {
        [&mut self.write, &mut self.read].into_iter().filter(|id| **id != 0).for_each(f);
    }
}

/// Is it a strong access of threads, of scope `.gpu`? All such accesses of the same bytes are in no race with each other.
fn is_gpu(record: &Record) -> bool {
    record.strong == Some(Scope::Gpu)
        && matches!(record.what, RecordKind::Load | RecordKind::Store | RecordKind::Atomic)
}

/// The event of a record, and who of it: this one, the last one, or a new one.
fn kept(events: &mut Events, record: &Record, near: u32) -> (u32, By) {
    if record.lanes == 0 {
        return (0, By::default());
    }
    let known = events.get(near).and_then(|event| Some((near, By::of(record, event)?)));
    let known = known.or_else(|| events.last_for_cell(|event| By::of(record, event)));
    let (id, by) = known.unwrap_or_else(|| {
        let by = if record.lanes.is_power_of_two() { By::thread(0, record.lanes.trailing_zeros()) } else { By::ALL };
        (events.keep(ShadowEvent::of_cells(*record)), by)
    });
    (id, by.with(By::GPU, is_gpu(record)))
}
