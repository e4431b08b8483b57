//! The multiplication itself: when the operation runs.

use std::ops::Range;

use super::operands::{A_COLUMNS, Factors};
use super::tile::{Tile, gather, pieces};
use super::{A, Multiply};
use crate::fault::FaultKind;
use crate::isa::tcgen05::descriptor::Shared;
use crate::isa::tcgen05::descriptor::instruction::Accumulator;
use crate::isa::tcgen05::format::{f16, to_f16};
use crate::machine::tensor::{Area, TensorCta, TensorJob, Unit};
use crate::mem::tmem::{self, LANES};

/// Columns of B worked on at once.
const WIDE: usize = 8;
/// Rows of A worked on at once.
const HIGH: usize = 4;

/// Sums of products: a row of A, a column of B.
type Sums = [[f32; WIDE]; HIGH];

/// Adds in ascending k. Small enough that the sums stay in vector registers.
#[inline(always)]
fn dense(a: &[[f32; HIGH]], b: &[[f32; WIDE]]) -> Sums {
    let mut sums = [[0.0; WIDE]; HIGH];
    for (a, b) in a.iter().zip(b) {
        for (sums, a) in sums.iter_mut().zip(a) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    sums
}

/// As [`dense`]; a stored element of A meets the element of B at its position.
#[inline(always)]
fn sparse(a: &[[f32; HIGH]], positions: &[[u8; HIGH]], b: &[[f32; WIDE]]) -> Sums {
    let mut sums = [[0.0; WIDE]; HIGH];
    for (a, at) in a.iter().zip(positions) {
        for row in 0..HIGH {
            let b = &b[at[row] as usize];
            for (sum, b) in sums[row].iter_mut().zip(b) {
                *sum += a[row] * b;
            }
        }
    }
    sums
}

/// What belongs to the rows of A of a CTA.
struct Rows<'a> {
    a: &'a Tile<HIGH>,
    positions: Option<&'a [[u8; HIGH]]>,
    factors: Option<[&'a [Factors]; 2]>,
}

impl Rows<'_> {
    /// Sums of `HIGH` rows and `WIDE` columns, with everything that is not on the short way.
    fn sums(&self, row: usize, column: usize, b: &Tile<WIDE>, vector: usize) -> Sums {
        let (a, b) = (self.a.group(row), b.group(column));
        let positions = self.positions.map(|p| &p[row * self.a.k..(row + 1) * self.a.k]);
        let part = |from: usize, to: usize| match positions {
            Some(p) => sparse(&a[from..to], &p[from..to], b),
            None => dense(&a[from..to], &b[from..to]),
        };
        let Some([of_a, of_b]) = self.factors else { return part(0, a.len()) };
        let mut total = [[0.0; WIDE]; HIGH];
        let block = a.len() / vector;
        for i in 0..vector {
            let sums = part(i * block, (i + 1) * block);
            for r in 0..HIGH {
                let scale_a = of_a[row * HIGH + r][i];
                for c in 0..WIDE {
                    total[r][c] += (f64::from(sums[r][c]) * scale_a * of_b[column * WIDE + c][i]) as f32;
                }
            }
        }
        total
    }
}

