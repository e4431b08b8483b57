//! 64 bytes: the last accesses to them, in one of two forms.

use super::blocks::{Blocks, WORDS};
use super::events::Events;
use super::last::{Last, Pass};
use super::lists::Lists;
use super::packed::ShadowWord;
use super::record::Record;
use super::stripe::LINE;
use super::tags::Tags;
use super::word::{Outcome, WordAccesses};
use crate::observe::checked::operations::View;
use crate::observe::checked::recent::Recent;
use crate::observe::checked::threads::Warp;

/// 64 bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line {
    pub last: Last,
}

/// Records for which lines and words have no place.
#[derive(Debug, Default)]
pub(super) struct More {
    pub lists: Lists,
    pub events: Events,
    pub blocks: Blocks,
    pub recent: Recent,
}

impl More {
    /// Is it time to look for accesses to which no record refers?
    #[inline]
    pub fn has_many_events(&self) -> bool {
        self.events.are_many(self.blocks.bytes())
    }
}

/// The words of a line.
pub(super) struct LineWords<'m> {
    pub all: &'m mut [ShadowWord; WORDS],
    lists: &'m mut Lists,
    events: &'m mut Events,
}

impl LineWords<'_> {
    /// Has nobody written some of these bytes of a word?
    #[inline]
    fn is_unwritten(&self, word: usize, bytes: u8) -> bool {
        self.all[word].is_unwritten(self.events, self.lists, bytes)
    }

    /// The last write to a word.
    pub fn write(&self, word: usize) -> Record {
        self.all[word].open(self.events).write
    }

    /// Changes the accesses of a word.
    #[inline]
    pub fn change(&mut self, word: usize, f: impl FnOnce(&mut WordAccesses, &mut Lists)) {
        let word = &mut self.all[word];
        let before = word.open(self.events);
        let mut now = before;
        f(&mut now, self.lists);
        word.close(self.events, &now, &before, 0);
    }
}

impl Line {
    /// The group of the line has its accesses.
    pub fn of_group() -> Line {
        let mut line = Line::default();
        line.last.tags = Tags::of_group();
        line
    }

    #[inline]
    pub fn is_of_group(self) -> bool {
        self.last.tags.is_of_group()
    }

    /// The number of its words, 0: none.
    #[inline]
    pub fn words(&self) -> u32 {
        self.last.tags.words()
    }

    /// Is every access to be looked at by itself?
    #[inline]
    pub fn is_guarded(&self) -> bool {
        self.last.tags.is_guarded()
    }

    /// Returns the shadow words of the line, which it makes if there are none.
    #[inline]
    pub fn split<'m>(&mut self, more: &'m mut More, number: u64) -> LineWords<'m> {
        let More { lists, events, blocks, .. } = more;
        if self.words() == 0 {
            let words = blocks.add();
            if !self.last.is_empty() {
                self.fill(blocks.get(words), lists, events, number);
            }
            self.last.leave(words);
        }
        LineWords { all: blocks.get(self.words()), lists, events }
    }

    /// Gives words the accesses to the line.
    fn fill(&self, words: &mut [ShadowWord; WORDS], lists: &mut Lists, events: &mut Events, number: u64) {
        let mut records = Vec::new();
        for (i, word) in (0..).zip(words) {
            self.last.records(events, number, i, |id, record| records.push((id, record)));
            for (id, record) in records.drain(..) {
                let old = word.open(events);
                let mut new = old;
                new.add(lists, record);
                word.close(events, &new, &old, id);
            }
        }
    }

    /// Have threads of the CTA written all its bytes, and does a barrier come after that? See [`Last::is_quiet`].
    #[inline]
    pub fn is_quiet(&self, more: &More, number: u64, warp: &Warp, before: &mut u32) -> bool {
        !self.is_guarded() && self.words() == 0 && self.last.is_quiet(&more.events, number, warp, before)
    }

    /// An access to the bytes of a range.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    pub fn access(
        &mut self,
        more: &mut More,
        number: u64,
        (from, to): (u32, u32),
        (reads, same): (bool, bool),
        new: Record,
        view: &View<'_>,
        outcome: &mut Outcome,
    ) {
        let mut words = self.split(more, number);
        for number in from / 4..to.div_ceil(4) {
            let (bytes, at) = (bytes_of(number, from, to), number as usize % WORDS);
            if reads && words.is_unwritten(at, bytes) {
                // not counted: it may come again, lane by lane
                outcome.unwritten = true;
                continue;
            }
            words.change(at, |word, lists| word.access(lists, Record { bytes, ..new }, same, view, outcome));
        }
    }

    /// Accesses of each lane. True if they are fine.
    pub fn access_elements(&mut self, more: &mut More, number: u64, pass: &mut Pass<'_>) -> bool {
        let (mut outcome, new) = (Outcome::default(), pass.new);
        new.stripes(number, |stripe| {
            let (view, record) = (pass.view(&stripe), Record { actor: stripe.actor(), ..new.by });
            for (lanes, piece) in stripe.elements() {
                let (record, view) = (Record { lanes, ..record }, View { lanes, ..view });
                self.access(more, number, piece, (pass.reads, false), record, &view, &mut outcome);
            }
        });
        let fine = outcome.is_fine();
        if fine && new.by.what.writes() && new.bytes(number) == u64::MAX {
            self.join(more, pass);
        }
        fine
    }

    /// Gives the line one record again, because one piece writes all of it.
    pub fn join(&mut self, more: &mut More, pass: &mut Pass<'_>) {
        more.blocks.remove(self.words());
        self.last.tags.set_words(0);
        self.last.set(&mut more.events, pass);
    }

    pub fn is_unwritten(&mut self, more: &mut More, number: u64, from: u32, to: u32) -> bool {
        let words = self.split(more, number);
        (from / 4..to.div_ceil(4)).any(|number| words.is_unwritten(number as usize % WORDS, bytes_of(number, from, to)))
    }
}

/// The part of a range of bytes that is in a line, from its first byte on.
pub(super) fn piece_of(line: u64, from: u64, to: u64) -> (u32, u32) {
    ((from.max(line * LINE) - line * LINE) as u32, (to.min((line + 1) * LINE) - line * LINE) as u32)
}

/// The bytes of a word that are in a range.
fn bytes_of(number: u32, from: u32, to: u32) -> u8 {
    let (low, high) = (from.max(number * 4) - number * 4, to.min(number * 4 + 4) - number * 4);
    ((1u32 << high) - (1u32 << low)) as u8
}
