//! The product that a `wgmma.mma_async` computes: a warp's 16 rows.

use super::operands::{A, WgmmaOperands};
use crate::fault::FaultKind;
use crate::numerics::accumulation::Numerics;
use crate::numerics::lanes::Destination;
use crate::numerics::matrix::dot::{self, HIGH, WIDE};
use crate::numerics::matrix::format::{Format, Packing};
use crate::numerics::matrix::fragment::{self, Cells, of_a, of_c};
use crate::numerics::matrix::model::{Model, least_exponent};
use crate::numerics::matrix::shared::{Major, Shared};
use crate::numerics::matrix::tile::Tile;
use crate::numerics::qual::{Q, Ty, q};
use crate::observe::probe::layout::{DescriptorOf, SharedMatrix};
use crate::semantics::matrix::arithmetic::{Arithmetic, Machine};
use crate::semantics::matrix::gather::{self, bytes, gather};
use crate::semantics::matrix::sparse::{Metadata, SparseElements};
use crate::semantics::mma::form;
use std::ops::Range;

/// Rows of a warp.
pub(super) const ROWS: usize = 16;
/// Bytes of a row of A.
const ROW: usize = 32;

/// Types and shape. M is 64.
#[derive(Debug, Clone, Copy)]
pub(super) struct WgmmaProduct {
    /// The formats of A and B, or `None` for single bits.
    formats: Option<[Format; 2]>,
    n: usize,
    sparse: bool,
    cells: Cells,
    integers: bool,
    saturate: bool,
}

impl WgmmaProduct {
    /// The product with this many registers of D.
    pub fn new(q: Q, sparse: bool, registers: usize) -> WgmmaProduct {
        let cells = if q.ty[0] == Ty::F16 { Cells::Half } else { Cells::Word };
        let each = if cells == Cells::Half { 2 } else { 4 };
        WgmmaProduct {
            formats: (!q.has(q::b1)).then(|| form::formats(q)),
            n: registers / each * WIDE,
            sparse,
            cells,
            integers: q.ty[0] == Ty::S32,
            saturate: q.has(q::satfinite),
        }
    }

    /// The duration of a warp's product, in other instructions.
    pub fn work(&self) -> u64 {
        128 + self.n as u64
    }

    /// Elements of a row of A in memory.
    fn stored(&self) -> usize {
        self.formats.map_or(8 * ROW, |f| 8 * ROW / f[0].bits() as usize)
    }

    fn k(&self) -> usize {
        if self.sparse { 2 * self.stored() } else { self.stored() }
    }

    /// Columns of B.
    pub fn columns(&self) -> usize {
        self.n
    }

    pub fn cells(&self) -> Cells {
        self.cells
    }

    /// Does an element that is multiplied with zero not matter, as of integers and single bits?
    pub fn has_zeros(&self) -> bool {
        self.integers
    }

    /// The number of elements of a column of B of which a sparse A selects half.
    pub fn chunk(&self) -> Option<usize> {
        let bits = self.formats.filter(|_| self.sparse)?[0].bits();
        Some(if bits == 32 { 2 } else { 4 })
    }

    pub(super) fn packing(&self, side: usize) -> Packing {
        // single bits: only the size of a piece counts
        self.formats.map_or(Packing::Bytes(Format::U8), |f| Packing::in_shared(f[side], false))
    }

    /// A and B, as far as a warp of the group reads them from shared memory.
    pub fn matrices(&self, o: &WgmmaOperands<'_>, warp: usize) -> impl Iterator<Item = SharedMatrix> {
        let matrix = |(descriptor, major): (Shared, Major), side: usize, k: usize, lines: Range<usize>| {
            let packing = self.packing(side);
            let k = if self.formats.is_none() { k / 8 } else { k };
            let (outer, inner) = gather::pieces(packing, major, lines.end, k);
            let (first_line, first_piece) = match major {
                Major::K => (lines.start, 0),
                Major::Mn => (0, lines.start / packing.elements()),
            };
            let (lines, pieces) = (first_line as u32..outer as u32, first_piece as u32..inner as u32);
            let (operand, format) = (["A", "B"][side], self.formats.map(|formats| formats[side]));
            SharedMatrix { operand, of: DescriptorOf::Wgmma, format, descriptor, major, lines, pieces }
        };
        let a = match o.a {
            A::Shared(shared, major) => Some(matrix((shared, major), 0, self.stored(), ROWS * warp..ROWS * (warp + 1))),
            A::Registers(_) => None,
        };
        a.into_iter().chain([matrix(o.b, 1, self.k(), 0..self.n)])
    }

