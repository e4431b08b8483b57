//! Layouts as data: the register fragments of `tcgen05.ld` and `tcgen05.st` (PTX ISA 9.7.16.2.3.1), and the data-path layouts of
//! the accumulators of `tcgen05.mma` (9.7.16.10.5).

use std::ops::Range;

use crate::numerics::qual::{Q, q};

/// A distance in Tensor Memory: rows (lanes), columns.
type TmemStep = (usize, usize);

/// The data-movement shape of `tcgen05.ld` and `tcgen05.st`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveShape {
    /// `.32x32b`
    S32x32b,
    /// `.16x64b`
    S16x64b,
    /// `.16x128b`
    S16x128b,
    /// `.16x256b`
    S16x256b,
    /// `.16x32bx2`
    S16x32bx2,
}

/// The map from a piece of Tensor Memory to the registers of a warp: a linear layout. Each bit of the lane and of the register
/// index adds a step; the sum of the steps is the cell that a register holds.
#[derive(Debug, Clone, Copy)]
pub struct Fragment {
    /// The name of the shape in PTX.
    pub name: &'static str,
    /// Rows of Tensor Memory.
    pub rows: usize,
    /// Columns of one repetition; `.x4` has four repetitions, side by side.
    pub columns: usize,
    /// TmemStep of each bit of the lane in its warp, lowest first.
    lane: [TmemStep; 5],
    /// TmemStep of each bit of the register index within a repetition, lowest first.
    register: &'static [TmemStep],
    /// The highest bit of the lane chooses between two pieces of columns, `immHalfSplitoff` apart.
    pub split: bool,
}

const FRAGMENTS: [Fragment; 5] = [
    Fragment {
        name: ".32x32b",
        rows: 32,
        columns: 1,
        lane: [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)],
        register: &[],
        split: false,
    },
    Fragment {
        name: ".16x64b",
        rows: 16,
        columns: 2,
        lane: [(8, 0), (0, 1), (1, 0), (2, 0), (4, 0)],
        register: &[],
        split: false,
    },
    Fragment {
        name: ".16x128b",
        rows: 16,
        columns: 4,
        lane: [(0, 1), (0, 2), (1, 0), (2, 0), (4, 0)],
        register: &[(8, 0)],
        split: false,
    },
    Fragment {
        name: ".16x256b",
        rows: 16,
        columns: 8,
        lane: [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)],
        register: &[(0, 1), (8, 0)],
        split: false,
    },
    Fragment {
        name: ".16x32bx2",
        rows: 16,
        columns: 1,
        lane: [(1, 0), (2, 0), (4, 0), (8, 0), (0, 0)],
        register: &[],
        split: true,
    },
];

/// The cell that a register of a lane holds, relative to the address of the instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Row.
    pub row: usize,
    /// Column, in its piece.
    pub column: usize,
    /// Whether the cell is in the second piece of columns (`.16x32bx2`).
    pub second: bool,
}

impl MoveShape {
    /// The shape an instruction names.
    pub const fn of(q: Q) -> MoveShape {
        if q.has(q::_16x64b) {
            MoveShape::S16x64b
        } else if q.has(q::_16x128b) {
            MoveShape::S16x128b
        } else if q.has(q::_16x256b) {
            MoveShape::S16x256b
        } else if q.has(q::_16x32bx2) {
            MoveShape::S16x32bx2
        } else {
            MoveShape::S32x32b
        }
    }

    /// The layout of the shape.
    pub const fn fragment(self) -> &'static Fragment {
        &FRAGMENTS[self as usize]
    }
}

impl Fragment {
    /// Registers of a lane in one repetition.
    pub const fn registers(&self) -> usize {
        1 << self.register.len()
    }

    /// Columns of each piece that `registers` registers of a lane span.
    pub const fn span(&self, registers: usize) -> usize {
        registers / self.registers() * self.columns
    }

    /// The cell of register `register` of lane `lane`.
    pub fn cell(&self, lane: usize, register: usize) -> Cell {
        let (within, repetition) = (register % self.registers(), register / self.registers());
        let taken = |bits: usize, steps: &[TmemStep]| {
            let steps = steps.iter().enumerate().filter(|(i, _)| bits >> i & 1 != 0);
            steps.fold((0, 0), |(r, c), (_, s)| (r + s.0, c + s.1))
        };
        let (a, b) = (taken(lane, &self.lane), taken(within, self.register));
        Cell {
            row: a.0 + b.0,
            column: a.1 + b.1 + repetition * self.columns,
            second: self.split && lane >> (self.lane.len() - 1) & 1 != 0,
        }
    }
}

