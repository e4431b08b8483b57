//! Chains of `fma` of two loaded rows: the inner loop of matrix products. The rows of the factors are not made, and the sums stay in
//! vector registers.

use super::super::code::Instr;
use super::super::op::Op;
use super::super::registers::{AffineLine, Row, Scalar};
use super::super::runner::Runner;
use super::super::value::Value;
use super::access::{AccessKind, MemoryAccess};
use super::pieces::{LanePieces, Next};
use crate::memory::address::AddrSpace;
use crate::numerics::arith::float;
use crate::numerics::lanes::{self, Level, Word};
use crate::numerics::qual::{Q, Qualifiers, Ty, q};
use crate::numerics::simd::{InstructionSet, dispatch};
use ptx_dsl_isa::image::Register;
use std::cell::Cell;

/// A load from shared memory of what an `fma.rn.f32` multiplies, and nothing else reads.
pub(in super::super) struct Factor {
    pub access: MemoryAccess,
    pub address: Value,
    pub to: Register,
    /// The number of the instruction.
    pub at: usize,
}

/// The most products of a chain.
pub(in super::super) const CHAIN: usize = 16;

/// Instructions that add products of two factors each: the result of one is the addend of the next one.
pub(in super::super) struct Products {
    /// The factors of each product, at most [`CHAIN`].
    pub factors: Vec<[Factor; 2]>,
    /// The addend of the first product.
    pub addend: Register,
    /// The result of each product. Only the last one is read.
    pub results: Vec<Register>,
}

impl MemoryAccess {
    /// Whether the access can load a factor.
    pub fn loads_factors(&self) -> bool {
        (self.kind, self.space, self.bytes, self.count) == (AccessKind::Load, AddrSpace::SharedCta, 4, 1)
    }
}

/// The properties that corresponding factors of all products share.
struct Like {
    line: AffineLine,
    pieces: LanePieces,
    /// The distance from one piece to the next.
    distance: isize,
}

impl Products {
    /// Runs the loads and the `fma` of a region for whole warps. False, with nothing done, if a check fails.
    pub fn run(&self, r: &mut Runner<'_, '_>, body: &[Instr]) -> bool {
        r.full && r.x.set.has_rows() && super::telling(r, |r| self.run_whole(r, body))
    }

    #[inline(always)]
    fn run_whole(&self, r: &mut Runner<'_, '_>, body: &[Instr]) -> bool {
        let (Some([a, b]), Some(result)) = (self.factors.first(), self.results.last()) else { return false };
        let (Some(like_a), Some(like_b)) = (a.like(r), b.like(r)) else { return false };
        let mut places = [[0; 2]; CHAIN];
        for ([to_a, to_b], [a, b]) in places.iter_mut().zip(&self.factors) {
            let (Some(a), Some(b)) = (a.place(r, &like_a), b.place(r, &like_b)) else { return false };
            (*to_a, *to_b) = (a, b);
        }
        let lanes = like_a.pieces.lanes;
        if like_b.pieces.lanes != lanes {
            return false;
        }
        if r.x.monitor.is_on()
            && !(self.report(r, body, &like_a, (0, &places)) && self.report(r, body, &like_b, (1, &places)))
        {
            let mut factors = self.factors.iter().flat_map(|[a, b]| [(a, &like_a), (b, &like_b)]);
            if !factors.all(|(factor, like)| factor.report(r, &body[factor.at].op, like)) {
                return false;
            }
        }
        let job = Job {
            places: &places[..self.factors.len()],
            distances: [like_a.distance as u32, like_b.distance as u32],
            lanes,
            same: [like_a.pieces.step == 0, like_b.pieces.step == 0],
            memory: r.x.loads().own_shared(),
            words: &r.registers.words,
            // the addend is rows while the plan holds
            addend: r.registers.row(self.addend, r.lo),
            result: r.registers.row(*result, r.lo),
            warps: r.n,
        };
        multiply(r.x.set, &job);
        for register in self.factors.iter().flatten().map(|factor| &factor.to).chain(&self.results) {
            r.registers.set_scalar(r.lo, *register, Scalar::Rows);
        }
        true
    }
}

impl Products {
    /// Tells the monitor of the first or second factors of all products, which have places. False if it wants to see each.
    fn report(&self, r: &mut Runner<'_, '_>, body: &[Instr], like: &Like, (n, places): (usize, &[[u32; 2]])) -> bool {
        let mut others = [(0, 0); CHAIN];
        let mut plain = true;
        for ((other, factors), place) in others.iter_mut().zip(&self.factors).zip(places) {
            let op = &body[factors[n].at].op;
            plain &= !op.order.is_strong();
            *other = (op.site, place[n].wrapping_sub(places[0][n]).cast_signed());
        }
        let first = &self.factors[0][n];
        let Some(low) = first.low(r, like).filter(|_| plain) else { return false };
        let op = &body[first.at].op;
        r.x.at(op.site, op.order);
        let Some(pieces) = like.pieces.even(r.n) else { return false };
        let addr = low + like.pieces.first as u64;
        r.x.report().chain(addr, first.access.bytes, r.lo, &pieces, &others[1..self.factors.len()])
    }
}

