//! The product: blocks of rows and columns, summed in ascending k in vector registers.

use std::ops::Range;

use super::multiply::{A, COMPRESSED, Multiply};
use super::operands::{FactorRow, LUT_COLUMNS, Positions};
use crate::fault::FaultKind;
use crate::machine::tensor::{Area, TensorCta, TensorJob, Unit};
use crate::machine::undefined::{SharedOperands, UndefinedWords};
use crate::memory::tmem::{self, LANES};
use crate::numerics::float16::{f16_to_f32_scaled, f32_to_f16, rebias};
use crate::numerics::matrix::block_scale;
use crate::numerics::matrix::dot::{self, HIGH, Scales, Sums, WIDE};
use crate::numerics::matrix::model::{Model, To, least_exponent};
use crate::numerics::matrix::plain::{dense, sparse};
use crate::numerics::matrix::tile::Tile;
use crate::numerics::simd::InstructionSet;
use crate::observe::probe::layout::{DescriptorOf, SharedMatrix, TensorProduct};
use crate::semantics::matrix::gather::{bytes, gather, pieces};
use crate::semantics::tcgen05::descriptor::Major;
use crate::semantics::tcgen05::descriptor::Shared;
use crate::semantics::tcgen05::descriptor::instruction::{Accumulator, Instruction, MmaKind};

/// 1.5 * 2^23: the low bits of this plus an integer below 2^22 are that integer.
const MIDDLE: f32 = 12_582_912.0;

/// An integer below 2^22 in f32, to i32.
#[inline(always)]
fn integer(sum: f32) -> i32 {
    ((sum + MIDDLE).to_bits() as i32).wrapping_sub(MIDDLE.to_bits() as i32)
}

/// [`dense`] or [`sparse`] of integers of 11 bits and a sign: f32 is exact for a product, not for sums.
#[inline(always)]
fn exact(a: &[[f32; HIGH]], positions: Option<&[[u8; HIGH]]>, b: &[[f32; WIDE]]) -> Sums<i32> {
    // the pattern of zero is subtracted once per product at the end
    let mut sums = [[(a.len() as i32).wrapping_mul(MIDDLE.to_bits() as i32).wrapping_neg(); WIDE]; HIGH];
    let mut add = |row: usize, a: f32, b: &[f32; WIDE]| {
        for (sum, b) in sums[row].iter_mut().zip(b) {
            *sum = sum.wrapping_add((a * b + MIDDLE).to_bits() as i32);
        }
    };
    match positions {
        None => a.iter().zip(b).for_each(|(a, b)| (0..HIGH).for_each(|row| add(row, a[row], b))),
        Some(p) => a.iter().zip(p).for_each(|(a, at)| (0..HIGH).for_each(|row| add(row, a[row], &b[at[row] as usize]))),
    }
    sums
}

/// The operands of a CTA's rows of A.
struct ProductRows<'a> {
    a: &'a Tile<HIGH>,
    positions: Option<&'a [[u8; HIGH]]>,
    factors: Option<[&'a [FactorRow]; 2]>,
}

