//! Shadow memory: who has written each place last and who has read it since.
//!
//! A line of 64 bytes that warps access in regular pieces refers to its last write and its read set ([`last`]), whose events other lines
//! refer to as well ([`event`], decoded for a line to [`stripe`]). Other lines have a shadow word for each four bytes ([`word`]). A summary
//! page keeps neighbouring lines that have had the same accesses as one ([`summary_pages`]).

mod atomics;
mod blocks;
mod event;
mod events;
mod lanes;
mod last;
mod line;
mod lines;
mod lists;
mod packed;
mod phase;
mod record;
mod stripe;
mod summary_pages;
mod tags;
mod word;

use super::actor::Actor;
use super::operations::{Operations, View};
use super::threads::Warp;
use super::what::RecordKind;
use crate::observe::probe::Pieces;
use atomics::Atomics;
use blocks::WORDS;
use event::ShadowEvent;
use last::Pass;
use line::{Line, More, piece_of};
use packed::ShadowWord;
use phase::Phase;
use stripe::LINE;
use summary_pages::{GROUP, SummaryPages};

pub(super) use record::Record;
pub(super) use word::Outcome;

/// A memory with a shadow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ShadowedMemory {
    Shared { slot: u32, rank: u32 },
    Global { segment: usize },
}

impl ShadowedMemory {
    pub fn name(self) -> &'static str {
        match self {
            ShadowedMemory::Shared { .. } => "shared",
            ShadowedMemory::Global { .. } => "global",
        }
    }
}

/// The shadow of a memory, made as it is used.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: SummaryPages,
    phase: Phase,
    /// Reads that are no longer noted and not yet kept by line. Empty between accesses.
    kept: Vec<ShadowEvent>,
    atomics: Atomics,
    more: More,
}

impl Shadow {
    /// An access to `len` bytes, which reads them or not, or stores what is there already.
    pub fn access(
        &mut self,
        (from, len): (u64, u32),
        (reads, same): (bool, bool),
        new: Record,
        view: &View<'_>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let to = from + u64::from(len);
        if new.what.writes() {
            self.writes((from, to), view.warp);
        }
        for number in from / LINE..to.div_ceil(LINE) {
            if let Some((line, more)) = self.line(number) {
                line.access(more, number, piece_of(number, from, to), (reads, same), new, view, &mut outcome);
            }
        }
        outcome
    }

    /// An access of an asynchronous operation to bytes in one piece.
    pub fn span(&mut self, (from, len): (u64, u32), reads: bool, new: Record, view: &View<'_>) -> Outcome {
        self.collect();
        let mut outcome = Outcome::default();
        let to = from + u64::from(len);
        let lines = (from / LINE, to.div_ceil(LINE));
        let mut were_read = Vec::new();
        if new.what.writes() && self.phase.alone {
            self.settle(view.warp);
            were_read.extend((lines.0..lines.1).filter(|line| self.phase.read.has_any((*line, line + 1))));
            self.writes((from, to), view.warp);
            self.phase.proxies |= view.bridge.is_some();
        }
        let mut pass = Pass::new(ShadowEvent::one(new, from, len, None), std::slice::from_ref(view.warp), *view, reads);
        let mut next = lines.0;
        while next < lines.1 {
            let number = self.pass_like(next, lines.1, &pass);
            next = number + 1;
            if number == lines.1 {
                break;
            }
            let Some((line, more)) = self.line(number) else { continue };
            let (low, high) = piece_of(number, from, to);
            let whole = high - low == LINE as u32 && !line.is_guarded();
            let fits = line.words() == 0 && !line.is_guarded() && (whole || !new.what.writes());
            if fits && line.last.access(&mut more.events, &mut pass, number) {
                continue;
            }
            let mut of_line = Outcome::default();
            line.access(more, number, (low, high), (reads, false), new, view, &mut of_line);
            if whole && new.what.writes() && of_line.is_fine() {
                line.join(more, &mut pass);
            }
            // compilers write over a store that threads have read since: it has reached the memory
            if were_read.contains(&number) {
                of_line.unfenced = of_line.unfenced.filter(|r| !r.what.needs_fence());
            }
            outcome.merge(of_line);
        }
        outcome
    }

