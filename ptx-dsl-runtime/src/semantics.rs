//! Instruction semantics: one function per opcode, in files named like the table's families.
//!
//! Arithmetic works on one lane and is total ([`arith`], [`compare`], [`logic`], [`cvt`]). The rest works on the active
//! lanes of a warp: sources and destinations are lane vectors in the order of the form's operands, vectors flattened,
//! `.b128` as low and high half; undefined behaviour is a [`Fault`]. Those that may wait return
//! [`Flow`].

/// Says which opcodes have their semantics in a file, each with its function: the constant `SEMANTICS` and the function `calls`.
/// What the table does not have, and a function that is not there, do not compile. A function of one lane says how many values it
/// may take.
macro_rules! semantics {
    ($($kind:ident $opcode:literal => $function:ident $([$($n:literal)|+])?,)*) => {
        /// The opcodes whose semantics are in this file, each with the name of its function.
        pub const SEMANTICS: &[(ptx_dsl_isa::opcode::Opcode, &str)] =
            &[$((ptx_dsl_isa::opcode::Opcode::of($opcode), stringify!($function)),)*];

        /// The opcodes with their functions, for the interpreter.
        pub(crate) fn calls() -> Vec<(ptx_dsl_isa::opcode::Opcode, $crate::semantics::Call)> {
            vec![$((
                ptx_dsl_isa::opcode::Opcode::of($opcode),
                $crate::semantics::call!($kind $function $([$($n)|+])?),
            ),)*]
        }
    };
}

/// A function of an instruction as a [`Call`].
macro_rules! call {
    (lane $function:ident [$($n:literal)|+]) => {
        $crate::semantics::Call::Lane(|q, s| match s.len() {
            $($n => $crate::semantics::two_words(&$function(q, $crate::semantics::operands::<$n>(s))),)+
            _ => [0; 2],
        })
    };
    (warp $function:ident) => { $crate::semantics::Call::Warp($function) };
    (block $function:ident) => { $crate::semantics::Call::Block($function) };
    (registers $function:ident) => { $crate::semantics::Call::Registers($function) };
}
pub(crate) use call;

/// The operands of a function of one lane.
fn operands<const N: usize>(s: &[u64]) -> [u64; N] {
    let mut all = [0; N];
    all.iter_mut().zip(s).for_each(|(to, from)| *to = *from);
    all
}

/// The results of a function of one lane: one or two.
fn two_words(results: &[u64]) -> [u64; 2] {
    [results.first().copied().unwrap_or(0), results.get(1).copied().unwrap_or(0)]
}

/// Computes one lane: operands to results.
pub(crate) type Lane = fn(Q, &[u64]) -> [u64; 2];

/// The function that implements an instruction.
pub(crate) enum Call {
    /// A function of one lane.
    Lane(Lane),
    /// A function of the active lanes of a warp: sources, destinations.
    Warp(OnWarp<()>),
    /// A function of the active lanes of a warp, which may wait.
    Block(OnWarp<crate::kernel::Flow>),
    /// A function like `Block`, on registers of their own width.
    Registers(OnRegisters),
}

/// A function of sources and destinations, for the active lanes of a warp.
pub(crate) type OnWarp<R> = fn(&mut Ctx<'_>, Q, &[&Lanes], &mut [&mut Lanes]) -> Result<R, Box<Fault>>;

/// A function of registers in their own width.
pub(crate) type OnRegisters =
    fn(&mut Ctx<'_>, Q, &[Source<'_>], &mut [Destination<'_>]) -> Result<crate::kernel::Flow, Box<Fault>>;

pub mod address;
pub mod arith;
pub mod async_copy;
pub mod async_store;
pub mod atom;
pub mod bar;
pub mod bulk;
pub mod clusterlaunchcontrol;
pub mod compare;
pub mod control_flow;
pub mod cvt;
pub mod fence;
pub mod ld_st;
pub mod ldmatrix;
pub mod list;
pub mod logic;
pub(crate) mod matrix;
pub mod mbarrier;
pub mod misc;
pub mod mma;
pub mod multimem;
pub mod prefetch;
pub mod sreg;
pub mod system;
pub mod tcgen05;
pub mod tensor;
pub mod video;
pub mod warp;
pub mod wgmma;
pub mod wmma;

#[cfg(test)]
mod tests;

use crate::fault::{Fault, FaultKind};
use crate::kernel::Flow;
use crate::machine::Ctx;
pub use crate::memory::address::space;
use crate::memory::address::{AddrSpace, Place, resolve};
use crate::numerics::lanes::Lanes;
use crate::numerics::lanes::{Destination, Source};
use crate::numerics::qual::Q;

/// The outcome of an instruction that cannot wait.
pub(crate) type Done = Result<(), Box<Fault>>;

/// The outcome of a blocking instruction.
pub(crate) type Blocks = Result<Flow, Box<Fault>>;

/// The lanes of a mask, lowest first.
#[inline(always)]
fn active(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The place that an address means to the executing CTA.
fn place(x: &Ctx<'_>, space: AddrSpace, addr: u64, lane: usize) -> Result<Place, Box<Fault>> {
    resolve(space, addr, x.rank()).map_err(|kind| x.fault(kind, lane as u32))
}

/// The place in shared memory of an object aligned to `align`.
fn shared_object(
    x: &Ctx<'_>,
    space: AddrSpace,
    addr: u64,
    align: u32,
    lane: usize,
    what: &str,
) -> Result<(u32, u32), Box<Fault>> {
    let (rank, offset) = x.shared_offset(space, addr, lane as u32, what)?;
    if !offset.is_multiple_of(align) {
        return Err(x.fault(FaultKind::Misaligned { space: "shared", addr, align }, lane as u32));
    }
    Ok((rank, offset))
}

/// The offset of an object aligned to `align` that must be in the executing CTA's own shared memory.
fn own_shared_object(
    x: &Ctx<'_>,
    space: AddrSpace,
    addr: u64,
    align: u32,
    lane: usize,
    what: &str,
) -> Result<u32, Box<Fault>> {
    let (rank, offset) = shared_object(x, space, addr, align, lane, what)?;
    if rank != x.rank() {
        let wanted = format!("in the executing CTA's `.shared::cta`, where {what} must be; CTA {rank} owns it");
        return Err(x.fault(FaultKind::WrongWindow { addr, wanted }, lane as u32));
    }
    Ok(offset)
}

/// An operand that the active lanes must agree on.
fn same(x: &Ctx<'_>, v: &Lanes, bits: u32, what: &str) -> Result<u64, Box<Fault>> {
    let mut lanes = active(x.mask).map(|l| (l, v[l] & (u64::MAX >> (64 - bits))));
    let Some((_, first)) = lanes.next() else { return Ok(0) };
    match lanes.find(|&(_, value)| value != first) {
        None => Ok(first),
        Some((l, value)) => Err(x.fault(
            FaultKind::undefined(
                format!("{what} differs between threads of a warp: {first} and {value}"),
                "9.7.13.1",
                "give all threads of the warp the same value",
            ),
            l as u32,
        )),
    }
}

/// Sets a destination, if the form has it.
#[inline(always)]
fn set(d: &mut [&mut Lanes], at: usize, lane: usize, value: u64) {
    if let Some(v) = d.get_mut(at) {
        v[lane] = value;
    }
}
