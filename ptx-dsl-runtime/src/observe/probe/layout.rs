//! The layouts of boxes and matrices in shared memory, for the checked host.

use crate::fault::{FaultKind, MatrixBounds};
use crate::memory::tensor_map;
use crate::numerics::matrix::format::Format;
use crate::numerics::matrix::shared::{Major, Shared, Swizzle};
use std::ops::Range;

/// A box of a tensor that a copy writes to shared memory, or reads there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedBox {
    /// The CTA.
    pub rank: u32,
    /// The offset of the box.
    pub offset: u32,
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// Rows along the innermost dimension.
    pub rows: u32,
    /// The permutation of the rows.
    pub swizzle: tensor_map::Swizzle,
    /// The type of the elements.
    pub element: tensor_map::ElementType,
    /// Whether the box is a matrix: it has two dimensions or more, is not interleaved, and its pieces of 16 bytes stay whole.
    pub is_matrix: bool,
}

impl SharedBox {
    /// The bytes of the box, from the first to the last.
    pub fn bytes(&self) -> Range<u32> {
        self.offset..self.offset.saturating_add(self.pitch.saturating_mul(self.rows))
    }
}

/// The instruction that a descriptor belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DescriptorOf {
    /// `wgmma.mma_async`
    Wgmma,
    /// `tcgen05.mma`
    Mma,
    /// `tcgen05.cp`
    Cp,
}

impl DescriptorOf {
    /// The section with the layouts that the descriptor can describe.
    pub fn layouts(self) -> &'static str {
        if self == DescriptorOf::Wgmma { "9.7.15.5.1" } else { "9.7.16.3" }
    }

    /// The section with the types of the matrices.
    pub fn instruction_types(self) -> &'static str {
        if self == DescriptorOf::Wgmma { "9.7.15.3" } else { "9.7.16.4.2" }
    }

    /// The section with its fields.
    fn fields(self) -> &'static str {
        if self == DescriptorOf::Wgmma { "9.7.15.5.1.2" } else { "9.7.16.4.1" }
    }
}

/// The fault of an operation that reads matrices: an access out of bounds is told by the matrix and the field of its descriptor.
pub(crate) fn name_matrix(kind: FaultKind, matrices: impl IntoIterator<Item = SharedMatrix>) -> FaultKind {
    let FaultKind::OutOfBounds { size, .. } = kind else { return kind };
    let bounds = matrices.into_iter().find_map(|matrix| matrix.out_of_bounds(size));
    bounds.map_or(kind, |bounds| FaultKind::MatrixOutOfBounds(Box::new(bounds)))
}

/// A matrix in shared memory that an operation reads with a descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SharedMatrix {
    /// The name of the operand: `A`, `B`.
    pub operand: &'static str,
    /// The instruction that the descriptor belongs to.
    pub of: DescriptorOf,
    /// The format of the elements.
    pub format: Option<Format>,
    /// The descriptor.
    pub descriptor: Shared,
    /// The contiguous dimension.
    pub major: Major,
    /// Along the dimension that is not.
    pub lines: Range<u32>,
    /// Pieces of 16 bytes along the one that is.
    pub pieces: Range<u32>,
}

impl SharedMatrix {
    /// Each piece: its line, its number in the line, and where it is.
    pub fn each(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        self.lines.clone().flat_map(move |line| {
            self.pieces.clone().map(move |piece| (line, piece, self.descriptor.piece(self.major, line, piece)))
        })
    }

    /// The line of 16 bytes, and their number in it, also of bytes that are not read. `None` if they are in none of the lines, or not in the
    /// atoms with which these begin.
    pub fn place(&self, at: u32) -> Option<(u32, u32)> {
        let Shared { start, stride, swizzle, base, .. } = self.descriptor;
        if self.descriptor.absolute || swizzle == Swizzle::B128Atom32 {
            return None;
        }
        if swizzle == Swizzle::None {
            return self.each().find(|(_, _, of)| *of == at).map(|(line, piece, _)| (line, piece));
        }
        let (width, atom) = (swizzle.width(), self.atom_bytes());
        let from = swizzle.apply(at, base).checked_sub(start & !(width - 1))?;
        let (group, within) = if stride < atom { (0, from) } else { (from / stride, from % stride) };
        let line = group.checked_mul(8)?.checked_add(within / width)?;
        (within < atom && self.lines.contains(&line)).then_some((line, within % width / 16))
    }

    /// The first piece outside of shared memory of this size, and the field of the descriptor that leads there.
    fn out_of_bounds(&self, size: u64) -> Option<MatrixBounds> {
        let is_outside = |at: u32| u64::from(at) + 16 > size;
        let (line, piece, at) = self.each().find(|(_, _, at)| is_outside(*at))?;
        let own = self.descriptor;
        let linear = |descriptor: Shared| descriptor.linear(self.major, line, piece);
        // the last piece with a field of a sixteenth of its value
        let is_inside = |descriptor: Shared| {
            let all = SharedMatrix { descriptor, ..self.clone() };
            all.each().all(|(_, _, at)| !is_outside(at))
        };
        let fields = [
            ("start address", own.start, Shared { start: 0, ..own }, Shared { start: own.start / 16, ..own }),
            (
                "leading dimension byte offset",
                own.leading,
                Shared { leading: 0, ..own },
                Shared { leading: own.leading / 16, ..own },
            ),
            (
                "stride dimension byte offset",
                own.stride,
                Shared { stride: 0, ..own },
                Shared { stride: own.stride / 16, ..own },
            ),
        ];
        let added = |without: Shared| linear(own).wrapping_sub(linear(without));
        let (field, value, _, sixteenth) = fields.into_iter().max_by_key(|(_, _, without, _)| added(*without))?;
        let meant = (value % 256 == 0 && value > 0 && is_inside(sixteenth)).then_some(value / 16);
        let (line, addr, section) = (self.line(line), at.into(), self.of.fields());
        Some(MatrixBounds { operand: self.operand, line, addr, size, field, value, meant, section })
    }

    /// Bytes of an atom: its lines follow each other.
    pub fn atom_bytes(&self) -> u32 {
        let lines =
            if matches!((self.descriptor.swizzle, self.major), (Swizzle::B128Atom32, Major::Mn)) { 4 } else { 8 };
        lines * self.descriptor.swizzle.width()
    }

    /// Does the leading dimension byte offset say where a piece is?
    pub fn needs_leading(&self) -> bool {
        match (self.descriptor.swizzle, self.major) {
            (Swizzle::None, Major::Mn) => self.lines.end > 8,
            (swizzle, _) => self.pieces.end * 16 > swizzle.width(),
        }
    }

    /// A line in words.
    pub fn line(&self, line: u32) -> String {
        let what = match (self.major, self.operand) {
            (Major::Mn, _) => "k =",
            (Major::K, "B") => "column",
            (Major::K, _) => "row",
        };
        format!("{what} {line}")
    }
}

/// A product of matrices whose shape a descriptor has given at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorProduct {
    /// Rows, columns and depth, those of both CTAs of a pair together. The depth counts the zeros that a sparse A leaves out.
    pub shape: [usize; 3],
    /// The type of the elements of A.
    pub element: &'static str,
    /// Whether A is sparse.
    pub sparse: bool,
}
