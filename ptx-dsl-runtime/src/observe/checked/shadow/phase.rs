//! Shared memory between two barriers of its CTA, in a cluster of one.
//!
//! Most lines are quiet: threads of the CTA have written all their bytes before the last barrier. Reads of quiet lines cannot race until
//! somebody writes there, so they are only noted in a read set. After the next barrier every thread of the CTA knows of them, and there
//! are no others; they are forgotten, but for the lines that they have read.

use super::event::ShadowEvent;
use super::lines::Lines;

/// The largest read set of a phase.
const MOST: usize = 4096;

/// Above this number of noted reads, all are kept by line as soon as one is.
const FEW: usize = 16;

/// Noted reads of several statements, which are alike but for statement and place.
#[derive(Debug, Default)]
struct ReadChains {
    /// The first read of each, and where its others end.
    first: Vec<(ShadowEvent, usize)>,
    others: Vec<(u32, i32)>,
}

impl ReadChains {
    fn clear(&mut self) {
        self.first.clear();
        self.others.clear();
    }

    /// All reads.
    fn reads(&self) -> impl Iterator<Item = ShadowEvent> + '_ {
        let starts = std::iter::once(0).chain(self.first.iter().map(|(_, end)| *end));
        self.first.iter().zip(starts).flat_map(|((first, end), start)| {
            std::iter::once(*first).chain(self.others[start..*end].iter().map(|other| first.moved(*other)))
        })
    }
}

/// The reads and writes of lines between two barriers.
#[derive(Debug, Default)]
pub(super) struct Phase {
    /// The memory is that of a CTA alone in its cluster.
    pub alone: bool,
    /// All that threads of the CTA have done before this time is known to all of them.
    floor: u32,
    quiet: Lines,
    /// Written since.
    written: Lines,
    /// The lines written since that were quiet, and that threads have written alone: they are quiet again after the next barrier.
    again: Lines,
    /// The read set, and the lines from the first to the last of each read.
    read_set: Vec<ShadowEvent>,
    chains: ReadChains,
    touched: Lines,
    /// The lines of those that are forgotten, if nobody has written there since.
    pub read: Lines,
    /// Another proxy writes to the memory: which bytes threads have read matters after a barrier too. Until its first access, lines do.
    pub proxies: bool,
}

impl Phase {
    /// Has nothing happened since a CTA started?
    #[inline]
    pub fn is_new(&self) -> bool {
        self.floor == 0 && self.written.is_empty()
    }

    /// A CTA starts.
    pub fn start(&mut self) {
        self.floor = 0;
        self.read_set.clear();
        self.chains.clear();
        let lines = [&mut self.quiet, &mut self.written, &mut self.again, &mut self.touched, &mut self.read];
        lines.into_iter().for_each(Lines::clear);
    }

    /// The memory is another one.
    pub fn start_anew(&mut self) {
        self.start();
        (self.alone, self.proxies) = (false, false);
    }

    /// The CTA is at this time: `is_quiet` says which of the lines written before are quiet.
    #[inline]
    pub fn at(&mut self, floor: u32, is_quiet: impl FnMut(u64) -> bool) {
        if floor != self.floor {
            self.next(floor, is_quiet);
        }
    }

    #[inline(never)]
    fn next(&mut self, floor: u32, mut is_quiet: impl FnMut(u64) -> bool) {
        self.floor = floor;
        self.read_set.clear();
        self.chains.clear();
        // of what is written since, lines know who has read it
        self.read.add_but(&self.touched, &self.written);
        self.touched.clear();
        self.written.remove_all(&self.again);
        self.quiet.append(&mut self.again);
        self.written.move_to(&mut self.quiet, &mut is_quiet);
    }

    /// Notes a read, if that is all there is to do.
    #[inline]
    pub fn note(&mut self, read: &ShadowEvent) -> bool {
        let Some(lines) = read.dense_lines() else { return false };
        if self.proxies || self.read_set.len() >= MOST || !self.quiet.has_all(lines) {
            return false;
        }
        self.touched.insert(lines);
        self.read_set.push(*read);
        true
    }

    /// Notes reads that are alike, if that is all there is to do. Otherwise nothing is done.
    #[inline]
    pub fn note_chain(&mut self, first: &ShadowEvent, others: &[(u32, i32)]) -> bool {
        let (low, high) = others.iter().fold((0, 0), |(low, high), other| (low.min(other.1), high.max(other.1)));
        let (Some((from, _)), Some((_, to))) =
            (first.moved((0, low)).dense_lines(), first.moved((0, high)).dense_lines())
        else {
            return false;
        };
        let full = self.chains.others.len() >= MOST || self.chains.first.len() >= MOST;
        if self.proxies || full || !self.quiet.has_all((from, to)) {
            return false;
        }
        self.touched.insert((from, to));
        self.chains.others.extend_from_slice(others);
        self.chains.first.push((*first, self.chains.others.len()));
        true
    }

    /// Has somebody written to a line since the barrier, of which no read is noted?
    #[inline]
    pub fn is_written(&self, line: u64) -> bool {
        self.written.has_all((line, line + 1)) && !self.touched.has_any((line, line + 1))
    }

    /// Somebody writes to these lines, of which some as a whole, perhaps with accesses of warps. The noted reads that matter are to be
    /// kept by line.
    #[inline]
    pub fn write(
        &mut self,
        lines: (u64, u64),
        whole: (u64, u64),
        by: Option<&ShadowEvent>,
        kept: &mut Vec<ShadowEvent>,
    ) {
        match by {
            Some(_) if self.written.has_all(lines) => {}
            Some(_) => self.quiet.give(lines, &mut self.again),
            None => [&mut self.quiet, &mut self.again].into_iter().for_each(|set| set.remove(lines)),
        }
        if !self.written.has_all(lines) {
            self.read.remove(whole);
            self.written.insert(lines);
        }
        if self.touched.has_any(lines) {
            self.keep(lines, by, kept);
        }
    }

    #[inline(never)]
    fn keep(&mut self, lines: (u64, u64), by: Option<&ShadowEvent>, kept: &mut Vec<ShadowEvent>) {
        if self.read_set.len() > FEW || !self.chains.first.is_empty() {
            self.take(kept);
            return;
        }
        let meet = |a: (u64, u64), b: (u64, u64)| a.0 < b.1 && b.0 < a.1;
        let mut next = 0;
        while let Some(read) = self.read_set.get(next) {
            let matters = match by {
                Some(by) => meet(read.all_bytes(), by.all_bytes()),
                None => meet(read.all_lines(), lines),
            };
            if !matters {
                next += 1;
                continue;
            }
            let read = self.read_set.swap_remove(next);
            // what a thread writes after it has read it, it says all of
            if by.is_none_or(|by| !read.is_alike(by)) {
                kept.push(read);
            }
        }
        self.touched.remove(lines);
        for (from, to) in self.read_set.iter().map(ShadowEvent::all_lines) {
            self.touched.insert((from.max(lines.0), to.min(lines.1)));
        }
    }

    /// The bytes of a line are no longer written, or not ordinary memory.
    pub fn disturb(&mut self, line: u64) {
        [&mut self.quiet, &mut self.again].into_iter().for_each(|set| set.remove((line, line + 1)));
    }

    /// Are there too many reads? Then they are to be kept elsewhere.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.read_set.len() >= MOST
    }

    /// The noted reads, to be kept elsewhere.
    pub fn take(&mut self, reads: &mut Vec<ShadowEvent>) {
        self.touched.clear();
        reads.append(&mut self.read_set);
        reads.extend(self.chains.reads());
        self.chains.clear();
    }
}
