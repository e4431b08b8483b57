//! `mma.m8n8k4` of f16: each quarter of the warp, lanes 4 *i* to 4 *i* + 3 and the same plus 16, multiplies matrices of its own.

use super::Sources;
use crate::numerics::float16::{f16_to_f32, f32_to_f16};
use crate::numerics::lanes::{Destination, Source};
use crate::numerics::matrix::dot::{self, HIGH, Operands, Sums, WIDE, canonical};
use crate::numerics::matrix::format::Format;
use crate::numerics::matrix::model::{Model, To, least_exponent};
use crate::numerics::matrix::tile::Tile;
use crate::numerics::qual::{Q, Ty, q};
use crate::numerics::simd::InstructionSet;
use crate::semantics::matrix::arithmetic::Machine;

/// Row and column of an element of C or D in lane `l` of eight.
fn of_c(f16: bool, l: usize, i: usize) -> (usize, usize) {
    let lower = l / 4 * 4;
    if f16 { (l % 4 + lower, i) } else { ((l & 1) + (i & 2) + lower, (i & 4) + (l & 2) + (i & 1)) }
}

/// The matrices of a quarter.
struct Quad {
    a: Tile<HIGH>,
    b: Tile<WIDE>,
    /// Eight rows.
    c: [Sums; 2],
}

/// Element `i` of a lane.
fn element(registers: &[Source<'_>], half: bool, lane: usize, i: usize) -> f32 {
    let word = |r: usize| registers.get(r).map_or(0, |r| r.lane(lane)) as u32;
    if half { f16_to_f32((word(i / 2) >> (16 * (i % 2))) as u16) } else { f32::from_bits(word(i)) }
}

impl Quad {
    /// `lane(l)` is the lane of the warp that is number `l` of eight.
    fn new(q: Q, s: Sources<'_>, lane: impl Fn(usize) -> usize) -> Quad {
        let mut quad = Quad { a: Tile::new(8, 4), b: Tile::new(WIDE, 4), c: Default::default() };
        let f16 = q.ty[3] == Ty::F16;
        for l in 0..8 {
            for i in 0..4 {
                let (line, along) = (l % 4 + l / 4 * 4, i + l / 4 * 4);
                let (x, y) = (element(s.a, true, lane(l), i), element(s.b, true, lane(l), i));
                if q.has(q::a_col) {
                    quad.a.put(along, l % 4, x)
                } else {
                    quad.a.put(line, i, x)
                }
                if q.has(q::b_row) { quad.b.put(along, l % 4, y) } else { quad.b.put(line, i, y) }
            }
            for i in 0..8 {
                let (row, column) = of_c(f16, l, i);
                quad.c[row / HIGH][row % HIGH][column] = element(s.c, f16, lane(l), i);
            }
        }
        quad.a.measure(least_exponent(Format::F16));
        quad.b.measure(least_exponent(Format::F16));
        quad
    }

    /// The sums of a tensor core.
    fn fused(&self, model: Model, set: InstructionSet) -> [Sums; 2] {
        [0, 1].map(|i| dot::block(set, model, &Operands::dense(&self.a, &self.b), (i, 0), &self.c[i]))
    }

    /// Computes the sums in f32, as ptxas emulates them from `sm_80` on: C + a chain of four for f32, C + a pair + a pair for f16.
    fn emulated(&self, to: To) -> [Sums; 2] {
        let mut sums = self.c;
        for (row, c) in sums.as_flattened_mut().iter_mut().enumerate() {
            for (column, c) in c.iter_mut().enumerate() {
                let times = |k: usize, sum: f32| {
                    let (x, y) = (self.a.group(row / HIGH)[k][row % HIGH], self.b.group(0)[k][column]);
                    x.mul_add(y, sum)
                };
                // a product plus -0 is the product
                let pair = |k: usize| times(k + 1, times(k, -0.0));
                *c = canonical(if to == To::F16 {
                    *c + pair(0) + pair(2)
                } else {
                    *c + (0..4).fold(0.0, |sum, k| times(k, sum))
                });
            }
        }
        sums
    }
}

/// The product of each quarter.
pub(super) fn multiply(q: Q, s: Sources<'_>, d: &mut [Destination<'_>], Machine { target, set, .. }: Machine) {
    let f16 = q.ty[0] == Ty::F16;
    let to = if f16 { To::F16 } else { To::F32 };
    let mut words = [[0; 32]; 8];
    for quarter in 0..4 {
        let lane = |l: usize| quarter * 4 + l % 4 + l / 4 * 16;
        let quad = Quad::new(q, s, lane);
        let sums = if target < 80 { quad.fused(Model::mma(target, Format::F16, to), set) } else { quad.emulated(to) };
        for l in 0..8 {
            for i in 0..8 {
                let (row, column) = of_c(f16, l, i);
                let sum = sums[row / HIGH][row % HIGH][column];
                if f16 {
                    words[i / 2][lane(l)] |= u32::from(f32_to_f16(sum)) << (16 * (i % 2));
                } else {
                    words[i][lane(l)] = sum.to_bits();
                }
            }
        }
    }
    d.iter_mut().zip(&words).for_each(|(d, words)| d.put(words));
}
