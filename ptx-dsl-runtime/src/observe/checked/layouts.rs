//! Matrices in shared memory that are read with another layout than tensor copies have written them with.
//!
//! A tensor copy exchanges pieces of 16 bytes as the swizzle of its map says, and an operation looks for them as the swizzle of its
//! descriptor says. If the two differ for a piece, the operation reads an element of another column. Only boxes count of which a copy has
//! written the bytes last. What threads store may have any layout, but for the matrices of `stmatrix` ([`stored`]).

mod reports;
mod stored;

use self::stored::Stored;
use super::Checked;
use super::actor::{Actor, COPIES};
use super::shadow::ShadowedMemory;
use crate::fault::FaultKind;
use crate::memory::tensor_map::{ElementType, Swizzle as MapSwizzle};
use crate::numerics::matrix::format::Format;
use crate::numerics::matrix::shared::Swizzle;
use crate::observe::monitor::Who;
use crate::observe::probe::layout::{DescriptorOf, SharedBox, SharedMatrix};
use crate::semantics::tensor::swizzle::permute;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A box and the copy that has written it.
#[derive(Debug, Clone, Copy)]
struct Written {
    layout: SharedBox,
    copy: (Actor, u32),
    site: u32,
}

impl Written {
    /// The place of a byte of shared memory in the box: its row, and the byte of the row.
    fn place(&self, at: u32) -> (u32, u32) {
        let SharedBox { offset, pitch, swizzle, .. } = self.layout;
        let linear = permute(swizzle, at).wrapping_sub(offset);
        (linear / pitch.max(1), linear % pitch.max(1))
    }

    fn has(&self, at: u32) -> bool {
        self.layout.bytes().contains(&at)
    }
}

/// A piece of a matrix, and that of the next line.
#[derive(Debug, Clone, Copy)]
struct BoxPiece {
    line: u32,
    piece: u32,
    at: u32,
    next: Option<u32>,
}

/// The boxes in shared memory.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    /// The boxes by slot and rank, then by offset. They do not overlap.
    boxes: FxHashMap<(u32, u32), BTreeMap<u32, Written>>,
    /// Matrices whose descriptors give each element bytes of its own.
    distinct: FxHashSet<SharedMatrix>,
    stored: Stored,
}

impl Layouts {
    /// A cluster starts: its shared memory is new.
    pub fn start(&mut self, slot: u32) {
        self.boxes.retain(|key, _| key.0 != slot);
        self.stored.start(slot);
    }

    /// A box takes the place of those that it overlaps.
    fn add(&mut self, slot: u32, new: Written) {
        let boxes = self.boxes.entry((slot, new.layout.rank)).or_default();
        let bytes = new.layout.bytes();
        let before = boxes.range(..bytes.end).rev();
        let overlapped = before.take_while(|(_, old)| old.layout.bytes().end > bytes.start).map(|(at, _)| *at);
        for at in overlapped.collect::<Vec<_>>() {
            boxes.remove(&at);
        }
        boxes.insert(bytes.start, new);
    }

    /// The box in which a byte lies.
    fn of_byte(&self, slot: u32, rank: u32, at: u32) -> Option<Written> {
        let (_, last) = self.boxes.get(&(slot, rank))?.range(..=at).next_back()?;
        last.has(at).then_some(*last)
    }

    /// Whether some box has another layout than that of a matrix.
    fn any_differs(&self, slot: u32, rank: u32, matrix: &SharedMatrix) -> bool {
        let differs = |of: &SharedBox| {
            of.swizzle != swizzle_of(matrix)
                || of.swizzle == MapSwizzle::None && of.pitch > 16
                || other_type(matrix, of).is_some()
        };
        self.boxes.get(&(slot, rank)).is_some_and(|boxes| boxes.values().any(|of| differs(&of.layout)))
    }
}

/// The swizzle of a matrix, as tensor maps name it.
fn swizzle_of(matrix: &SharedMatrix) -> MapSwizzle {
    match matrix.descriptor.swizzle {
        Swizzle::None => MapSwizzle::None,
        Swizzle::B32 => MapSwizzle::B32,
        Swizzle::B64 => MapSwizzle::B64,
        Swizzle::B128 => MapSwizzle::B128,
        Swizzle::B128Atom32 => MapSwizzle::B128Atom32,
    }
}

impl Checked {
    /// A copy with this number starts to write a box.
    pub(super) fn box_written(&mut self, layout: SharedBox, number: u64, who: Who) {
        let Some(warp) = self.threads.of(who).map(|warp| warp.id).filter(|_| !self.any_layout) else { return };
        let time = self.operations.start(number, warp, who.lanes.trailing_zeros());
        self.layouts.add(who.slot, Written { layout, copy: (COPIES, time), site: who.site });
    }

