//! Loads, stores and additions to memory of plain registers.
//!
//! All lanes of a cohort access one place: once. Addresses that are affine are checked once, for the first and the last byte, and
//! pieces of lanes whose elements are consecutive are copied ([`pieces`]). Other addresses are a gather or scatter for each warp.
//! What fails a check goes to the functions of [`crate::numerics::lanes`] warp by warp, which diagnose it.

mod access;
mod concurrent;
mod indexed;
mod pieces;
mod product;
mod scattered;

pub(super) use access::MemoryAccess;
pub(super) use indexed::Indexed;
pub(super) use product::{CHAIN, Factor, Products};

use super::op::{Op, WarpFunction};
use super::registers::{AffineLine, Scalar};
use super::runner::Runner;
use crate::engines::warp_access;
use crate::fault::Fault;
use crate::memory::address::{AddrSpace, names_local};
use crate::memory::scattered::Scattered;
use crate::numerics::simd::InstructionSet;
use crate::observe::probe::Pieces;
use crate::semantics::Done;
use access::extended;
use pieces::Pieced;
use scattered::Each;

/// The functions of an access for this processor.
pub(super) struct CompiledAccess {
    pieces: Pieced,
    each: Each,
}

impl CompiledAccess {
    /// The loops on rows for this access; `None` if there are none for this processor.
    pub fn of(access: &MemoryAccess, set: InstructionSet) -> Option<Self> {
        Some(CompiledAccess { pieces: Pieced::find(access, set)?, each: Each::find(access, set)? })
    }
}

pub(super) fn run(
    r: &mut Runner<'_, '_>,
    op: &Op,
    access: &MemoryAccess,
    compiled: &CompiledAccess,
    f: WarpFunction,
) -> Done {
    if access.is_local() {
        r.x.at(op.site, op.order);
        return r.warp_by_warp(op, f);
    }
    telling(r, |r| run_fast(r, op, access, compiled, f))
}

/// The fast paths of `f` tell the monitor; if it wants to see each lane, they fail.
#[inline(always)]
fn telling<T>(r: &mut Runner<'_, '_>, f: impl FnOnce(&mut Runner<'_, '_>) -> T) -> T {
    r.x.watched = false;
    let done = f(r);
    r.x.watched = r.x.monitor.is_on();
    done
}

/// A step of a plan: all lanes load the same elements. False, with nothing done, if it cannot run that way.
#[inline]
pub(super) fn run_once(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, at: u64) -> Result<bool, Box<Fault>> {
    telling(r, |r| load_once(r, op, access, at))
}

/// A step of a plan: the lanes access memory at affine addresses.
#[inline]
pub(super) fn run_affine(
    r: &mut Runner<'_, '_>,
    op: &Op,
    access: &MemoryAccess,
    (compiled, f): (&CompiledAccess, WarpFunction),
    address: &AffineLine,
) -> Done {
    telling(r, |r| at_affine_addresses(r, op, access, (compiled, f), address))
}

/// A step of a plan: the lanes access memory anywhere.
#[inline]
pub(super) fn run_each(
    r: &mut Runner<'_, '_>,
    op: &Op,
    access: &MemoryAccess,
    (compiled, f): (&CompiledAccess, WarpFunction),
) -> Done {
    telling(r, |r| anywhere(r, op, access, (compiled, f)))
}

fn run_fast(
    r: &mut Runner<'_, '_>,
    op: &Op,
    access: &MemoryAccess,
    compiled: &CompiledAccess,
    f: WarpFunction,
) -> Done {
    match r.scalar_operand(&op.sources[0]) {
        Some(Scalar::Uniform(at)) if access.is_once(r.all) && load_once(r, op, access, at)? => Ok(()),
        Some(affine @ Scalar::Affine { .. }) if access.is_in_pieces() => {
            at_affine_addresses(r, op, access, (compiled, f), &affine.line())
        }
        _ => anywhere(r, op, access, (compiled, f)),
    }
}

/// Loads elements that are the same in all lanes. False, with nothing done, if each lane has its own memory, or if the monitor
/// wants to see each lane.
#[inline]
fn load_once(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, at: u64) -> Result<bool, Box<Fault>> {
    r.x.at(op.site, op.order);
    if access.space == AddrSpace::Generic && names_local(at) || r.x.monitor.is_on() && !report_uniform(r, access, at) {
        return Ok(false);
    }
    load_uniform(r, op, access, at)?;
    Ok(true)
}