    /// Computes D from what is in shared memory now.
    pub fn run(
        &self,
        o: &WgmmaOperands<'_>,
        metadata: Option<Metadata<'_>>,
        (shared, warp, machine): (&[u8], usize, Machine),
        d: &mut [Destination<'_>],
    ) -> Result<(), FaultKind> {
        let Some(formats) = self.formats else { return self.bits(o, (shared, warp), d) };
        let positions = match metadata {
            Some(m) => {
                let wide = formats[0].bits() >= 16;
                Some(m.positions(SparseElements::of(formats[0], false), wide, self.stored())?)
            }
            None => None,
        };
        let mut a = match o.a {
            A::Registers(registers) => fragment::a(ROWS, self.stored(), self.packing(0), registers),
            A::Shared(from, major) => {
                let mut tile = Tile::<HIGH>::new(ROWS, self.stored());
                let skip = ROWS * warp;
                gather(&mut tile, 0, shared, (from, major, self.packing(0)), (skip + ROWS, skip))?;
                tile
            }
        };
        let mut b = Tile::<WIDE>::new(self.n, self.k());
        gather(&mut b, 0, shared, (o.b.0, o.b.1, self.packing(1)), (self.n, 0))?;
        if o.negate[0] {
            a.negate();
        }
        if o.negate[1] {
            b.negate();
        }
        a.measure(least_exponent(formats[0]));
        b.measure(least_exponent(formats[1]));
        let cells = [self.cells; 2];
        let arithmetic = if self.integers {
            Arithmetic::Integers { saturate: self.saturate }
        } else if machine.numerics == Numerics::Fast {
            Arithmetic::Plain(None)
        } else {
            Arithmetic::Fused(Model::wgmma(formats[0], Arithmetic::to(cells)))
        };
        let operands = dot::Operands { a: &a, b: &b, positions: positions.as_deref(), scales: None };
        let each = d.len() * WIDE / self.n.max(1);
        for (i, d) in d.chunks_mut(each.max(1)).enumerate() {
            let c = o.c.get(i * each..(i + 1) * each).unwrap_or(&[]);
            let mut rows = self.cells.load(if o.accumulate { c } else { &[] });
            for (r, c) in rows.iter_mut().enumerate() {
                *c = arithmetic.block(machine.set, &operands, (r, i), c, cells);
            }
            self.cells.store(&rows, d);
        }
        Ok(())
    }

    /// Counts the bits of `and` of rows and columns.
    fn bits(
        &self,
        o: &WgmmaOperands<'_>,
        (shared, warp): (&[u8], usize),
        d: &mut [Destination<'_>],
    ) -> Result<(), FaultKind> {
        let line = |from: Shared, line: usize| -> Result<[u8; ROW], FaultKind> {
            let mut all = [0; ROW];
            for (i, to) in all.chunks_exact_mut(16).enumerate() {
                to.copy_from_slice(bytes(shared, from.piece(Major::K, line as u32, i as u32))?);
            }
            Ok(all)
        };
        let mut a = [[0; ROW]; ROWS];
        match o.a {
            A::Shared(from, _) => {
                for (row, to) in a.iter_mut().enumerate() {
                    *to = line(from, ROWS * warp + row)?;
                }
            }
            A::Registers(registers) => {
                for (r, lanes) in registers.iter().enumerate() {
                    for (lane, word) in lanes.words().iter().enumerate() {
                        let (row, word_of_row) = of_a(ROWS, r, lane, 1);
                        a[row][4 * word_of_row..][..4].copy_from_slice(&word.to_le_bytes());
                    }
                }
            }
        }
        let b: Vec<[u8; ROW]> = (0..self.n).map(|column| line(o.b.0, column)).collect::<Result<_, _>>()?;
        for (r, d) in d.iter_mut().enumerate() {
            for lane in 0..32 {
                let (row, column) = of_c(r % 4, lane);
                let both = a[row].iter().zip(&b[r / 4 * WIDE + column]);
                let count: u32 = both.map(|(x, y)| (x & y).count_ones()).sum();
                let c = if o.accumulate { o.c.get(r).map_or(0, |c| c.lane(lane)) as u32 } else { 0 };
                d.set(lane, c.wrapping_add(count).into());
            }
        }
        Ok(())
    }
}
