//! 64 bytes: the last accesses to them, in one of two forms.

use super::cell::{Cell, Outcome, Record};
use super::event::Events;
use super::last::{Last, Pass};
use super::stripe::LINE;
use crate::checked::operations::View;
use crate::checked::threads::Warp;

/// Cells of a line.
pub(super) const CELLS: usize = 16;

/// 64 bytes.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub last: Last,
    /// It has or had an mbarrier object: every access is looked at by itself.
    pub guarded: bool,
    /// In place of `last`, once the bytes are not accessed in one piece.
    pub cells: Option<Box<[Cell; CELLS]>>,
}

/// Records for which lines and cells have no place.
#[derive(Debug, Default)]
pub(super) struct More {
    pub cells: Vec<Vec<Record>>,
    pub events: Events,
}

impl Line {
    /// Its cells, made if need be.
    #[inline]
    pub fn split(&mut self, more: &mut More, number: u64) -> &mut [Cell; CELLS] {
        let Line { last, cells, .. } = self;
        cells.get_or_insert_with(|| {
            let mut cells = Box::new([Cell::default(); CELLS]);
            for (i, cell) in (0..).zip(&mut *cells) {
                last.records(&more.events, number, i, |r| cell.add(&mut more.cells, r));
            }
            *last = Last::default();
            cells
        })
    }

    /// Have threads of the CTA written all its bytes, and does a barrier come after that?
    #[inline]
    pub fn is_quiet(&self, more: &More, number: u64, warp: &Warp) -> bool {
        !self.guarded && self.cells.is_none() && self.last.is_quiet(&more.events, number, warp)
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
        let cells = self.split(more, number);
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

    /// All of it is written in one piece: it has one record again.
    pub fn join(&mut self, more: &mut More, pass: &mut Pass<'_>) {
        self.cells = None;
        self.last.set(&mut more.events, pass);
    }

    pub fn is_unwritten(&mut self, more: &mut More, number: u64, from: u32, to: u32) -> bool {
        let cells = self.split(more, number);
        (from / 4..to.div_ceil(4))
            .any(|number| cells[number as usize % CELLS].is_unwritten(&more.cells, bytes_of(number, from, to)))
    }
}

/// The part of a range of bytes that is in a line, from its first byte on.
pub(super) fn piece_of(line: u64, from: u64, to: u64) -> (u32, u32) {
    ((from.max(line * LINE) - line * LINE) as u32, (to.min((line + 1) * LINE) - line * LINE) as u32)
}

/// The bytes of a cell that are in a range.
fn bytes_of(number: u32, from: u32, to: u32) -> u8 {
    let (low, high) = (from.max(number * 4) - number * 4, to.min(number * 4 + 4) - number * 4);
    ((1u32 << high) - (1u32 << low)) as u8
}
