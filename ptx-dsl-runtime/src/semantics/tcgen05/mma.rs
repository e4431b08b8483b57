//! `tcgen05.mma`, `.mma.sp`, `.mma.ws`, `.mma.ws.sp` (PTX ISA 9.7.16.10.9).
//!
//! What an instruction computes: by default the fused sums of `isa::matrix::dot`, all K at once, with D as one more term;
//! for 4-bit kinds those of `isa::matrix::block_scale`. With `Numerics::Fast` every product of an element of A and one of B is rounded to f32, and the
//! products of an element of D are added in f32 in ascending order of k, from zero. With block scaling that is done
//! block by block; each sum is multiplied by both scale factors, rounded to f32 once, and these are added in
//! ascending order. Last comes D, if it is read, times 2^-scale-input-d. A D of type f16 is rounded from that f32.
//! `.kind::i8` and `::ti16` are exact before D is added, and D wraps or saturates. (The manual leaves order and precision
//! open.)
//!
//! Collector buffers are caches: a matrix that an operation takes from one is the matrix in memory. So a buffer must hold it.

mod collector;
mod multiply;
mod operands;
mod product;
mod undefined;

use crate::fault::Fault;
use crate::machine::Ctx;
use crate::numerics::accumulation::Numerics;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::Q;
use crate::semantics::active;
use crate::semantics::tcgen05::descriptor::instruction::Generation;
use crate::semantics::tcgen05::mma::multiply::Multiply;

/// Issues the instruction for every active lane; one thread should.
fn issue(x: &mut Ctx<'_>, q: Q, sparse: bool, ws: bool, s: &[&Lanes]) -> Result<(), Box<Fault>> {
    let target = Generation::of(x.geometry.info.target);
    for lane in active(x.mask) {
        let values: Vec<u64> = s.iter().map(|v| v[lane]).collect();
        let mut job = Multiply::new(q, sparse, ws, target, &values).map_err(|kind| x.fault(kind, lane as u32))?;
        job.exact = (x.geometry.numerics == Numerics::Exact).then_some(x.set);
        collector::collect(x, q, &job, [values[1], values[2]], lane as u32)?;
        x.tensor().issue(job.form.pair, lane as u32, Box::new(job))?;
    }
    Ok(())
}

/// `tcgen05.mma`: D, A, B, instruction descriptor, then disable-output-lane, enable-input-d and scale-input-d, or with
/// `.block_scale` the scale factors of A and B and enable-input-d.
pub fn tcgen05_mma(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Result<(), Box<Fault>> {
    issue(x, q, false, false, s)
}

/// `tcgen05.mma.sp`: as [`tcgen05_mma`], the sparsity metadata after B.
pub fn tcgen05_mma_sp(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Result<(), Box<Fault>> {
    issue(x, q, true, false, s)
}

/// `tcgen05.mma.ws`: D, A, B, instruction descriptor, enable-input-d, zero-column mask.
pub fn tcgen05_mma_ws(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Result<(), Box<Fault>> {
    issue(x, q, false, true, s)
}

/// `tcgen05.mma.ws.sp`: as [`tcgen05_mma_ws`], the sparsity metadata after B.
pub fn tcgen05_mma_ws_sp(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Result<(), Box<Fault>> {
    issue(x, q, true, true, s)
}

semantics! {
    warp "tcgen05.mma" => tcgen05_mma,
    warp "tcgen05.mma.sp" => tcgen05_mma_sp,
    warp "tcgen05.mma.ws" => tcgen05_mma_ws,
    warp "tcgen05.mma.ws.sp" => tcgen05_mma_ws_sp,
}

#[cfg(test)]
mod tests;