    /// An access of one element by lanes that know the same. False if it has to be looked at by itself, or something is wrong.
    pub fn element(&mut self, (from, len): (u64, u32), reads: bool, new: Record, view: &View<'_>) -> bool {
        let writes = new.what.writes();
        if !new.lanes.is_power_of_two() && new.what == RecordKind::Store {
            return false;
        }
        let event = ShadowEvent::one(new, from, len, None);
        if self.notes(&event, view.warp) {
            return true;
        }
        if self.more.has_many_events() {
            self.collect();
        }
        let number = from / LINE;
        if writes {
            self.writes((from, from + u64::from(len)), view.warp);
        }
        let Some((line, more)) = self.line(number).filter(|(line, _)| !line.is_guarded()) else { return false };
        if line.words() == 0 && !writes && new.strong.is_none() {
            return line.last.access(
                &mut more.events,
                &mut Pass::new(event, std::slice::from_ref(view.warp), *view, reads),
                number,
            );
        }
        let mut outcome = Outcome::default();
        let piece = piece_of(number, from, from + u64::from(len));
        line.access(more, number, piece, (reads, false), new, view, &mut outcome);
        outcome.is_fine()
    }

    /// An access of elements by neighbouring lanes that know the same. False as above.
    pub fn row(&mut self, (from, size): (u64, u32), reads: bool, new: Record, view: &View<'_>) -> bool {
        let (log, len) = (size.trailing_zeros() as u8, size * new.lanes.count_ones());
        let event = ShadowEvent::one(new, from, len, Some(log));
        self.notes(&event, view.warp) || self.pass(Pass::new(event, std::slice::from_ref(view.warp), *view, reads))
    }

