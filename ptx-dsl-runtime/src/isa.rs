//! Instruction semantics: one function per opcode, in files named like the table's families.
//!
//! Arithmetic works on one lane and is total ([`arith`], [`compare`], [`logic`], [`cvt`]). The rest works on the active
//! lanes of a warp: sources and destinations are lane vectors in the order of the form's operands, vectors flattened,
//! `.b128` as low and high half; undefined behaviour is a [`Fault`]. Those that may wait return
//! [`Flow`](crate::kernel::Flow).

/// Says which opcodes have their semantics in a file, each with its function: the constant `SEMANTICS`. What the table does not
/// have, and a function that is not there, do not compile.
macro_rules! semantics {
    ($($opcode:literal => $function:ident,)*) => {
        /// The opcodes whose semantics are in this file, each with the name of its function.
        pub const SEMANTICS: &[(ptx_dsl_isa::opcode::Opcode, &str)] =
            &[$((ptx_dsl_isa::opcode::Opcode::of($opcode), stringify!($function)),)*];

        #[allow(unused_imports)]
        mod functions {
            $(use super::$function as _;)*
        }
    };
}

pub mod address;
pub mod arith;
pub mod atom;
pub mod bar;
pub mod clusterlaunchcontrol;
pub mod compare;
pub mod cvt;
pub mod fence;
pub(crate) mod float16;
pub mod ld_st;
pub mod ldmatrix;
pub mod list;
pub mod logic;
pub mod mbarrier;
pub mod misc;
pub mod prefetch;
pub mod sreg;
pub mod tcgen05;
pub mod warp;

#[cfg(test)]
mod tests;

use crate::fault::{Fault, FaultKind};
use crate::mem::address::{AddrSpace, Place, resolve};
use crate::qual::{Q, q};
use crate::{Ctx, Lanes, Monitor};

type Done = Result<(), Box<Fault>>;

/// The lanes of a mask, lowest first.
#[inline(always)]
fn active(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The state space a load, store, atomic or mbarrier operation names.
#[inline(always)]
pub const fn space(q: Q) -> AddrSpace {
    if q.has(q::global) {
        AddrSpace::Global
    } else if q.has(q::shared_cluster) {
        AddrSpace::SharedCluster
    } else if q.has(q::shared) || q.has(q::shared_cta) {
        AddrSpace::SharedCta
    } else if q.has(q::local) {
        AddrSpace::Local
    } else if q.has(q::_const) {
        AddrSpace::Const
    } else if q.has(q::param_func) {
        AddrSpace::ParamFunc
    } else if q.has(q::param) || q.has(q::param_entry) {
        AddrSpace::ParamEntry
    } else {
        AddrSpace::Generic
    }
}

/// What an address means to the executing CTA.
fn place<M: Monitor>(x: &Ctx<'_, M>, space: AddrSpace, addr: u64, lane: usize) -> Result<Place, Box<Fault>> {
    resolve(space, addr, x.rank()).map_err(|kind| x.fault(kind, lane as u32))
}

/// The place in shared memory of an object aligned to `align`.
fn shared_object<M: Monitor>(
    x: &Ctx<'_, M>,
    space: AddrSpace,
    addr: u64,
    align: u32,
    lane: usize,
    what: &str,
) -> Result<(u32, u32), Box<Fault>> {
    let (rank, offset) = x.shared_offset(space, addr, lane as u32, what)?;
    if !offset.is_multiple_of(align) {
        return Err(x.fault(FaultKind::Misaligned { addr, align }, lane as u32));
    }
    Ok((rank, offset))
}

/// As [`shared_object`], and it must be the executing CTA's own.
fn own_shared_object<M: Monitor>(
    x: &Ctx<'_, M>,
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
fn same<M: Monitor>(x: &Ctx<'_, M>, v: &Lanes, bits: u32, what: &str) -> Result<u64, Box<Fault>> {
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
fn set<const D: usize>(d: &mut [&mut Lanes; D], at: usize, lane: usize, value: u64) {
    if let Some(v) = d.get_mut(at) {
        v[lane] = value;
    }
}