impl ProductRows<'_> {
    /// Positions of `HIGH` rows.
    fn positions(&self, row: usize) -> Option<&[[u8; HIGH]]> {
        self.positions.map(|p| &p[row * self.a.k..(row + 1) * self.a.k])
    }

    /// Sums of `HIGH` rows and `WIDE` columns, in all cases without a fast path.
    fn sums(&self, row: usize, column: usize, b: &Tile<WIDE>, vector: usize) -> Sums {
        let (a, b) = (self.a.group(row), b.group(column));
        let positions = self.positions(row);
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
            if self.form.lut {
                self.decompress(&mut b, c * each, cta)?;
                continue;
            }
            let skip = self.zero_columns.map_or(0, |z| z.shift as usize);
            gather(&mut b, c * each, cta.shared, (self.b, i.major[1], self.packing(1)), (each, skip))?;
        }
        if let Some(mask) = self.zero_columns {
            for column in (0..i.n).filter(|&c| mask.is_zero(c as u32, i.n as u32, i.m as u32)) {
                b.put_along_k(column, 0, &vec![0.0; i.k]);
            }
        }
        self.decoded(&b, "B")?;
        if self.fuses().is_some() {
            b.measure(least_exponent(i.formats[1]));
        }
        Ok(b)
    }

    /// The columns of B in a CTA, from `to` on: every index of 3 bits, low bits first, is an element of the table of its
    /// eight columns.
    fn decompress(&self, b: &mut Tile<WIDE>, to: usize, cta: &TensorCta<'_>) -> Result<(), FaultKind> {
        for column in 0..self.columns_of_b() {
            let table = self.table(cta.tmem, column / 8)?;
            let mut row = [0; COMPRESSED];
            for (i, piece) in row.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                *piece = *bytes(cta.shared, self.b.piece(Major::K, column as u32, i as u32))?;
            }
            let half = &row[self.b.half as usize * COMPRESSED / 2..][..COMPRESSED / 2];
            let mut values = [0.0; 64];
            for (eight, three) in values.chunks_exact_mut(8).zip(half.chunks_exact(3)) {
                let indices = u32::from_le_bytes([three[0], three[1], three[2], 0]);
                eight.iter_mut().enumerate().for_each(|(i, v)| *v = table[(indices >> (3 * i) & 7) as usize]);
            }
            b.put_along_k(to + column, 0, &values);
        }
        Ok(())
    }

    /// A fault if an element of `.kind::ti16` is NaN: its four reserved bits were not zero.
    fn decoded<const W: usize>(&self, tile: &Tile<W>, of: &str) -> Result<(), FaultKind> {
        if self.form.kind == MmaKind::Ti16 && tile.data.as_flattened().iter().any(|v| v.is_nan()) {
            let what = format!("an element of {of} of type s1z4m11 has a bit set from 11 to 14");
            return Err(FaultKind::undefined(what, "9.7.16.2.2", "bit 15 is the sign, bits 0 to 10 are the magnitude"));
        }
        Ok(())
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
        self.decoded(&a, "A")?;
        if i.negate[0] != i.negate[1] {
            a.negate();
        }
        if self.fuses().is_some() {
            a.measure(least_exponent(i.formats[0]));
        }
        Ok(a)
    }

    /// Computes and stores the rows of a CTA that lie in one part. `sums` gives a block, `finish` makes the new word
    /// of D.
    #[inline(always)]
    fn store<T: Copy>(
        &self,
        to: (usize, &mut TensorCta<'_>),
        part: usize,
        sums: impl Fn(usize, usize) -> Sums<T>,
        finish: impl Fn(u32, T) -> u32,
    ) {
        self.blocks(to, part, |row, column, d| {
            let sums = sums(row, column);
            for (d, sum) in d.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
                *d = finish(*d, *sum);
            }
        });
    }

    /// Calls `change` for each block of D in one part.
    #[inline(always)]
    fn blocks(
        &self,
        (c, cta): (usize, &mut TensorCta<'_>),
        part: usize,
        change: impl Fn(usize, usize, &mut Sums<u32>),
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
                let at = column + block * WIDE;
                let mut d = [[0; WIDE]; HIGH];
                for (lane, d) in lanes.iter().zip(&mut d) {
                    if let Some(words) = lane.and_then(|l| cta.tmem.lane(l).get(at..)?.first_chunk()) {
                        *d = *words;
                    }
                }
                change(group, columns.start / WIDE + block, &mut d);
                for (lane, d) in lanes.iter().zip(&d) {
                    let Some(lane) = *lane else { continue };
                    if let Some(words) = cta.tmem.lane_mut(lane).get_mut(at..).and_then(|w| w.first_chunk_mut()) {
                        *words = *d;
                    }
                }
            }
        }
    }

    /// The sums of a tensor core.
    fn fuse(
        &self,
        set: InstructionSet,
        to: (usize, &mut TensorCta<'_>),
        part: usize,
        rows: &ProductRows<'_>,
        b: &Tile<WIDE>,
    ) {
        let half = self.instruction.d == Accumulator::F16;
        let model = Model::tcgen05(if half { To::F16 } else { To::F32 });
        let factors = self.instruction.scale.zip(rows.factors).map(|(scale, all)| {
            let scale = block_scale::Scale { vector: scale.vector, format: scale.format };
            block_scale::ScaleFactors::new(scale, all.map(<[_]>::len), |side, line, i| all[side][line][i] as f32)
        });
        let scales = factors.as_ref().map(|f| Scales { vector: f.vector, a: &f.exponents[0], b: &f.exponents[1] });
        let operands = dot::Operands { a: rows.a, b, positions: rows.positions, scales };
        let (scale, rebias) = (self.scale_d, rebias(self.scale_d));
        self.blocks(to, part, |row, column, d| {
            let old = |d: u32| match (self.accumulate, half) {
                (false, _) => 0.0,
                (true, true) => f16_to_f32_scaled(d, rebias),
                (true, false) => f32::from_bits(d) * scale,
            };
            let c = d.map(|row| row.map(old));
            let sums = match &factors {
                Some(factors) if self.form.kind.is_4bit() => block_scale::block(&operands, factors, (row, column), &c),
                _ => dot::block(set, model, &operands, (row, column), &c),
            };
            *d = sums.map(|row| row.map(|v| if half { f32_to_f16(v).into() } else { v.to_bits() }));
        });
    }

    /// Computes one part of D in one CTA, with the right `finish`.
    fn part(&self, to: (usize, &mut TensorCta<'_>), part: usize, rows: &ProductRows<'_>, b: &Tile<WIDE>) {
        if let Some(set) = self.fuses() {
            return self.fuse(set, to, part, rows, b);
        }
        let scale = self.scale_d;
        let vector = self.instruction.scale.map_or(1, |s| s.vector);
        let slow: &dyn Fn(usize, usize) -> Sums = &|row, column| rows.sums(row, column, b, vector);
        let short = rows.positions.is_none() && rows.factors.is_none();
        let fast = |row: usize, column: usize| dense(rows.a.group(row), b.group(column));
        match self.instruction.d {
            Accumulator::F32 if !self.accumulate && short => self.store(to, part, fast, |_, sum| sum.to_bits()),
            Accumulator::F32 if short => {
                self.store(to, part, fast, |d, sum| (sum + f32::from_bits(d) * scale).to_bits());
            }
            Accumulator::F32 if !self.accumulate => self.store(to, part, slow, |_, sum| sum.to_bits()),
            Accumulator::F32 => self.store(to, part, slow, |d, sum| (sum + f32::from_bits(d) * scale).to_bits()),
            Accumulator::F16 if self.accumulate => {
                let factor = rebias(scale);
                let finish = |d: u32, sum: f32| u32::from(f32_to_f16(sum + f16_to_f32_scaled(d, factor)));
                if short { self.store(to, part, fast, finish) } else { self.store(to, part, slow, finish) }
            }
            Accumulator::F16 => self.store(to, part, slow, |_, sum| u32::from(f32_to_f16(sum))),
            Accumulator::S32 { saturate } => {
                let keep = if self.accumulate { u32::MAX } else { 0 };
                let wrap = |d: u32, sum: i32| (d & keep).wrapping_add(sum as u32);
                let clamp = |d: u32, sum: i32| ((d & keep) as i32).saturating_add(sum) as u32;
                let all = |row: usize, column: usize| exact(rows.a.group(row), rows.positions(row), b.group(column));
                // at most 64 products below 2^16: their sum in f32 is exact
                let small = |sums: Sums| sums.map(|row| row.map(integer));
                match (self.form.kind, saturate) {
                    (MmaKind::Ti16, _) => self.store(to, part, all, wrap),
                    (_, true) => self.store(to, part, |r, c| small(slow(r, c)), clamp),
                    (_, false) if short => self.store(to, part, |r, c| small(fast(r, c)), wrap),
                    (_, false) => self.store(to, part, |r, c| small(slow(r, c)), wrap),
                }
            }
        }
    }

    /// The ranges of the bytes that are read of the pieces of a matrix that a CTA holds in shared memory.
    fn pieces(&self, side: usize, shared: Shared) -> Vec<Range<u32>> {
        if side == 1 && self.form.lut {
            let half = shared.half * COMPRESSED as u32 / 2;
            let read =
                |p: u32| half.clamp(16 * p, 16 * p + 16)..(half + COMPRESSED as u32 / 2).clamp(16 * p, 16 * p + 16);
            let of_line = |l: u32| {
                let at = move |p: u32| (shared.piece(Major::K, l, p), read(p), 16 * p);
                (0..COMPRESSED as u32 / 16).map(at).map(|(at, r, first)| at + r.start - first..at + r.end - first)
            };
            return (0..self.columns_of_b() as u32).flat_map(of_line).filter(|r| !r.is_empty()).collect();
        }
        let used = self.packing(side).bytes();
        self.shared_matrix(side, shared).each().map(|(_, _, at)| at..at.saturating_add(used)).collect()
    }

    /// A (0) or B (1) in shared memory, unless it is compressed.
    pub(super) fn shared_matrix(&self, side: usize, descriptor: Shared) -> SharedMatrix {
        let i = &self.instruction;
        let (lines, k) = if side == 0 { (self.path.rows(), self.stored_k()) } else { (self.columns_of_b(), i.k) };
        let skip = if side == 1 { self.zero_columns.map_or(0, |z| z.shift) } else { 0 };
        let (packing, major) = (self.packing(side), i.major[side]);
        let (lines, pieces) = pieces(packing, major, lines, k);
        let (first_line, first_piece) = match major {
            Major::K => (skip, 0),
            Major::Mn => (0, skip / packing.elements() as u32),
        };
        let (lines, pieces) = (first_line..lines as u32, first_piece..pieces as u32);
        let (operand, format) = (["A", "B"][side], Some(i.formats[side]));
        SharedMatrix { operand, of: DescriptorOf::Mma, format, descriptor, major, lines, pieces }
    }

    /// Calls `each` for the matrices in shared memory, in each CTA.
    fn in_shared(&self, each: impl Fn(Vec<Range<u32>>) -> Vec<Range<u32>>) -> Vec<(usize, Range<u32>)> {
        let a = match self.a {
            A::Shared(a) => each(self.pieces(0, a)),
            A::Tmem(_) => Vec::new(),
        };
        let all = [a, each(self.pieces(1, self.b))].concat();
        (0..self.ctas()).flat_map(|cta| all.iter().map(move |r| (cta, r.clone()))).collect()
    }

    pub(super) fn ctas(&self) -> usize {
        if self.form.pair { 2 } else { 1 }
    }

    /// The lanes and columns of every CTA that an address and a width mean. `operand`: what is there.
    fn areas(
        &self,
        operand: &'static str,
        lanes: Range<usize>,
        address: u32,
        columns: usize,
    ) -> impl Iterator<Item = Area> {
        let (_, column) = tmem::split(address);
        (0..self.ctas()).map(move |cta| Area { cta, lanes: lanes.clone(), columns: column..column + columns, operand })
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

    fn work(&self) -> u64 {
        let i = &self.instruction;
        64 + (i.m * i.n * i.k / 64) as u64
    }

    fn run(&self, ctas: &mut [TensorCta<'_>]) -> Result<(), FaultKind> {
        if ctas.len() != self.ctas() {
            return Err(FaultKind::Internal(format!("a `tcgen05.mma` for {} CTAs ran on {}", self.ctas(), ctas.len())));
        }
        let (_, column) = tmem::split(self.d);
        let b = self.gather_b(ctas)?;
        for (c, cta) in ctas.iter_mut().enumerate() {
            cta.tmem.check(0..LANES, column..column + self.path.columns(self.instruction.n))?;
            let all = if self.form.sparse { 0..self.path.parts() } else { 0..0 };
            let positions: Vec<Positions> = all.map(|part| self.positions(cta.tmem, part)).collect::<Result<_, _>>()?;
            let factors = match &self.instruction.scale {
                Some(scale) => Some([self.factors(cta.tmem, scale, 0)?, self.factors(cta.tmem, scale, 1)?]),
                None => None,
            };
            // everything of A is read before D is written, should they overlap
            let parts = if self.a_in_tmem().is_some() { self.path.parts() } else { 1 };
            let a: Vec<Tile<HIGH>> = (0..parts).map(|part| self.gather_a(cta, part)).collect::<Result<_, _>>()?;
            for part in 0..self.path.parts() {
                let factors = factors.as_ref().map(|[a, b]| [&a[..], &b[..]]);
                let rows = ProductRows { a: &a[part % parts], positions: positions.get(part).map(|p| &p[..]), factors };
                self.part((c, cta), part, &rows, &b);
            }
            if let (true, Some(address)) = (self.form.ashift, self.a_in_tmem()) {
                self.shift_a(address, cta.tmem);
            }
        }
        Ok(())
    }

    fn key(&self) -> u64 {
        let shape = (self.instruction.m / 32 * 64 + self.instruction.n / 8) as u64;
        u64::from(self.d) << 32 | shape << 8 | self.form.kind as u64
    }

    fn reads(&self) -> Vec<Area> {
        let mut areas = if self.accumulate { self.writes() } else { Vec::new() };
        if let Some(a) = self.a_in_tmem() {
            areas.extend(self.areas("A", self.lanes(), a, self.a_columns()));
        }
        if let Some(scale) = &self.instruction.scale {
            for (side, address) in self.scales.into_iter().enumerate() {
                let operand = ["the scales of A", "the scales of B"][side];
                areas.extend(self.areas(operand, 0..LANES, address & 0x3fff_ffff, self.scale_columns(scale, side)));
            }
        }
        if self.form.sparse {
            let first = self.metadata.wrapping_add(self.instruction.selector as u32);
            areas.extend(self.areas("the sparsity metadata", 0..LANES, first, self.metadata_columns()));
        }
        if self.form.lut {
            let (lane, _) = tmem::split(self.lut);
            let lanes = lane..lane + self.columns_of_b().div_ceil(8);
            areas.extend(self.areas("the lookup table", lanes, self.lut, LUT_COLUMNS));
        }
        areas
    }

    fn writes(&self) -> Vec<Area> {
        let mut areas: Vec<Area> =
            self.areas("D", self.lanes(), self.d, self.path.columns(self.instruction.n)).collect();
        if let (true, Some(a)) = (self.form.ashift, self.a_in_tmem()) {
            areas.extend(self.areas("A", 0..LANES, a, self.a_columns()));
        }
        areas
    }

    fn undefined(&self, holds: &mut dyn SharedOperands) -> Vec<UndefinedWords> {
        self.undefined_sums(holds)
    }

    fn operands(&self) -> Vec<(usize, Range<u32>)> {
        self.in_shared(|pieces| {
            let first = pieces.iter().map(|p| p.start).min().unwrap_or(0);
            let last = pieces.iter().map(|p| p.end).max().unwrap_or(first);
            std::iter::once(first..last).collect()
        })
    }

    fn matrices(&self) -> Vec<SharedMatrix> {
        let a = match self.a {
            A::Shared(a) => Some(self.shared_matrix(0, a)),
            A::Tmem(_) => None,
        };
        let b = (!self.form.lut).then(|| self.shared_matrix(1, self.b));
        a.into_iter().chain(b).collect()
    }

    fn bytes(&self) -> Vec<(usize, Range<u32>)> {
        self.in_shared(|pieces| pieces)
    }

    fn product(&self) -> Option<TensorProduct> {
        let Instruction { m, n, k, formats, .. } = self.instruction;
        Some(TensorProduct { shape: [m, n, k], element: formats[0].name(), sparse: self.form.sparse })
    }
}