    /// An operation reads a matrix in the shared memory of a CTA.
    pub(super) fn matrix_read(&mut self, matrix: &SharedMatrix, rank: u32, who: Who) -> Result<(), FaultKind> {
        if self.any_layout {
            return Ok(());
        }
        if matrix.of != DescriptorOf::Cp && !self.layouts.distinct.contains(matrix) {
            if let Some(pieces) = shared_by(matrix) {
                return Err(reports::shared(matrix, pieces));
            }
            self.layouts.distinct.insert(matrix.clone());
        }
        if self.layouts.any_differs(who.slot, rank, matrix) {
            self.compare(matrix, rank, who)?;
        }
        self.compare_with_stored(matrix, rank, who)
    }

    /// Compares each piece of a matrix with the box in which it lies.
    fn compare(&mut self, matrix: &SharedMatrix, rank: u32, who: Who) -> Result<(), FaultKind> {
        for (line, piece, at) in matrix.each() {
            let Some(of) = self.layouts.of_byte(who.slot, rank, at).filter(|of| of.layout.is_matrix) else { continue };
            let linear = matrix.descriptor.linear(matrix.major, line, piece);
            let exchanged = linear != permute(of.layout.swizzle, at);
            // scale factors of several lines lie in one row of a tensor
            let of_scales = matrix.of == DescriptorOf::Cp && matrix.descriptor.swizzle == Swizzle::None;
            let next = (!of_scales && matrix.lines.contains(&(line + 1)))
                .then(|| matrix.descriptor.piece(matrix.major, line + 1, piece))
                .filter(|next| of.has(*next) && of.place(*next).0 == of.place(at).0);
            let types = other_type(matrix, &of.layout);
            if (exchanged || next.is_some() || types.is_some()) && self.has_written(of, rank, at, who) {
                return Err(match types {
                    Some(types) if !exchanged && next.is_none() => reports::types(matrix, of, types),
                    _ => reports::differs(matrix, of, BoxPiece { line, piece, at, next }),
                });
            }
        }
        Ok(())
    }

    /// `ldmatrix` reads the rows of a matrix at these places.
    pub(super) fn rows_read(&mut self, number: u32, rows: &[u32], who: Who) -> Result<(), FaultKind> {
        let Some(first) = rows.first().filter(|_| !self.any_layout) else { return Ok(()) };
        let Some(of) = self.layouts.of_byte(who.slot, who.rank, *first) else { return Ok(()) };
        let (_, column) = of.place(*first);
        let Some(other) = rows.iter().position(|at| of.place(*at).1 != column) else { return Ok(()) };
        let rows_of_box: FxHashSet<u32> = rows.iter().map(|at| of.place(*at).0).collect();
        let apart = rows_of_box.len() == rows.len() && rows.iter().all(|at| of.has(*at));
        if of.layout.is_matrix && apart && rows.iter().all(|at| self.has_written(of, who.rank, *at, who)) {
            return Err(reports::rows(number, of, [(0, *first), (other, rows[other])]));
        }
        Ok(())
    }

    /// Is the copy of a box the last that has written these 16 bytes? If not, the box is no longer one.
    fn has_written(&mut self, of: Written, rank: u32, at: u32, who: Who) -> bool {
        let shadow = self.shadows.of(ShadowedMemory::Shared { slot: who.slot, rank });
        let written = (0..16).step_by(4).all(|byte| shadow.writer(u64::from(at + byte)) == Some(of.copy));
        if !written && let Some(boxes) = self.layouts.boxes.get_mut(&(who.slot, rank)) {
            boxes.remove(&of.layout.offset);
        }
        written
    }
}

/// The type of a matrix and the other one that its elements have in a box, if both are floating-point numbers of 16 bits. Maps with other
/// types are for data of any type.
fn other_type(matrix: &SharedMatrix, of: &SharedBox) -> Option<[ElementType; 2]> {
    match (matrix.format?, of.element) {
        (Format::F16, ElementType::Bf16) => Some([ElementType::F16, ElementType::Bf16]),
        (Format::Bf16, ElementType::F16) => Some([ElementType::Bf16, ElementType::F16]),
        _ => None,
    }
}

/// Two pieces of a matrix that are the same bytes, at one place of two lines or twice in a line. A stride of 0 repeats lines on purpose.
/// Different pieces of different lines may be the same: the lines of a convolution overlap so, as each begins some pieces after the last.
fn shared_by(matrix: &SharedMatrix) -> Option<[BoxPiece; 2]> {
    let d = &matrix.descriptor;
    if d.stride == 0 || d.leading == 0 && matrix.needs_leading() || d.absolute {
        return None;
    }
    let of = |(line, piece, at)| BoxPiece { line, piece, at, next: None };
    let mut all: Vec<BoxPiece> = matrix.each().map(of).collect();
    all.sort_unstable_by_key(|p| (p.at, p.line, p.piece));
    all.chunk_by(|a, b| a.at == b.at).find_map(|same| {
        let repeats = |a: &BoxPiece, b: &BoxPiece| a.line == b.line || a.piece == b.piece;
        same.iter().enumerate().find_map(|(i, a)| same[i + 1..].iter().find(|b| repeats(a, b)).map(|b| [*a, *b]))
    })
}
