//! `fma` of two loaded rows: the inner loop of matrix products. The rows of the factors are not made.

use super::super::registers::{Row, Scalar};
use super::super::runner::Runner;
use super::super::value::Value;
use super::access::{Access, Kind};
use super::pieces::{Next, Pieces, element};
use crate::isa::arith::float;
use crate::lanes::{self, Level, Word};
use crate::mem::address::AddrSpace;
use crate::monitor::Order;
use crate::qual::{Q, Qualifiers, Ty, q};
use crate::simd::{InstructionSet, dispatch};
use ptx_dsl_isa::image::Register;
use std::cell::Cell;

/// A load from shared memory of what an `fma.rn.f32` multiplies, and nobody else reads.
pub(in super::super) struct Factor {
    pub access: Access,
    pub address: Value,
    pub to: Register,
    /// For monitors.
    pub site: u32,
    pub order: Order,
}

/// Two of them, and the `fma`.
pub(in super::super) struct Product {
    pub factors: [Factor; 2],
    pub addend: Register,
    pub result: Register,
}

impl Access {
    /// Can it load a factor?
    pub fn loads_factors(&self) -> bool {
        (self.kind, self.space, self.bytes, self.count) == (Kind::Load, AddrSpace::SharedCta, 4, 1)
    }
}

/// Where the elements of a factor are.
#[derive(Clone, Copy)]
struct Elements<'m> {
    memory: &'m [u8],
    first: usize,
    /// From one piece to the next.
    distance: isize,
    /// All lanes of a piece have one element.
    same: bool,
}

impl Product {
    /// Runs the three instructions for whole warps. False, with nothing done, if a check fails.
    pub fn run(&self, r: &mut Runner<'_, '_>) -> bool {
        r.full && r.x.set.has_rows() && super::telling(r, |r| self.run_whole(r))
    }

    #[inline(always)]
    fn run_whole(&self, r: &mut Runner<'_, '_>) -> bool {
        let [a, b] = &self.factors;
        let (Some(of_a), Some(of_b)) = (a.pieces(r), b.pieces(r)) else { return false };
        let lanes = of_a.lanes;
        if lanes != of_b.lanes || r.x.monitor.is_on() && !(a.tell(r, &of_a) && b.tell(r, &of_b)) {
            return false;
        }
        let (Some(a), Some(b)) = (a.elements(r, &of_a), b.elements(r, &of_b)) else { return false };
        // the addend is rows while the plan holds
        let rows = (r.registers.row(self.addend, r.lo), r.registers.row(self.result, r.lo), r.n);
        multiply(r.x.set, [a, b], lanes, &r.registers.words, rows);
        for register in [self.result, self.factors[0].to, self.factors[1].to] {
            r.registers.set_scalar(r.lo, register, Scalar::Rows);
        }
        true
    }
}

impl Factor {
    #[inline(always)]
    fn pieces(&self, r: &Runner<'_, '_>) -> Option<Pieces> {
        Pieces::new(r, self.address.scalar(r), self.access.bytes, 32 * r.n)
    }

    /// Tells the monitor of the load. False if it wants to see more.
    fn tell(&self, r: &mut Runner<'_, '_>, pieces: &Pieces) -> bool {
        r.x.at(self.site, self.order);
        self.elements(r, pieces).is_some() && pieces.tell(r, &self.access, false, r.n)
    }

    /// Its elements.
    #[inline(always)]
    fn elements<'r>(&self, r: &'r Runner<'_, '_>, pieces: &Pieces) -> Option<Elements<'r>> {
        let Next::Distance(distance) = pieces.next else { return None };
        let memory = r.x.bytes_at(self.access.cache, self.access.space, pieces.low, pieces.len)?;
        Some(Elements { memory, first: pieces.first, distance, same: pieces.step == 0 })
    }
}

/// The row of the addend for the first warp, that of the result, and the number of warps.
type Rows = (usize, usize, usize);

/// For an instruction set with loops on rows.
#[inline(never)]
fn multiply(set: InstructionSet, factors: [Elements<'_>; 2], lanes: usize, words: &[Cell<Row<u32>>], rows: Rows) {
    dispatch!(set, [in_pieces::<lanes::Avx512>, in_pieces::<lanes::Avx2>, in_pieces_elsewhere], (
        factors: [Elements<'_>; 2] = factors, lanes: usize = lanes, words: &[Cell<Row<u32>>] = words, rows: Rows = rows
    ) -> ());
}

fn in_pieces_elsewhere(factors: [Elements<'_>; 2], lanes: usize, words: &[Cell<Row<u32>>], rows: Rows) {
    if cfg!(not(target_arch = "x86_64")) {
        in_pieces::<lanes::Base>(factors, lanes, words, rows);
    }
}

#[inline(always)]
fn in_pieces<L: Level>(factors: [Elements<'_>; 2], lanes: usize, words: &[Cell<Row<u32>>], rows: Rows) {
    match lanes {
        32 => in_pieces_of::<L, 32>(factors, words, rows),
        16 => in_pieces_of::<L, 16>(factors, words, rows),
        _ => in_pieces_of::<L, 8>(factors, words, rows),
    }
}

#[inline(always)]
fn in_pieces_of<L: Level, const P: usize>(factors: [Elements<'_>; 2], words: &[Cell<Row<u32>>], rows: Rows) {
    match factors.map(|factor| factor.same) {
        [false, false] => each::<L, P, false, false>(factors, words, rows),
        [false, true] => each::<L, P, false, true>(factors, words, rows),
        [true, false] => each::<L, P, true, false>(factors, words, rows),
        [true, true] => each::<L, P, true, true>(factors, words, rows),
    }
}

/// `A`, `B`: all lanes of a piece have one element of this factor.
#[inline(always)]
fn each<L: Level, const P: usize, const A: bool, const B: bool>(
    [a, b]: [Elements<'_>; 2],
    words: &[Cell<Row<u32>>],
    (from, to, n): Rows,
) {
    const NEAR: Q = Q::of(&const { Qualifiers::new(&[q::rn], &[Ty::F32]) });
    let (mut at_a, mut at_b) = (a.first as isize, b.first as isize);
    for k in 0..n {
        let mut row = words[from + k].get();
        for sums in row.0.as_chunks_mut::<P>().0 {
            let (Some(x), Some(y)) = (piece::<P, A>(a.memory, at_a), piece::<P, B>(b.memory, at_b)) else { return };
            for l in 0..P {
                sums[l] = float::fma_near::<L>(NEAR, [x[l], y[l], sums[l]].map(u64::from))[0] as u32;
            }
            at_a += a.distance;
            at_b += b.distance;
        }
        words[to + k].set(row);
    }
}

/// The elements of a piece, which are inside.
#[inline(always)]
fn piece<const P: usize, const SAME: bool>(memory: &[u8], at: isize) -> Option<[u32; P]> {
    let at = at as usize;
    if SAME {
        return Some([element(memory, at); P]);
    }
    let mut lanes = [0; P];
    u32::load_row(memory.get(at..at + 4 * P)?, &mut lanes);
    Some(lanes)
}
