//! Loads, stores and additions to memory of plain registers: one check for a cohort that accesses consecutive elements, else a
//! call for each warp. What fails a check goes to the functions of [`crate::lanes`], which diagnose it.

use super::code::Op;
use super::operation::Runner;
use super::registers::Scalar;
use crate::isa::{Done, space};
use crate::lanes::{self, Scattered};
use crate::machine::ctx::Ctx;
use crate::mem::address::{AddrSpace, names_local};
use crate::monitor::Monitor;
use crate::qual::{Q, Ty, q};
use crate::{Lanes, Word};
use ptx_dsl_isa::image::Instr;
use ptx_dsl_isa::opcode::{Opcode, op};

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
        (plain && fits && counted).then_some(Access { kind, space: space(q), bytes, signed: ty.is_signed(), count })
    }
}

type Function<M> = fn(&mut Ctx<'_, M>, Q, &[&Lanes], &mut [&mut Lanes]) -> Done;

pub(super) fn run<M: Monitor>(r: &mut Runner<'_, '_, M>, op: &Op<M>, access: &Access, f: Function<M>) -> Done {
    r.x.site = op.site;
    // monitors see each access, and local memory is different for each lane
    if M::ON || matches!(access.space, AddrSpace::Local | AddrSpace::ParamFunc) {
        return r.warp_by_warp(op, f);
    }
    match access.bytes {
        1 => elements::<M, u8>(r, op, access, f),
        2 => elements::<M, u16>(r, op, access, f),
        4 => elements::<M, u32>(r, op, access, f),
        _ => elements::<M, u64>(r, op, access, f),
    }
}

fn elements<M: Monitor, T: Scattered>(r: &mut Runner<'_, '_, M>, op: &Op<M>, access: &Access, f: Function<M>) -> Done {
    match (access.kind, access.count) {
        (Kind::Load, 1) => load::<M, T, 1>(r, op, access),
        (Kind::Load, 2) => load::<M, T, 2>(r, op, access),
        (Kind::Load, _) => load::<M, T, 4>(r, op, access),
        (Kind::Store, 1) => store::<M, T, 1>(r, op, access),
        (Kind::Store, 2) => store::<M, T, 2>(r, op, access),
        (Kind::Store, _) => store::<M, T, 4>(r, op, access),
        (Kind::Add, _) => add::<M, T>(r, op, access, f),
    }
}

fn load<M: Monitor, T: Scattered, const D: usize>(r: &mut Runner<'_, '_, M>, op: &Op<M>, access: &Access) -> Done {
    let address = &op.sources[0];
    if r.all
        && let Some(at) = r.uniform(address)
        && !(access.space == AddrSpace::Generic && names_local(at))
    {
        return load_uniform::<M, T, D>(r, op, access, at);
    }
    for register in op.results.iter().flatten() {
        r.rows_for(*register);
    }
    for k in 0..r.n {
        let m = r.masks[k];
        if m == 0 {
            continue;
        }
        r.enter(k, m);
        let at = r.operand(address, k);
        let mut out = [[T::default(); 32]; D];
        lanes::load::<M, T, D>(r.x, &op.q, access.space, op.site, m, &at, out.each_mut())?;
        for (register, out) in op.results.iter().zip(&out) {
            let Some(register) = *register else { continue };
            let v: Lanes = std::array::from_fn(|l| extended(out[l], access));
            r.registers.put(register, r.lo + k, &v, m);
        }
    }
    Ok(())
}

/// All lanes load the same elements: once.
fn load_uniform<M: Monitor, T: Scattered, const D: usize>(
    r: &mut Runner<'_, '_, M>,
    op: &Op<M>,
    access: &Access,
    at: u64,
) -> Done {
    let Some(k) = (0..r.n).find(|k| r.masks[*k] != 0) else { return Ok(()) };
    let m = r.masks[k] & r.masks[k].wrapping_neg();
    let lane = m.trailing_zeros() as usize & 31;
    r.enter(k, m);
    let mut out = [[T::default(); 32]; D];
    lanes::load::<M, T, D>(r.x, &op.q, access.space, op.site, m, &[at; 32], out.each_mut())?;
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

fn store<M: Monitor, T: Scattered, const D: usize>(r: &mut Runner<'_, '_, M>, op: &Op<M>, access: &Access) -> Done {
    for k in 0..r.n {
        let m = r.masks[k];
        if m == 0 {
            continue;
        }
        r.enter(k, m);
        let at = r.operand(&op.sources[0], k);
        let mut v = [[T::default(); 32]; D];
        for (v, o) in v.iter_mut().zip(&op.sources[1..]) {
            let lanes = r.operand(o, k);
            *v = std::array::from_fn(|l| T::narrow(lanes[l]));
        }
        lanes::store::<M, T, D>(r.x, &op.q, access.space, op.site, m, &at, v.each_ref())?;
    }
    Ok(())
}

fn add<M: Monitor, T: Scattered>(r: &mut Runner<'_, '_, M>, op: &Op<M>, access: &Access, f: Function<M>) -> Done {
    if T::BYTES < 4 {
        return r.warp_by_warp(op, f);
    }
    let result = op.results.first().copied().flatten();
    if let Some(register) = result {
        r.rows_for(register);
    }
    for k in 0..r.n {
        let m = r.masks[k];
        if m == 0 {
            continue;
        }
        r.enter(k, m);
        let (at, v) = (r.operand(&op.sources[0], k), r.operand(&op.sources[1], k));
        let v: [T; 32] = std::array::from_fn(|l| T::narrow(v[l]));
        let mut old = [T::default(); 32];
        let wanted = result.is_some();
        let left = r.x.add_lanes::<T>(access.space, m, &at, &v, wanted.then_some(&mut old));
        if left != 0 {
            r.x.site = op.site;
            lanes::slow_add::<M, T>(r.x, op.q, left, &at, &v, wanted.then_some(&mut old))?;
        }
        if let Some(register) = result {
            let old: Lanes = std::array::from_fn(|l| old[l].widen());
            r.registers.put(register, r.lo + k, &old, m);
        }
    }
    Ok(())
}
