//! Loads, stores and additions to memory of plain registers.
//!
//! All lanes of a cohort access one place: once. Addresses that are affine are checked once, for the first and the last byte, and
//! pieces of lanes whose elements are consecutive are copied ([`pieces`]). Other addresses are a gather or scatter for each warp.
//! What fails a check goes to the functions of [`crate::lanes`] warp by warp, which diagnose it.

mod pieces;
mod scattered;

use super::code::{Op, WarpFunction};
use super::operation::Runner;
use super::registers::Scalar;
use crate::isa::{Done, space};
use crate::lanes;
use crate::lanes::Word;
use crate::mem::address::{AddrSpace, names_local};
use crate::monitor::Monitor;
use crate::qual::{Q, Ty, q};
use crate::simd::InstructionSet;
use pieces::Pieced;
use ptx_dsl_isa::image::Instr;
use ptx_dsl_isa::opcode::{Opcode, op};
use scattered::Each;

/// A memory access of elements in plain registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    kind: Kind,
    space: AddrSpace,
    /// Of an element of memory: 1, 2, 4 or 8.
    bytes: u32,
    /// Loaded elements are sign-extended.
    signed: bool,
    /// Elements: 1, 2 or 4.
    count: usize,
    /// The entry of the access cache.
    cache: usize,
}

/// The functions of an access for this processor.
pub(super) struct Compiled<M> {
    pieces: Pieced<M>,
    each: Each<M>,
}

impl<M: Monitor> Compiled<M> {
    pub fn of(access: &Access, set: InstructionSet) -> Self {
        Compiled { pieces: Pieced::find(access, set), each: Each::find(access, set) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Load,
    Store,
    Add,
}

impl Access {
    pub fn of(opcode: Opcode, q: Q, i: &Instr, widths: &[u8]) -> Option<Access> {
        let kind = match opcode {
            op::ld => Kind::Load,
            op::st => Kind::Store,
            op::atom | op::red if q.has(q::add) => Kind::Add,
            _ => return None,
        };
        let ty = q.ty[0];
        let bytes = ty.bytes();
        let plain = q.types == 1 && matches!(ty.bits(), 8 | 16 | 32 | 64) && !q.has(q::L2_cache_hint);
        let count = if q.has(q::v8) {
            8
        } else if q.has(q::v4) {
            4
        } else if q.has(q::v2) {
            2
        } else {
            1
        };
        let holds = |r: &u32| u32::from(widths[*r as usize]) >= ty.bits();
        let fits = match kind {
            Kind::Load => i.sources.len() == 1 && i.results.len() == count && i.results.iter().flatten().all(holds),
            Kind::Store => i.sources.len() == count + 1,
            Kind::Add => {
                let integer = matches!(ty, Ty::U32 | Ty::S32 | Ty::U64);
                integer && i.sources.len() == 2 && i.results.len() <= 1 && !q.has(q::volatile)
            }
        };
        let counted = if kind == Kind::Add { count == 1 } else { count <= 4 };
        // the place of the instruction: accesses of one loop differ in it
        let cache = i.site as usize;
        let access = Access { kind, space: space(q), bytes, signed: ty.is_signed(), count, cache };
        (plain && fits && counted).then_some(access)
    }
}

pub(super) fn run<M: Monitor>(
    r: &mut Runner<'_, '_, M>,
    op: &Op<M>,
    access: &Access,
    compiled: &Compiled<M>,
    f: WarpFunction<M>,
) -> Done {
    r.x.site = op.site;
    // monitors see each access, and local memory is different for each lane
    if M::ON || matches!(access.space, AddrSpace::Local | AddrSpace::ParamFunc) {
        return r.warp_by_warp(op, f);
    }
    let address = r.scalar_operand(&op.sources[0]);
    if let (true, Kind::Load, Some(Scalar::Uniform(at))) = (r.all, access.kind, address)
        && !(access.space == AddrSpace::Generic && names_local(at))
    {
        return load_uniform(r, op, access, at);
    }
    if let (1, Some(affine @ Scalar::Affine { .. })) = (access.count, address)
        && access.kind != Kind::Add
        && in_pieces(r, op, access, compiled, affine)
    {
        return Ok(());
    }
    compiled.each.run(r, op, access, f)
}

/// Accesses memory in pieces, if all lanes of the first warps do, and none of the others. Lanes that have exited, or do not exist,
/// access nothing. False, with nothing done, if that is not so.
fn in_pieces<M: Monitor>(
    r: &mut Runner<'_, '_, M>,
    op: &Op<M>,
    access: &Access,
    compiled: &Compiled<M>,
    address: Scalar,
) -> bool {
    let masks = &r.masks[..r.n];
    let whole = masks.iter().take_while(|m| **m == u32::MAX).count();
    if whole == 0 || masks[whole..].iter().any(|m| *m != 0) {
        return false;
    }
    if !r.all && access.kind == Kind::Load {
        op.results.iter().flatten().for_each(|register| r.rows_for(*register));
    }
    let n = std::mem::replace(&mut r.n, whole);
    let done = compiled.pieces.run(r, op, access, address);
    r.n = n;
    done
}

/// All lanes load the same elements: once.
fn load_uniform<M: Monitor>(r: &mut Runner<'_, '_, M>, op: &Op<M>, access: &Access, at: u64) -> Done {
    match (access.bytes, access.count) {
        (4, 1) if let Some([v]) = r.x.load_one::<u32, 1>(access.cache, access.space, at) => {
            r.set(op.results[0], Scalar::Uniform(extended(v, access)));
            Ok(())
        }
        (8, 1) if let Some([v]) = r.x.load_one::<u64, 1>(access.cache, access.space, at) => {
            r.set(op.results[0], Scalar::Uniform(v));
            Ok(())
        }
        (1, _) => load_once::<M, u8>(r, op, access, at),
        (2, _) => load_once::<M, u16>(r, op, access, at),
        (4, _) => load_once::<M, u32>(r, op, access, at),
        _ => load_once::<M, u64>(r, op, access, at),
    }
}

/// The same through the checks of one lane.
fn load_once<M: Monitor, T: lanes::Scattered>(r: &mut Runner<'_, '_, M>, op: &Op<M>, access: &Access, at: u64) -> Done {
    let m = r.masks[0] & r.masks[0].wrapping_neg();
    let lane = m.trailing_zeros() as usize & 31;
    r.enter(0, m);
    let mut out = [[T::default(); 32]; 4];
    let [a, b, c, d] = out.each_mut();
    match access.count {
        1 => lanes::load::<M, T, 1>(r.x, &op.q, access.space, op.site, m, &[at; 32], [a])?,
        2 => lanes::load::<M, T, 2>(r.x, &op.q, access.space, op.site, m, &[at; 32], [a, b])?,
        _ => lanes::load::<M, T, 4>(r.x, &op.q, access.space, op.site, m, &[at; 32], [a, b, c, d])?,
    }
    for (register, out) in op.results.iter().zip(&out) {
        r.set(*register, Scalar::Uniform(extended(out[lane], access)));
    }
    Ok(())
}

/// An element as a register gets it.
#[inline(always)]
fn extended<T: Word>(v: T, access: &Access) -> u64 {
    let unused = 64 - 8 * T::BYTES as u32;
    if access.signed { ((v.widen() << unused).cast_signed() >> unused).cast_unsigned() } else { v.widen() }
}