impl Factor {
    #[inline(always)]
    fn like(&self, r: &Runner<'_, '_>) -> Option<Like> {
        let line = self.address.line(r);
        let pieces = LanePieces::new(r, &line, self.access.bytes, 32 * r.n)?;
        let Next::Distance(distance) = pieces.next else { return None };
        Some(Like { line, pieces, distance })
    }

    /// The lowest address of the factor, if its address has the same strides.
    #[inline(always)]
    fn low(&self, r: &Runner<'_, '_>, Like { line, pieces, .. }: &Like) -> Option<u64> {
        let (base, x, y) = self.address.line(r);
        let behind = base.wrapping_sub(line.0);
        let same = (x, y) == (line.1, line.2) && behind.is_multiple_of(self.access.bytes.into());
        same.then(|| pieces.low.wrapping_add(behind))
    }

    /// The offset of the factor's first element in shared memory, if its address has the same strides and the element is inside.
    #[inline(always)]
    fn place(&self, r: &Runner<'_, '_>, like: &Like) -> Option<u32> {
        let low = r.x.loads().offset_in_shared(self.low(r, like)?, like.pieces.len)?;
        Some((low + like.pieces.first) as u32)
    }

    /// Tells the monitor of the load, which has a place. False if it wants to see more.
    fn report(&self, r: &mut Runner<'_, '_>, op: &Op, like: &Like) -> bool {
        let Some(low) = self.low(r, like) else { return false };
        r.x.at(op.site, op.order);
        let told = LanePieces { low, ..like.pieces }.report(r, &self.access, false, r.n);
        r.describe_news(op);
        told
    }
}

/// The operands of a loop of products.
struct Job<'j> {
    /// The first elements of the factors of each product.
    places: &'j [[u32; 2]],
    /// The distances from one piece to the next, modulo 2^32.
    distances: [u32; 2],
    /// Lanes of a piece.
    lanes: usize,
    /// All lanes of a piece have one element of this factor.
    same: [bool; 2],
    memory: &'j [u8],
    words: &'j [Cell<Row<u32>>],
    /// The row of the first warp.
    addend: usize,
    result: usize,
    warps: usize,
}

/// Computes a job with an instruction set that has loops on rows.
#[inline(never)]
fn multiply(set: InstructionSet, job: &Job<'_>) {
    dispatch!(set, [in_pieces::<lanes::Avx512>, in_pieces::<lanes::Avx2>, in_pieces_elsewhere], (
        job: &Job<'_> = job
    ) -> ());
}

fn in_pieces_elsewhere(job: &Job<'_>) {
    if cfg!(not(target_arch = "x86_64")) {
        in_pieces::<lanes::Base>(job);
    }
}

#[inline(always)]
fn in_pieces<L: Level>(job: &Job<'_>) {
    match job.lanes {
        32 => in_pieces_of::<L, 32>(job),
        16 => in_pieces_of::<L, 16>(job),
        _ => in_pieces_of::<L, 8>(job),
    }
}

#[inline(always)]
fn in_pieces_of<L: Level, const P: usize>(job: &Job<'_>) {
    match job.same {
        [false, false] => each::<L, P, false, false>(job),
        [false, true] => each::<L, P, false, true>(job),
        [true, false] => each::<L, P, true, false>(job),
        [true, true] => each::<L, P, true, true>(job),
    }
}

/// `A`, `B`: all lanes of a piece have one element of this factor.
#[inline(always)]
fn each<L: Level, const P: usize, const A: bool, const B: bool>(job: &Job<'_>) {
    const NEAR: Q = Q::of(&const { Qualifiers::new(&[q::rn], &[Ty::F32]) });
    for k in 0..job.warps {
        let mut sums = job.words[job.addend + k].get();
        for [a, b] in job.places {
            for (p, sums) in sums.0.as_chunks_mut::<P>().0.iter_mut().enumerate() {
                let nth = (k * (32 / P) + p) as u32;
                let [to_a, to_b] = job.distances.map(|distance| distance.wrapping_mul(nth));
                let (Some(x), Some(y)) =
                    (piece::<P, A>(job.memory, a.wrapping_add(to_a)), piece::<P, B>(job.memory, b.wrapping_add(to_b)))
                else {
                    return;
                };
                for l in 0..P {
                    sums[l] = lanes::ffma::<L>(x[l], y[l], sums[l]);
                }
            }
        }
        // a NaN stays one: the canonical one is only needed at the end
        for sum in &mut sums.0 {
            *sum = float::out(NEAR, f32::from_bits(*sum)) as u32;
        }
        job.words[job.result + k].set(sums);
    }
}

/// The elements of a piece, which are inside.
#[inline(always)]
fn piece<const P: usize, const SAME: bool>(memory: &[u8], at: u32) -> Option<[u32; P]> {
    let at = at as usize;
    if SAME {
        return Some([u32::load(memory.get(at..at + 4)?); P]);
    }
    let mut lanes = [0; P];
    u32::load_row(memory.get(at..at + 4 * P)?, &mut lanes);
    Some(lanes)
}
