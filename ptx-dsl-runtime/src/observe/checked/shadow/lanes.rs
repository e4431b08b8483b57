//! Accesses of lanes of a warp, each to its own place.

use super::Shadow;
use super::blocks::WORDS;
use super::event::ShadowEvent;
use super::last::Pass;
use super::line::More;
use super::packed::{Kept, Quick};
use super::record::Record;
use super::stripe::LINE;
use crate::observe::checked::operations::View;
use crate::observe::checked::what::RecordKind;

/// The number of neighbouring lanes that are looked at together, where they access neighbouring elements.
const LONG: u32 = 16;

/// How many of these lanes, from one on, follow each other and access elements that do.
#[inline]
fn neighbours(offsets: &[u64; 32], size: u32, lane: u32, lanes: u32) -> u32 {
    let follow = |next: &u32| {
        let before = offsets[*next as usize - 1];
        lanes >> next & 1 != 0 && offsets[*next as usize] == before + u64::from(size)
    };
    1 + (lane + 1..32).take_while(follow).count() as u32
}

impl Shadow {
    /// Accesses of lanes that know the same, each to an element at its place. `None` if one has to be looked at by itself, or
    /// something is wrong. Otherwise the lanes at whose places there may be a message.
    pub fn lanes(
        &mut self,
        (offsets, size): (&[u64; 32], u32),
        reads: bool,
        new: Record,
        view: &View<'_>,
    ) -> Option<u32> {
        // strong loads and stores are of single flags and marks: words at once
        let is_regular = new.strong.is_none() || new.what == RecordKind::Atomic;
        if is_regular && let Some(event) = ShadowEvent::exchanged(new, offsets, size) {
            let fine = self.notes(&event, view.warp)
                || self.pass(Pass::new(event, std::slice::from_ref(view.warp), *view, reads));
            return fine.then_some(new.lanes);
        }
        if self.phase.alone && (is_regular || new.what.writes()) {
            self.settle(view.warp);
        }
        if self.more.has_many_events() {
            self.collect();
        }
        let of_class = self.atomics.are_of_class(&new, size, view.warp, self.more.events.last() + 1);
        if of_class && self.atomics.has_all(offsets, new.lanes) {
            let event = self.more.events.keep(ShadowEvent::of_cells(new));
            self.atomics.update(offsets, new.lanes, event);
            return Some(new.lanes);
        }
        let mut rest = new.lanes;
        let mut quick = Quick::new(&new, size, view.warp, reads);
        // shared memory is in the cache, and no other accesses have to know of messages
        let is_near = is_regular && self.phase.alone;
        quick.messages = if size > 4 || is_near { new.lanes } else { self.messages(offsets, new.lanes) };
        while rest != 0 {
            let lane = rest.trailing_zeros();
            let (at, mut lanes) = (offsets[lane as usize], 1 << lane);
            if self.is_quick((at, size), &mut quick, lane, of_class) {
                rest &= !lanes;
                continue;
            }
            let neighbours = if is_regular { neighbours(offsets, size, lane, rest) } else { 1 };
            let fine = if neighbours >= LONG {
                lanes = (u32::MAX >> (32 - neighbours)) << lane;
                self.row((at, size), reads, Record { lanes, ..new }, &View { lanes, ..*view })
            } else {
                self.element((at, size), reads, Record { lanes, ..new }, &View { lanes, ..*view })
            };
            if !fine {
                return None;
            }
            quick.forget();
            quick.messages |= lanes;
            rest &= !lanes;
        }
        Some(quick.messages)
    }

    /// The lanes at whose words there may be a message, if these have words.
    ///
    /// All words are looked at before each of them is compared with the access: so the processor waits for several at a time.
    #[inline]
    fn messages(&self, offsets: &[u64; 32], lanes: u32) -> u32 {
        let (mut rest, mut messages) = (lanes, 0);
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            let (number, word) = (offsets[lane as usize] / LINE, offsets[lane as usize] as usize / 4 % WORDS);
            let words = self.pages.get(number).and_then(|line| self.more.blocks.known(line.words()));
            messages |= u32::from(words.is_some_and(|words| words[word].has_message())) << lane;
        }
        messages
    }

    /// An access of one lane to bytes that have words: is it fine at first sight? If not, some of the words may have it.
    #[inline]
    fn is_quick(&mut self, (at, size): (u64, u32), quick: &mut Quick<'_>, lane: u32, of_class: bool) -> bool {
        let number = at / LINE;
        if self.phase.alone && quick.new.what.writes() && !self.phase.is_written(number) {
            return false;
        }
        let Some(line) = self.pages.line(number) else { return false };
        if line.words() == 0 && quick.new.what.writes() && line.last.is_empty() && !line.is_guarded() {
            line.last.tags.set_words(self.more.blocks.add());
        }
        if line.words() == 0 || line.is_guarded() {
            return false;
        }
        let More { events, lists, blocks, recent } = &mut self.more;
        let (words, mut kept) = (blocks.get(line.words()), Kept { events, lists, recent });
        let first = at as usize / 4 % WORDS;
        if size > 4 {
            if self.atomics.has_line(number) {
                self.atomics.give_back(number, words);
            }
            let Some(words) = words.get_mut(first..first + size as usize / 4) else { return false };
            return words.iter_mut().all(|word| word.is_quick(&mut kept, quick, lane, 15));
        }
        let bytes = ((1u32 << size) - 1) << (at % 4);
        let word = &mut words[first];
        self.atomics.give_back_word(at, word);
        let fine = word.is_quick(&mut kept, quick, lane, bytes as u8);
        if fine
            && of_class
            && let Some(write) = word.only_write()
        {
            self.atomics.add(at, write);
        }
        fine
    }
}
