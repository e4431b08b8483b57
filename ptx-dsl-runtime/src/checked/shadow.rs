//! Shadow memory: who has written each place last and who has read it since.
//!
//! A line of 64 bytes that warps access in one piece has a record for all of it ([`stripe`]); other lines have records for each four
//! bytes ([`cell`]).

mod cell;
mod stripe;

use super::operations::View;
use cell::Cell;
use stripe::{Extent, LINE, Reads, Stripe, Stripes};

pub(super) use cell::{Outcome, Record, What};

/// A memory with a shadow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Memory {
    Shared { slot: u32, rank: u32 },
    Global { segment: usize },
}

impl Memory {
    pub fn name(self) -> &'static str {
        match self {
            Memory::Shared { .. } => "shared",
            Memory::Global { .. } => "global",
        }
    }
}

/// Cells of a line.
const CELLS: usize = 16;

/// 64 bytes.
#[derive(Debug, Default)]
struct Line {
    stripes: Stripes,
    /// In their place, once the bytes are not accessed in one piece.
    cells: Option<Box<[Cell; CELLS]>>,
    /// It has or had an mbarrier object: every access is looked at by itself.
    guarded: bool,
}

/// Lines of a page.
const PAGE: usize = 256;

/// The shadow of a memory, made as it is used.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<[Line; PAGE]>>>,
    more: More,
}

/// Records for which lines and cells have no place.
#[derive(Debug, Default)]
struct More {
    cells: Vec<Vec<Record>>,
    reads: Reads,
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
        for number in from / LINE..to.div_ceil(LINE) {
            if let Some((line, more)) = self.line(number) {
                line.access(more, piece_of(number, from, to), (reads, same), new, view, &mut outcome);
            }
        }
        outcome
    }

    /// An access of an asynchronous operation to bytes in one piece.
    pub fn span(&mut self, (from, len): (u64, u32), reads: bool, new: Record, view: &View<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        let to = from + u64::from(len);
        for number in from / LINE..to.div_ceil(LINE) {
            let Some((line, more)) = self.line(number) else { continue };
            let (low, high) = piece_of(number, from, to);
            let stripe = Stripe::new(&new, new.lanes, Extent { from: low as u8, to: high as u8, log: None });
            let whole = high - low == LINE as u32 && !line.guarded;
            let fits = line.cells.is_none() && !line.guarded && (whole || !new.what.writes());
            if fits && line.stripes.access(&mut more.reads, stripe, reads, view) {
                continue;
            }
            let mut of_line = Outcome::default();
            line.access(more, (low, high), (reads, false), new, view, &mut of_line);
            if whole && new.what.writes() && of_line.is_fine() {
                line.join(more, stripe);
            }
            outcome.merge(of_line);
        }
        outcome
    }

    /// An access of one element by lanes that know the same. False if it has to be looked at by itself, or something is wrong.
    pub fn element(&mut self, (from, len): (u64, u32), reads: bool, new: Record, view: &View<'_>) -> bool {
        if !new.lanes.is_power_of_two() && new.what == What::Store {
            return false;
        }
        let Some((line, more)) = self.line(from / LINE).filter(|(line, _)| !line.guarded) else { return false };
        let (from, to) = piece_of(from / LINE, from, from + u64::from(len));
        if line.cells.is_none() && !new.what.writes() {
            let extent = Extent { from: from as u8, to: to as u8, log: None };
            return line.stripes.access(&mut more.reads, Stripe::new(&new, new.lanes, extent), reads, view);
        }
        let mut outcome = Outcome::default();
        line.access(more, (from, to), (reads, false), new, view, &mut outcome);
        outcome.is_fine()
    }

    /// An access of elements by neighbouring lanes that know the same. False as above.
    pub fn row(&mut self, (from, size): (u64, u32), reads: bool, new: Record, view: &View<'_>) -> bool {
        let (log, first) = (size.trailing_zeros(), new.lanes.trailing_zeros());
        let to = from + (u64::from(new.lanes.count_ones()) << log);
        let mut at = from;
        while at < to {
            let number = at / LINE;
            let (low, high) = piece_of(number, at, to);
            let n = (high - low) >> log;
            let lanes = ((u64::from(u32::MAX) >> (32 - n)) << (first + ((at - from) >> log) as u32)) as u32;
            let stripe = Stripe::new(&new, lanes, Extent { from: low as u8, to: high as u8, log: Some(log as u8) });
            let Some((line, more)) = self.line(number).filter(|(line, _)| !line.guarded) else { return false };
            let whole = n << log == LINE as u32;
            if line.cells.is_none() && (whole || !new.what.writes()) {
                if !line.stripes.access(&mut more.reads, stripe, reads, &View { lanes, ..*view }) {
                    return false;
                }
            } else {
                let mut outcome = Outcome::default();
                for i in 0..n {
                    let new = Record { lanes: 1 << (lanes.trailing_zeros() + i), ..new };
                    let piece = (low + (i << log), low + ((i + 1) << log));
                    line.access(more, piece, (reads, false), new, &View { lanes: new.lanes, ..*view }, &mut outcome);
                }
                if !outcome.is_fine() {
                    return false;
                }
                if whole && new.what.writes() {
                    line.join(more, stripe);
                }
            }
            at += u64::from(high - low);
        }
        true
    }

    /// Every access to the line of this byte is to be looked at by itself.
    pub fn guard(&mut self, at: u64) {
        if let Some((line, _)) = self.line(at / LINE) {
            line.guarded = true;
        }
    }

    fn line(&mut self, number: u64) -> Option<(&mut Line, &mut More)> {
        let page = usize::try_from(number / PAGE as u64).ok()?;
        // larger than any memory of the host
        if page >= 1 << 24 {
            return None;
        }
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let lines = self.pages[page].get_or_insert_with(|| Box::new(std::array::from_fn(|_| Line::default())));
        Some((&mut lines[number as usize % PAGE], &mut self.more))
    }

    /// Has nobody written some of these bytes?
    pub fn is_unwritten(&mut self, from: u64, len: u32) -> bool {
        let to = from + u64::from(len);
        (from / LINE..to.div_ceil(LINE)).any(|number| {
            let (low, high) = piece_of(number, from, to);
            self.line(number).is_some_and(|(line, more)| line.is_unwritten(more, low, high))
        })
    }

    /// Nobody has accessed anything. Keeps the pages.
    pub fn clear(&mut self) {
        self.more = More::default();
        self.pages.iter_mut().flatten().for_each(|page| page.fill_with(Line::default));
    }

    /// Nobody has accessed these bytes, which are whole cells.
    pub fn forget(&mut self, from: u64, len: u64) {
        for number in from / 4..(from + len).div_ceil(4) {
            if let Some((line, more)) = self.line(number * 4 / LINE) {
                line.split(more)[number as usize % CELLS] = Cell::default();
            }
        }
    }
}

