//! Fragments: which lane of a warp has which elements of a matrix, in which register (PTX ISA 9.7.14.5).
//!
//! Lane *l* is number *t* = *l* mod 4 of group *g* = *l* / 4. A register has `per` elements side by side. Registers of an A of 16 rows
//! alternate between rows *g* and *g* + 8.

use super::dot::{HIGH, Sums, WIDE};
use super::format::{Format, Packing, register};
use super::tile::Tile;
use crate::numerics::float16::{bf16_to_f32, f16_to_f32, f32_to_f16};
use crate::numerics::lanes::Words;
use crate::numerics::lanes::{Destination, Source};

/// Row and first k of a register of A.
pub(crate) fn of_a(rows: usize, register: usize, lane: usize, per: usize) -> (usize, usize) {
    let (g, t) = (lane / 4, lane % 4);
    if rows == 8 { (g, (4 * register + t) * per) } else { (g + register % 2 * 8, (register / 2 * 4 + t) * per) }
}

/// Column and first k of a register of B.
pub(crate) fn of_b(register: usize, lane: usize, per: usize) -> (usize, usize) {
    (lane / 4, (4 * register + lane % 4) * per)
}

/// Row and column of an element of C or D.
pub(crate) fn of_c(element: usize, lane: usize) -> (usize, usize) {
    (lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2)
}

/// Elements of the registers of a warp, the lowest of each first.
type FragmentElements = [[f32; 32]; 8];

/// Decodes a register; returns how many elements it has.
fn decode(packing: Packing, words: &Words, all: &mut FragmentElements) -> usize {
    let [low, high, ..] = all;
    match packing {
        // by far the most frequent ones: loops that are vectorised
        Packing::Wide(Format::F16) => {
            for ((low, high), word) in low.iter_mut().zip(high).zip(words) {
                (*low, *high) = (f16_to_f32(*word as u16), f16_to_f32((*word >> 16) as u16));
            }
            2
        }
        Packing::Wide(Format::Bf16) => {
            for ((low, high), word) in low.iter_mut().zip(high).zip(words) {
                (*low, *high) = (bf16_to_f32(*word as u16), bf16_to_f32((*word >> 16) as u16));
            }
            2
        }
        _ => {
            let mut per = 0;
            for (lane, word) in words.iter().enumerate() {
                let values;
                (values, per) = register(packing, *word);
                all.iter_mut().zip(&values[..per]).for_each(|(all, value)| all[lane] = *value);
            }
            per
        }
    }
}

/// Puts the eight lines of a register into a tile, from a line and a k on.
#[inline(always)]
fn put<const W: usize>(tile: &mut Tile<W>, (line, k): (usize, usize), values: &FragmentElements, per: usize) {
    for group in 0..8 / W {
        let first = (line / W + group) * tile.k + k;
        for (at, to) in tile.data[first..first + 4 * per].iter_mut().enumerate() {
            let (t, i) = (at / per, at % per);
            *to = std::array::from_fn(|w| values[i][4 * (group * W + w) + t]);
        }
    }
}

/// A matrix A of this many rows (8 or 16) from the registers of a warp.
pub(crate) fn a(rows: usize, k: usize, packing: Packing, registers: &[Source<'_>]) -> Tile<HIGH> {
    let (mut tile, mut values) = (Tile::new(rows, k), [[0.0; 32]; 8]);
    for (r, register) in registers.iter().enumerate() {
        let per = decode(packing, &register.words(), &mut values);
        put(&mut tile, of_a(rows, r, 0, per), &values, per);
    }
    tile
}

/// A matrix B of eight columns.
pub(crate) fn b(k: usize, packing: Packing, registers: &[Source<'_>]) -> Tile<WIDE> {
    let (mut tile, mut values) = (Tile::new(WIDE, k), [[0.0; 32]; 8]);
    for (r, register) in registers.iter().enumerate() {
        let per = decode(packing, &register.words(), &mut values);
        put(&mut tile, of_b(r, 0, per), &values, per);
    }
    tile
}

/// The bits of an accumulator of at most 16 rows and eight columns, `HIGH` rows in each element.
pub(crate) type FragmentRows = [Sums<u32>; 4];

/// The packing of an accumulator's elements in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cells {
    /// One element in each register.
    Word,
    /// Two elements in each register.
    Half,
}

impl Cells {
    fn per(self) -> usize {
        match self {
            Cells::Word => 1,
            Cells::Half => 2,
        }
    }

    /// C.
    pub fn load(self, registers: &[Source<'_>]) -> FragmentRows {
        let mut rows = [[[0; WIDE]; HIGH]; 4];
        let mask = if self == Cells::Word { u32::MAX } else { 0xffff };
        for (r, register) in registers.iter().enumerate() {
            for (lane, word) in register.words().iter().enumerate() {
                for i in 0..self.per() {
                    let (row, column) = of_c(r * self.per() + i, lane);
                    rows[row / HIGH % 4][row % HIGH][column] = word >> (16 * i) & mask;
                }
            }
        }
        rows
    }

    /// Stores D.
    pub fn store(self, rows: &FragmentRows, registers: &mut [Destination<'_>]) {
        for (r, to) in registers.iter_mut().enumerate() {
            let mut words = [0; 32];
            for (lane, word) in words.iter_mut().enumerate() {
                for i in 0..self.per() {
                    let (row, column) = of_c(r * self.per() + i, lane);
                    *word |= rows[row / HIGH % 4][row % HIGH][column] << (16 * i);
                }
            }
            to.put(&words);
        }
    }

    /// C of floating-point numbers.
    #[inline(always)]
    pub fn floats(self, bits: &Sums<u32>) -> Sums {
        bits.map(|row| row.map(|x| if self == Cells::Word { f32::from_bits(x) } else { f16_to_f32(x as u16) }))
    }

    /// The bits of D.
    #[inline(always)]
    pub fn bits(self, sums: &Sums) -> Sums<u32> {
        sums.map(|row| row.map(|v| if self == Cells::Word { v.to_bits() } else { f32_to_f16(v).into() }))
    }
}