/// The address is not copied: it was stored in parts, and the processor would wait for them.
#[inline(always)]
fn at_affine_addresses(
    r: &mut Runner<'_, '_>,
    op: &Op,
    access: &MemoryAccess,
    (compiled, f): (&CompiledAccess, WarpFunction),
    address: &AffineLine,
) -> Done {
    r.x.at(op.site, op.order);
    if in_pieces(r, op, access, compiled, address) { Ok(()) } else { compiled.each.run(r, op, access, f) }
}

#[inline(always)]
fn anywhere(
    r: &mut Runner<'_, '_>,
    op: &Op,
    access: &MemoryAccess,
    (compiled, f): (&CompiledAccess, WarpFunction),
) -> Done {
    r.x.at(op.site, op.order);
    compiled.each.run(r, op, access, f)
}

/// Accesses memory in pieces, if the first threads do, and none of the others. Lanes that have exited, or do not exist, access
/// nothing. False, with nothing done, if that is not so.
#[inline(always)]
fn in_pieces(
    r: &mut Runner<'_, '_>,
    op: &Op,
    access: &MemoryAccess,
    compiled: &CompiledAccess,
    address: &AffineLine,
) -> bool {
    let count = r.first_threads();
    count != 0 && compiled.pieces.run(r, op, access, address, count)
}

/// Tells the monitor of a load of the same elements by all lanes.
fn report_uniform(r: &mut Runner<'_, '_>, access: &MemoryAccess, at: u64) -> bool {
    let bytes = access.bytes * access.count as u32;
    let inside = r.x.loads().bytes_at(access.cache, access.space, at, bytes as usize).is_some();
    if !inside || !at.is_multiple_of(bytes.into()) {
        return false;
    }
    let pieces = Pieces { count: r.n as u32, lanes: 32, step: 0, distance: 0 };
    r.full && r.x.report().pieces(access.space, at, (bytes, false), r.lo, &pieces)
        || (0..r.n).all(|k| {
            let m = r.masks[k];
            r.x.warp = (r.lo + k) as u32;
            m == 0 || r.x.report().row(access.space, at, (bytes, 0, false), m)
        })
}

/// Loads the same elements for all lanes by one access.
fn load_uniform(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, at: u64) -> Done {
    let one = match (access.bytes, access.count) {
        (4, 1) => r.x.loads().load_one::<u32, 1>(access.cache, access.space, at).map(|[v]| extended(v, access)),
        (8, 1) => r.x.loads().load_one::<u64, 1>(access.cache, access.space, at).map(|[v]| v),
        _ => None,
    };
    if let Some(v) = one {
        r.set(op.results[0], Scalar::Uniform(v));
        return Ok(());
    }
    match (access.bytes, access.count) {
        (1, _) => load_checked::<u8>(r, op, access, at),
        (2, _) => load_checked::<u16>(r, op, access, at),
        (4, _) => load_checked::<u32>(r, op, access, at),
        _ => load_checked::<u64>(r, op, access, at),
    }
}

/// Loads through the checks of one lane.
fn load_checked<T: Scattered>(r: &mut Runner<'_, '_>, op: &Op, access: &MemoryAccess, at: u64) -> Done {
    let (k, m) = r.first_lane();
    let lane = m.trailing_zeros() as usize & 31;
    r.enter(k, m);
    let mut out = [[T::default(); 32]; 4];
    let [a, b, c, d] = out.each_mut();
    match access.count {
        1 => warp_access::load::<T, 1>(r.x, &op.q, access.space, op.site, m, &[at; 32], [a])?,
        2 => warp_access::load::<T, 2>(r.x, &op.q, access.space, op.site, m, &[at; 32], [a, b])?,
        _ => warp_access::load::<T, 4>(r.x, &op.q, access.space, op.site, m, &[at; 32], [a, b, c, d])?,
    }
    for (register, out) in op.results.iter().zip(&out) {
        r.set(*register, Scalar::Uniform(extended(out[lane], access)));
    }
    Ok(())
}