    /// Accesses of warps that know the same, the first of them by the lanes of the record. False as above. Inlined: a record that is
    /// stored in parts and then read waits for the stores.
    #[inline(always)]
    pub fn pieces(
        &mut self,
        (from, size): (u64, u32),
        pieces: &Pieces,
        reads: bool,
        new: Record,
        (warps, view): (&[Warp], View<'_>),
    ) -> bool {
        let Some(event) = ShadowEvent::of_warps(new, from, size, pieces) else { return false };
        self.notes(&event, &warps[0]) || self.pass(Pass::new(event, warps, view, reads))
    }

    /// Weak loads of warps in several statements: the first one as above, others from it on. False, with nothing done, if there is more
    /// to do than to note them.
    pub fn chain(
        &mut self,
        (from, size): (u64, u32),
        pieces: &Pieces,
        new: Record,
        others: &[(u32, i32)],
        warp: &Warp,
    ) -> bool {
        let Some(event) = ShadowEvent::of_warps(new, from, size, pieces).filter(|_| self.phase.alone) else {
            return false;
        };
        self.settle(warp);
        self.phase.note_chain(&event, others)
    }

    /// Notes a read for later, if that is all there is to do.
    #[inline]
    fn notes(&mut self, event: &ShadowEvent, warp: &Warp) -> bool {
        if !self.phase.alone || event.by.what != RecordKind::Load || event.by.strong.is_some() {
            return false;
        }
        self.settle(warp);
        self.phase.note(event)
    }

    /// Brings the phase up to what a warp of the CTA knows.
    #[inline]
    fn settle(&mut self, warp: &Warp) {
        let Shadow { pages, phase, more, .. } = self;
        let mut before = 0;
        phase.at(warp.floor(), |number| {
            pages.get(number).is_some_and(|line| line.is_quiet(more, number, warp, &mut before))
        });
    }

    /// A thread of the CTA, or what it has started, writes bytes.
    #[inline]
    fn writes(&mut self, (from, to): (u64, u64), warp: &Warp) {
        if self.phase.alone {
            self.writes_lines((from / LINE, to.div_ceil(LINE)), (from.div_ceil(LINE), to / LINE), None, warp);
        }
    }

    /// An access writes these lines, some of them as a whole.
    #[inline]
    fn writes_lines(&mut self, lines: (u64, u64), whole: (u64, u64), by: Option<&ShadowEvent>, warp: &Warp) {
        if self.phase.alone {
            self.settle(warp);
            self.phase.write(lines, whole, by, &mut self.kept);
            if !self.kept.is_empty() {
                self.keep(warp);
            }
        }
    }

    /// Keeps reads that are no longer noted by line.
    #[inline(never)]
    fn keep(&mut self, warp: &Warp) {
        let mut reads = std::mem::take(&mut self.kept);
        for read in reads.drain(..) {
            let operations = &Operations::default();
            let view = View { warp, lanes: u32::MAX, operations, bridge: None, reads: false, content: None };
            self.pass_lines(&mut Pass::new(read, std::slice::from_ref(warp), view, false).again());
        }
        self.kept = reads;
    }

    /// Reads of the CTA may be noted, and not kept by line.
    pub fn is_alone(&mut self, alone: bool) {
        self.phase.alone = alone;
    }

    fn pass(&mut self, mut pass: Pass<'_>) -> bool {
        if self.phase.alone {
            self.settle(pass.warp());
            if pass.new.by.what.writes() {
                self.writes_lines(pass.new.all_lines(), pass.new.whole_lines(), Some(&pass.new), pass.warp());
            } else if self.phase.is_full() {
                self.phase.take(&mut self.kept);
                self.keep(pass.warp());
            }
        }
        self.pass_lines(&mut pass)
    }

    fn pass_lines(&mut self, pass: &mut Pass<'_>) -> bool {
        if self.more.has_many_events() {
            self.collect();
        }
        if let Some((mut next, to)) = pass.new.block_of_lines() {
            while next < to {
                next = self.pass_like(next, to, pass);
                if next < to && self.pass_group(next, pass) {
                    next += GROUP;
                    continue;
                }
                if next < to && !self.pass_line(next, pass) {
                    return false;
                }
                next += 1;
            }
            self.forget_replaced(pass);
            return true;
        }
        let new = pass.new;
        new.lines(|number| self.pass_like(number, number + 1, pass) > number || self.pass_line(number, pass))
    }

    fn pass_line(&mut self, number: u64, pass: &mut Pass<'_>) -> bool {
        let Some((line, more)) = self.line(number) else { return false };
        if line.is_guarded() && !pass.is_again() {
            return false;
        }
        let writes = pass.new.by.what.writes();
        if line.words() == 0 && (!writes || line.last.has_room(&more.events, number, pass.new.bytes(number))) {
            line.last.access(&mut more.events, pass, number)
        } else {
            line.access_elements(more, number, pass)
        }
    }

    /// The lines of a group have the access, if it has all their bytes and they have had the same accesses.
    #[inline]
    fn pass_group(&mut self, first: u64, pass: &mut Pass<'_>) -> bool {
        let whole = pass.new.whole_lines();
        if !first.is_multiple_of(GROUP) || first < whole.0 || whole.1 < first + GROUP {
            return false;
        }
        let Shadow { pages, more, .. } = self;
        pages.group(first).is_some_and(|line| line.last.access_all(&mut more.events, pass))
    }

    /// No line refers any more to a read all of whose lines a write has replaced.
    #[inline]
    fn forget_replaced(&mut self, pass: &Pass<'_>) {
        if pass.new.by.what.writes()
            && let Some(read) = pass.last_read_before()
        {
            let whole = pass.new.whole_lines();
            self.more.events.free(read, |read| {
                let lines = read.all_lines();
                whole.0 <= lines.0 && lines.1 <= whole.1
            });
        }
    }

    /// Lines that are like the one before have the access: most are. Returns the first line that is not.
    #[inline(always)]
    fn pass_like(&mut self, from: u64, to: u64, pass: &Pass<'_>) -> u64 {
        if !pass.is_kept() {
            return from;
        }
        let (writes, whole) = (pass.new.by.what.writes(), pass.new.whole_lines());
        let end = match writes {
            true if from < whole.0 => return from,
            true => to.min(whole.1),
            false => to,
        };
        self.pages.change_while((from, end), writes, |line| line.last.is_as_before(pass, writes))
    }

    /// Forgets accesses that no line refers to, if there are many.
    #[cold]
    fn collect(&mut self) {
        let Shadow { pages, more, atomics, .. } = self;
        if more.has_many_events() {
            let More { events, blocks, .. } = more;
            atomics.take_lines().take(|line| {
                let words = pages.get(line).map_or(0, Line::words);
                atomics.give_back(line, blocks.get(words));
            });
            events.collect(|visit| {
                pages.each(|line| line.last.visit(visit));
                blocks.visit(visit);
            });
        }
    }

    /// Every access to the line of this byte is to be looked at by itself.
    pub fn guard(&mut self, at: u64) {
        self.phase.disturb(at / LINE);
        if let Some((line, _)) = self.line(at / LINE) {
            line.last.tags.guard();
        }
    }

    #[inline]
    fn line(&mut self, number: u64) -> Option<(&mut Line, &mut More)> {
        let line = self.pages.line(number)?;
        if self.atomics.has_line(number) {
            self.atomics.give_back(number, self.more.blocks.get(line.words()));
        }
        Some((line, &mut self.more))
    }

    /// Has nobody written some of these bytes?
    pub fn is_unwritten(&mut self, from: u64, len: u32) -> bool {
        let to = from + u64::from(len);
        (from / LINE..to.div_ceil(LINE)).any(|number| {
            let (low, high) = piece_of(number, from, to);
            self.line(number).is_some_and(|(line, more)| line.is_unwritten(more, number, low, high))
        })
    }

    /// The last write to the four bytes at a multiple of 4: its actor and time. `None` if it is not one of all four.
    pub fn writer(&mut self, at: u64) -> Option<(Actor, u32)> {
        let (line, more) = self.line(at / LINE)?;
        let write = line.split(more, at / LINE).write((at / 4) as usize % WORDS);
        (write.bytes == 15).then_some((write.actor, write.time))
    }

    /// The last write to a byte, if there was one.
    pub fn last_write(&mut self, at: u64) -> Option<Record> {
        let (line, more) = self.line(at / LINE)?;
        let write = line.split(more, at / LINE).write((at / 4) as usize % WORDS);
        (write.lanes != 0).then_some(write)
    }

    /// Nobody has accessed anything. Keeps the pages.
    pub fn clear(&mut self) {
        if self.pages.is_empty() && self.phase.is_new() {
            return;
        }
        self.phase.start();
        self.atomics.clear();
        self.more.lists.clear();
        self.more.events.clear();
        self.more.blocks.clear();
        self.pages.clear();
    }

    /// The memory is another one, and nobody has accessed it. Keeps the pages.
    pub fn start_anew(&mut self) {
        self.clear();
        self.more.events.start_anew();
        self.phase.start_anew();
    }

    /// Bytes of the shadow's own memory.
    pub fn bytes(&self) -> usize {
        self.pages.bytes() + self.more.events.bytes() + self.more.blocks.bytes() + self.atomics.bytes()
    }

    /// Nobody has accessed these bytes, which are whole words.
    pub fn forget(&mut self, from: u64, len: u64) {
        for number in from / 4..(from + len).div_ceil(4) {
            self.phase.disturb(number * 4 / LINE);
            if let Some((line, more)) = self.line(number * 4 / LINE) {
                line.split(more, number * 4 / LINE).all[number as usize % WORDS] = ShadowWord::forgotten();
            }
        }
    }
}