impl Multiply {
    /// B, of both CTAs.
    fn gather_b(&self, ctas: &[TensorCta<'_>]) -> Result<Tile<WIDE>, FaultKind> {
        let i = &self.instruction;
        let mut b = Tile::new(i.n, i.k);
        let each = self.columns_of_b();
        for (c, cta) in ctas.iter().enumerate() {
            let skip = self.zero_columns.map_or(0, |z| z.shift as usize);
            gather(&mut b, c * each, cta.shared, (self.b, i.major[1], self.packing(1)), (each, skip))?;
        }
        if let Some(mask) = self.zero_columns {
            for column in (0..i.n).filter(|&c| mask.is_zero(c as u32, i.n as u32, i.m as u32)) {
                b.put_along_k(column, 0, &vec![0.0; i.k]);
            }
        }
        Ok(b)
    }

    /// Rows of A of a CTA, for one of the parts of the accumulator.
    fn gather_a(&self, cta: &TensorCta<'_>, part: usize) -> Result<Tile<HIGH>, FaultKind> {
        let i = &self.instruction;
        let mut a = match self.a {
            A::Tmem(address) => self.a_of_part(address, cta.tmem, part)?,
            A::Shared(from) => {
                let rows = self.path.rows();
                let mut a = Tile::new(rows, self.stored_k());
                gather(&mut a, 0, cta.shared, (from, i.major[0], self.packing(0)), (rows, 0))?;
                a
            }
        };
        if i.negate[0] != i.negate[1] {
            a.negate();
        }
        Ok(a)
    }

    /// Computes and stores the rows of a CTA that lie in one part. `sums` gives a block, `finish` makes the new word
    /// of D.
    #[inline(always)]
    fn store(
        &self,
        (c, cta): (usize, &mut TensorCta<'_>),
        part: usize,
        sums: impl Fn(usize, usize) -> Sums,
        finish: impl Fn(u32, f32) -> u32,
    ) {
        let (base, column) = tmem::split(self.d);
        let (rows, n) = (self.path.rows(), self.instruction.n);
        for group in 0..rows / HIGH {
            let mut lanes = [None; HIGH];
            let mut columns = 0..0;
            for (r, lane) in lanes.iter_mut().enumerate() {
                if let Some(piece) = self.path.pieces(group * HIGH + r, n, base).nth(part) {
                    *lane = Some(piece.lane).filter(|&lane| self.disabled[c] >> lane & 1 == 0);
                    columns = piece.n;
                }
            }
            for block in 0..columns.len() / WIDE {
                let sums = sums(group, columns.start / WIDE + block);
                for (lane, sums) in lanes.iter().zip(&sums) {
                    let Some(lane) = *lane else { continue };
                    let at = column + block * WIDE;
                    if let Some(d) = cta.tmem.lane_mut(lane).get_mut(at..at + WIDE) {
                        for (d, sum) in d.iter_mut().zip(sums) {
                            *d = finish(*d, *sum);
                        }
                    }
                }
            }
        }
    }

    /// One CTA, one part, with the right `finish`.
    fn part(&self, to: (usize, &mut TensorCta<'_>), part: usize, rows: &Rows<'_>, b: &Tile<WIDE>) {
        let scale = self.scale_d;
        let slow: &dyn Fn(usize, usize) -> Sums = &|row, column| rows.sums(row, column, b, self.form.vector.max(1));
        let short = rows.positions.is_none() && rows.factors.is_none();
        let fast = |row: usize, column: usize| dense(rows.a.group(row), b.group(column));
        match self.instruction.d {
            Accumulator::F32 if !self.accumulate && short => self.store(to, part, fast, |_, sum| sum.to_bits()),
            Accumulator::F32 if short => {
                self.store(to, part, fast, |d, sum| (sum + f32::from_bits(d) * scale).to_bits());
            }
            Accumulator::F32 if !self.accumulate => self.store(to, part, slow, |_, sum| sum.to_bits()),
            Accumulator::F32 => self.store(to, part, slow, |d, sum| (sum + f32::from_bits(d) * scale).to_bits()),
            Accumulator::F16 => {
                let accumulate = self.accumulate;
                let finish = |d: u32, sum: f32| {
                    let old = f16(d as u16) * scale;
                    u32::from(to_f16(if accumulate { sum + old } else { sum }))
                };
                if short { self.store(to, part, fast, finish) } else { self.store(to, part, slow, finish) }
            }
            // at most 64 products below 2^16: the sum in f32 is exact
            Accumulator::S32 { saturate } => self.store(to, part, slow, |d, sum| {
                let (old, sum) = (if self.accumulate { d as i32 } else { 0 }, sum as i32);
                (if saturate { old.saturating_add(sum) } else { old.wrapping_add(sum) }) as u32
            }),
        }
    }

    /// Bytes of shared memory from the first to the last piece of a matrix.
    fn span(&self, side: usize, shared: &Shared) -> Range<u32> {
        let i = &self.instruction;
        let (lines, k) = if side == 0 { (self.path.rows(), self.stored_k()) } else { (self.columns_of_b(), i.k) };
        let (outer, inner) = pieces(self.packing(side), i.major[side], lines, k);
        let at = |o: usize, p: usize| shared.piece(i.major[side], o as u32, p as u32);
        let all = (0..outer).flat_map(|o| (0..inner).map(move |p| at(o, p)));
        let (first, last) = all.fold((u32::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
        first..last.saturating_add(16)
    }

    fn ctas(&self) -> usize {
        if self.form.pair { 2 } else { 1 }
    }

    /// The lanes and columns of every CTA that an address and a width mean.
    fn areas(&self, lanes: Range<usize>, address: u32, columns: usize) -> impl Iterator<Item = Area> {
        let (_, column) = tmem::split(address);
        (0..self.ctas()).map(move |cta| Area { cta, lanes: lanes.clone(), columns: column..column + columns })
    }

    /// Lanes of D and A, from the first to the last.
    fn lanes(&self) -> Range<usize> {
        let (base, _) = tmem::split(self.d);
        let (_, last) = self.path.row(self.path.rows() - 1, base);
        if self.path.parts() > 1 { 0..LANES } else { base..last + 1 }
    }
}

impl TensorJob for Multiply {
    fn unit(&self) -> Unit {
        Unit::Mma
    }

    fn run(&self, ctas: &mut [TensorCta<'_>]) -> Result<(), FaultKind> {
        if ctas.len() != self.ctas() {
            return Err(FaultKind::Internal(format!("a `tcgen05.mma` for {} CTAs ran on {}", self.ctas(), ctas.len())));
        }
        let (_, column) = tmem::split(self.d);
        let b = self.gather_b(ctas)?;
        for (c, cta) in ctas.iter_mut().enumerate() {
            cta.tmem.check(0..LANES, column..column + self.path.columns(self.instruction.n))?;
            let positions = if self.form.sparse { Some(self.positions(cta.tmem)?) } else { None };
            let factors = match &self.instruction.scale {
                Some(scale) => Some([self.factors(cta.tmem, scale, 0)?, self.factors(cta.tmem, scale, 1)?]),
                None => None,
            };
            // everything of A is read before D is written, should they overlap
            let parts = if self.a_in_tmem().is_some() { self.path.parts() } else { 1 };
            let a: Vec<Tile<HIGH>> = (0..parts).map(|part| self.gather_a(cta, part)).collect::<Result<_, _>>()?;
            for part in 0..self.path.parts() {
                let factors = factors.as_ref().map(|[a, b]| [&a[..], &b[..]]);
                let rows = Rows { a: &a[part % parts], positions: positions.as_deref(), factors };
                self.part((c, cta), part, &rows, &b);
            }
        }
        Ok(())
    }

    fn pipeline(&self) -> u64 {
        let shape = (self.instruction.m / 32 * 64 + self.instruction.n / 8) as u64;
        u64::from(self.d) << 32 | shape << 8 | self.form.kind as u64
    }

    fn reads(&self) -> Vec<Area> {
        let mut areas = if self.accumulate { self.writes() } else { Vec::new() };
        if let Some(a) = self.a_in_tmem() {
            areas.extend(self.areas(self.lanes(), a, A_COLUMNS));
        }
        if self.instruction.scale.is_some() {
            let lines = [self.path.rows(), self.instruction.n / self.path.parts()];
            for (address, lines) in self.scales.into_iter().zip(lines) {
                areas.extend(self.areas(0..LANES, address & 0x3fff_ffff, lines.div_ceil(32)));
            }
        }
        if self.form.sparse {
            areas.extend(self.areas(0..LANES, self.metadata, self.metadata_columns()));
        }
        areas
    }

    fn writes(&self) -> Vec<Area> {
        self.areas(self.lanes(), self.d, self.path.columns(self.instruction.n)).collect()
    }

    fn operands(&self) -> Vec<(usize, Range<u32>)> {
        let mut spans = Vec::new();
        for cta in 0..self.ctas() {
            if let A::Shared(a) = &self.a {
                spans.push((cta, self.span(0, a)));
            }
            spans.push((cta, self.span(1, &self.b)));
        }
        spans
    }
}