/// The layout of the accumulator of a `tcgen05.mma` in Tensor Memory: A to G of the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPath {
    /// M = 256, `.cta_group::2`: 4x1.
    A,
    /// M = 128, `.cta_group::2`, dense: 2x2.
    B,
    /// M = 128, `.cta_group::2`, sparse: 4x1, half of the data path.
    C,
    /// M = 128, `.cta_group::1`: 4x1.
    D,
    /// M = 64, `.ws`: 2x2.
    E,
    /// M = 64, not `.ws`: 4x1, half of the data path.
    F,
    /// M = 32, `.ws`: 1x4.
    G,
}

/// The parameters of a data path.
#[derive(Debug, Clone, Copy)]
struct Organization {
    /// Rows of the matrix in each CTA.
    rows: usize,
    /// Length of a run of rows in consecutive lanes.
    run: usize,
    /// Distance between the starts of runs, in lanes.
    step: usize,
    /// Number of parts that the columns of the matrix are split into.
    parts: usize,
    /// Distance of the parts, in lanes.
    below: usize,
    /// Alignment of the address's lane.
    align: usize,
    /// The highest lane of an address.
    last: usize,
}

const ORGANIZATIONS: [Organization; 7] = [
    Organization { rows: 128, run: 128, step: 128, parts: 1, below: 0, align: 128, last: 0 },
    Organization { rows: 64, run: 64, step: 64, parts: 2, below: 64, align: 128, last: 0 },
    Organization { rows: 64, run: 16, step: 32, parts: 1, below: 0, align: 16, last: 16 },
    Organization { rows: 128, run: 128, step: 128, parts: 1, below: 0, align: 128, last: 0 },
    Organization { rows: 64, run: 64, step: 64, parts: 2, below: 64, align: 128, last: 0 },
    Organization { rows: 64, run: 16, step: 32, parts: 1, below: 0, align: 16, last: 16 },
    Organization { rows: 32, run: 32, step: 32, parts: 4, below: 32, align: 128, last: 0 },
];

/// A piece of a row of the accumulator: columns that lie side by side in one lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutPiece {
    /// 0 for the executing CTA; with `.cta_group::2` 0 is the even CTA of the pair, 1 the odd one.
    pub cta: usize,
    /// Lane, with the one of the address added.
    pub lane: usize,
    /// Columns of the matrix. They start at the column of the address, whichever piece it is.
    pub n: Range<usize>,
}

impl DataPath {
    /// The layout of an `M` x N accumulator, if there is one.
    pub const fn of(m: usize, pair: bool, sparse: bool, ws: bool) -> Option<DataPath> {
        match (m, pair, ws) {
            (256, true, false) => Some(DataPath::A),
            (128, true, false) => Some(if sparse { DataPath::C } else { DataPath::B }),
            (128, false, _) => Some(DataPath::D),
            (64, false, true) => Some(DataPath::E),
            (64, false, false) => Some(DataPath::F),
            (32, false, true) => Some(DataPath::G),
            _ => None,
        }
    }

    const fn organization(self) -> &'static Organization {
        &ORGANIZATIONS[self as usize]
    }

    /// May the address of the accumulator name this lane?
    pub const fn starts_at(self, lane: usize) -> bool {
        let o = self.organization();
        lane.is_multiple_of(o.align) && lane <= o.last
    }

    /// Rows of the matrix that each CTA holds.
    pub const fn rows(self) -> usize {
        self.organization().rows
    }

    /// Number of parts that the columns of a row are split into.
    pub const fn parts(self) -> usize {
        self.organization().parts
    }

    /// Columns of Tensor Memory that an accumulator of `n` columns takes.
    pub const fn columns(self, n: usize) -> usize {
        n / self.parts()
    }

    /// CTA and lane of the first part of row `m`, for an address at lane `base`.
    #[inline(always)]
    pub const fn row(self, m: usize, base: usize) -> (usize, usize) {
        let o = self.organization();
        let within = m % o.rows;
        (m / o.rows, base + within / o.run * o.step + within % o.run)
    }

    /// Row `m` of `n` columns, piece after piece, for an address at lane `base`. Element `i` of a piece is at column `i` after
    /// that of the address.
    #[inline(always)]
    pub fn pieces(self, m: usize, n: usize, base: usize) -> impl Iterator<Item = LayoutPiece> {
        let o = self.organization();
        let (cta, lane) = self.row(m, base);
        let width = n / o.parts;
        (0..o.parts).map(move |p| LayoutPiece { cta, lane: lane + p * o.below, n: p * width..(p + 1) * width })
    }

    /// CTA, lane and column (relative to the address) of element (`m`, `n`) of a matrix of `columns` columns.
    pub const fn element(self, m: usize, n: usize, columns: usize, base: usize) -> (usize, usize, usize) {
        let o = self.organization();
        let width = columns / o.parts;
        let (cta, lane) = self.row(m, base);
        if width == 0 {
            return (cta, lane, n);
        }
        (cta, lane + n / width * o.below, n % width)
    }
}

#[cfg(test)]
pub(super) mod tests;
