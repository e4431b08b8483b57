//! Matrices of eight rows that `stmatrix` has written to shared memory.
//!
//! Where a copy stores a box, or an operation reads a matrix with a descriptor, the eight rows of such a matrix lie below each other, at the
//! same 16 bytes of different rows. If they do not, the addresses of `stmatrix` lack the exchange that the other one makes. Rows that an
//! operation has side by side are no such mistake.

use super::Checked;
use super::reports;
use crate::fault::FaultKind;
use crate::observe::checked::actor::Actor;
use crate::observe::checked::shadow::{Record, ShadowedMemory};
use crate::observe::monitor::Who;
use crate::observe::probe::layout::{DescriptorOf, SharedBox, SharedMatrix};
use crate::semantics::tensor::swizzle::permute;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The rows of a matrix, and the access that has written them.
#[derive(Debug, Clone, Copy)]
struct StoredMatrix {
    rows: [u32; 8],
    by: (Actor, u32, u32),
}

fn written_by(r: &Record) -> (Actor, u32, u32) {
    (r.actor, r.time, r.site)
}

/// The matrices in the shared memory of each CTA, by slot and rank, then by the place of the first row.
#[derive(Debug, Default)]
pub(super) struct Stored(FxHashMap<(u32, u32), BTreeMap<u32, StoredMatrix>>);

impl Stored {
    /// A cluster starts: its shared memory is new.
    pub fn start(&mut self, slot: u32) {
        self.0.retain(|key, _| key.0 != slot);
    }

    /// The matrices of a CTA whose first row is in a range.
    fn within(&self, (slot, rank): (u32, u32), bytes: std::ops::Range<u32>) -> Vec<StoredMatrix> {
        let all = self.0.get(&(slot, rank)).filter(|_| bytes.start < bytes.end);
        all.into_iter().flat_map(|all| all.range(bytes.clone())).map(|(_, matrix)| *matrix).collect()
    }
}

/// Two rows of a matrix that are in different columns, if all eight are in different lines. `place`: the line and the column of a row.
fn misplaced(matrix: &StoredMatrix, place: impl Fn(u32) -> Option<(u32, u32)>) -> Option<[(usize, (u32, u32)); 2]> {
    let places: Vec<(u32, u32)> = matrix.rows.iter().map(|at| place(*at)).collect::<Option<_>>()?;
    let other = places.iter().position(|(_, column)| *column != places[0].1)?;
    let lines: FxHashSet<u32> = places.iter().map(|(line, _)| *line).collect();
    (lines.len() == places.len()).then(|| [(0, places[0]), (other, places[other])])
}

impl Checked {
    /// `stmatrix` has written the rows of a matrix to these places.
    pub(in crate::observe::checked) fn rows_written(&mut self, rows: &[u32], who: Who) {
        let Ok(rows) = <[u32; 8]>::try_from(rows) else { return };
        if self.any_layout {
            return;
        }
        let key = (who.slot, who.rank);
        let shadow = self.shadows.of(ShadowedMemory::Shared { slot: who.slot, rank: who.rank });
        let Some(by) = shadow.last_write(rows[0].into()).as_ref().map(written_by) else { return };
        self.layouts.stored.0.entry(key).or_default().insert(rows[0], StoredMatrix { rows, by });
    }

    /// A copy stores a box of a tensor.
    pub(in crate::observe::checked) fn box_read(&mut self, of: &SharedBox, who: Who) -> Result<(), FaultKind> {
        if self.any_layout || !of.is_matrix {
            return Ok(());
        }
        let place = |at: u32| {
            let linear = permute(of.swizzle, at).wrapping_sub(of.offset);
            of.bytes().contains(&at).then(|| (linear / of.pitch.max(1), linear % of.pitch.max(1)))
        };
        for matrix in self.layouts.stored.within((who.slot, of.rank), of.bytes()) {
            if let Some(rows) = misplaced(&matrix, place)
                && self.are_its_last(&matrix, of.rank, who)
            {
                return Err(reports::stored_rows(*of, rows, matrix.by.2));
            }
        }
        Ok(())
    }

    /// An operation reads a matrix with a descriptor.
    pub(super) fn compare_with_stored(&mut self, of: &SharedMatrix, rank: u32, who: Who) -> Result<(), FaultKind> {
        let all = self.layouts.stored.0.get(&(who.slot, rank)).filter(|all| !all.is_empty());
        if all.is_none() || of.of == DescriptorOf::Cp {
            return Ok(());
        }
        let (first, last) = of.each().fold((u32::MAX, 0), |(first, last), (_, _, at)| (first.min(at), last.max(at)));
        // the first row of a matrix may be one that is not read
        let atom = of.atom_bytes();
        for matrix in self.layouts.stored.within((who.slot, rank), first / atom * atom..last.saturating_add(atom)) {
            if let Some(rows) = misplaced(&matrix, |at| of.place(at))
                && of.each().any(|(_, _, at)| matrix.rows.contains(&at))
                && self.are_its_last(&matrix, rank, who)
            {
                return Err(reports::stored_lines(of, rows, matrix.by.2));
            }
        }
        Ok(())
    }

    /// Is nothing else written to the rows of a matrix since? If something is, it is no longer one.
    fn are_its_last(&mut self, matrix: &StoredMatrix, rank: u32, who: Who) -> bool {
        let shadow = self.shadows.of(ShadowedMemory::Shared { slot: who.slot, rank });
        let words = matrix.rows.iter().flat_map(|row| (0..16).step_by(4).map(move |byte| u64::from(row + byte)));
        let last = words.map(|at| shadow.last_write(at)).all(|w| w.as_ref().map(written_by) == Some(matrix.by));
        if !last && let Some(all) = self.layouts.stored.0.get_mut(&(who.slot, rank)) {
            all.remove(&matrix.rows[0]);
        }
        last
    }
}
