//! Words that threads of a CTA update with atomic operations between two barriers. Such operations are in no race with each other, so
//! that only the last one of each word is kept: here, until another access comes to its line.

use super::blocks::WORDS;
use super::lines::Lines;
use super::packed::ShadowWord;
use super::record::Record;
use crate::numerics::lanes::Lanes;
use crate::numerics::simd::{best, dispatch};
use crate::observe::checked::actor::{Actor, cta_of};
use crate::observe::checked::threads::Warp;
use crate::observe::checked::what::RecordKind;
use crate::observe::monitor::Scope;

/// Operations that are in no race with each other: CTA, the time of its last barrier, scope.
type Class = (Actor, u32, Scope);

/// Words further on in a memory are not kept here.
const MOST: usize = 1 << 18;

#[inline(always)]
fn has_all_from(last: &[u32], first: u32, offsets: &Lanes, lanes: u32) -> bool {
    let has = |at: u64| at.is_multiple_of(4) && last.get((at / 4) as usize).is_some_and(|last| *last >= first);
    (0..32u32).zip(offsets).fold(true, |all, (lane, at)| all & (has(*at) | (lanes >> lane & 1 == 0)))
}

/// The words of a memory.
#[derive(Debug, Default)]
pub(super) struct Atomics {
    /// By word: the event of the last operation, and its lane in 5 bits. 0: none.
    last: Vec<u32>,
    /// The lines that have some.
    lines: Lines,
    class: Option<Class>,
    /// Entries of the class are not less.
    first: u32,
}

impl Atomics {
    /// Are these operations of a class? Then they are of the current one from now on, and events from this number on.
    #[inline]
    pub fn are_of_class(&mut self, new: &Record, size: u32, warp: &Warp, next: u32) -> bool {
        let (Some(scope), RecordKind::Atomic, 4) = (new.strong, new.what, size) else { return false };
        let class = Some((cta_of(new.actor), warp.floor(), scope));
        if self.class != class {
            (self.class, self.first) = (class, next.saturating_mul(32));
        }
        // larger numbers have no room
        next < 1 << 27
    }

    /// Are all words ones that only operations of the class have accessed?
    #[inline]
    pub fn has_all(&self, offsets: &Lanes, lanes: u32) -> bool {
        let (last, first) = (&self.last[..], self.first);
        dispatch!(best(true), has_all_from, (
            last: &[u32] = last, first: u32 = first, offsets: &Lanes = offsets, lanes: u32 = lanes
        ) -> bool)
    }

    /// The operations of an event are the last ones.
    #[inline]
    pub fn update(&mut self, offsets: &Lanes, lanes: u32, event: u32) {
        for (lane, at) in (0..).zip(offsets) {
            if lanes >> lane & 1 != 0
                && let Some(last) = self.last.get_mut((at / 4) as usize)
            {
                *last = event * 32 + lane;
            }
        }
    }

    /// An operation is the last one, and nobody else has accessed the word at this offset.
    pub fn add(&mut self, at: u64, (event, lane): (u32, u32)) {
        let word = (at / 4) as usize;
        if word >= MOST {
            return;
        }
        if self.last.len() <= word {
            self.last.resize(word + 1, 0);
        }
        self.last[word] = event * 32 + lane;
        let line = word as u64 / WORDS as u64;
        self.lines.insert((line, line + 1));
    }

    #[inline]
    pub fn has_line(&self, line: u64) -> bool {
        !self.last.is_empty() && self.lines.has_all((line, line + 1))
    }

    /// The words of a line have the operations from now on.
    #[inline(never)]
    pub fn give_back(&mut self, line: u64, words: &mut [ShadowWord; WORDS]) {
        self.lines.remove((line, line + 1));
        for (last, word) in self.last.iter_mut().skip(line as usize * WORDS).zip(words) {
            if *last != 0 {
                word.is_written_by(*last / 32, *last % 32);
                *last = 0;
            }
        }
    }

    /// Gives back the operation of one word. The other words of its line stay.
    #[inline]
    pub fn give_back_word(&mut self, at: u64, word: &mut ShadowWord) {
        if let Some(last) = self.last.get_mut((at / 4) as usize).filter(|last| **last != 0) {
            word.is_written_by(*last / 32, *last % 32);
            *last = 0;
        }
    }

    /// The lines that have operations, which are given back: events have other numbers afterwards.
    pub fn take_lines(&mut self) -> Lines {
        self.class = None;
        std::mem::take(&mut self.lines)
    }

    pub fn bytes(&self) -> usize {
        size_of_val(&self.last[..])
    }

    pub fn clear(&mut self) {
        self.last.clear();
        self.lines.clear();
        self.class = None;
    }
}