impl Line {
    /// Its cells, made if need be.
    fn split(&mut self, more: &mut More) -> &mut [Cell; CELLS] {
        let Line { stripes, cells, .. } = self;
        cells.get_or_insert_with(|| {
            let mut cells = Box::new([Cell::default(); CELLS]);
            for (i, cell) in (0..).zip(&mut *cells) {
                stripes.records(&more.reads, i, |r| cell.add(&mut more.cells, r));
            }
            cells
        })
    }

    /// An access to the bytes of a range.
    #[inline]
    fn access(
        &mut self,
        more: &mut More,
        (from, to): (u32, u32),
        (reads, same): (bool, bool),
        new: Record,
        view: &View<'_>,
        outcome: &mut Outcome,
    ) {
        let cells = self.split(more);
        for number in from / 4..to.div_ceil(4) {
            let bytes = bytes_of(number, from, to);
            let cell = &mut cells[number as usize % CELLS];
            if reads && cell.is_unwritten(&more.cells, bytes) {
                // not counted: it may come again, lane by lane
                outcome.unwritten = true;
                continue;
            }
            cell.access(&mut more.cells, Record { bytes, ..new }, same, view, outcome);
        }
    }

    /// All of it is written in one piece: it has one record again.
    fn join(&mut self, more: &mut More, write: Stripe) {
        (self.cells, self.stripes) = (None, Stripes::default());
        self.stripes.set(&mut more.reads, write);
    }

    fn is_unwritten(&mut self, more: &mut More, from: u32, to: u32) -> bool {
        let cells = self.split(more);
        (from / 4..to.div_ceil(4))
            .any(|number| cells[number as usize % CELLS].is_unwritten(&more.cells, bytes_of(number, from, to)))
    }
}

/// The part of a range of bytes that is in a line, from its first byte on.
fn piece_of(line: u64, from: u64, to: u64) -> (u32, u32) {
    ((from.max(line * LINE) - line * LINE) as u32, (to.min((line + 1) * LINE) - line * LINE) as u32)
}

/// The bytes of a cell that are in a range.
fn bytes_of(number: u32, from: u32, to: u32) -> u8 {
    let (low, high) = (from.max(number * 4) - number * 4, to.min(number * 4 + 4) - number * 4);
    ((1u32 << high) - (1u32 << low)) as u8
}
