//! Tensor copies of the async proxy, and tensor maps (PTX ISA 9.7.9.25.5, 9.7.9.26, 9.7.13.16).
//!
//! A copy reads its tensor map and checks its operands when it starts. Cache hints have no effect.

mod job;
mod map;
mod operands;
mod rows;
pub(crate) mod swizzle;

use job::{Load, TensorStore};
pub use map::{tensormap_cp_fenceproxy, tensormap_replace};
use operands::{CopyForm, overridden, tensor_box, transfer, undefined};

use super::bulk::no_report;
use super::bulk::operands::{ctas, mbarrier_of, shared, shared_in};
use super::bulk::reduction::Reduction;
use super::{Done, active};
use crate::fault::Fault;
use crate::machine::Ctx;
use crate::machine::copy::Signal;
use crate::machine::spaces::SharedPlace;
use crate::memory::address::AddrSpace;
use crate::memory::tensor_map::ElementType;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, Ty, q};
use ptx_dsl_isa::isa::tensor::BOX_ALIGN;

/// `cp.async.bulk.tensor`: loads, with an mbarrier object, and stores, with bulk groups.
pub fn cp_async_bulk_tensor(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    for l in active(x.mask) {
        if q.has(q::bulk_group) {
            store(x, q, s, l, false)?;
        } else {
            no_report(x, q, l as u32)?;
            load(x, q, s, l)?;
        }
    }
    Ok(())
}

/// `cp.reduce.async.bulk.tensor`
pub fn cp_reduce_async_bulk_tensor(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    for l in active(x.mask) {
        store(x, q, s, l, true)?;
    }
    Ok(())
}

/// Operands of a lane as coordinates.
fn numbers(s: &[&Lanes], l: usize) -> Vec<i32> {
    s.iter().map(|v| v[l] as i32).collect()
}

/// Copies from a tensor to the shared memory of a CTA, or of several.
fn load(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], l: usize) -> Done {
    let form = CopyForm::of(q);
    let (map, map_at, operands) = overridden(x, q, &s[1..], l)?;
    let (coordinates, rest) = operands.split_at(form.coordinates);
    let (offsets, mask) = rest[1..].split_at(form.offsets);
    let places = numbers(&[coordinates, offsets].concat(), l);
    let space = if q.has(q::shared_cluster) { AddrSpace::SharedCluster } else { AddrSpace::SharedCta };
    let to = shared_in(x, space, s[0][l], 0, BOX_ALIGN, l, "the destination of the copy")?;
    let at = mbarrier_of(x, q, rest[0][l], to.rank, l)?;
    for rank in ctas(x, q, to.rank, mask.first().map_or(0, |m| m[l]), l)? {
        let of = tensor_box(x, q, map.clone(), &places, false, l)?;
        let job = Load(transfer(x, (of, map_at), SharedPlace { rank, ..to }, s[0][l], l)?);
        // with `.cta_group::2`, the object's CTA says which one of each pair gets the signal
        let signalled = if q.has(q::cta_group_2) { rank & !1 | at.rank & 1 } else { rank };
        let bytes = job.0.transferred() as u32;
        let signal = Signal::Mbarrier { at: SharedPlace { rank: signalled, ..at }, bytes };
        x.async_unit().start_copy(l as u32, Box::new(job), signal)?;
    }
    Ok(())
}

/// Copies from shared memory to a tensor.
fn store(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], l: usize, reduces: bool) -> Done {
    let form = CopyForm::of(q);
    let (map, map_at, operands) = overridden(x, q, s, l)?;
    let (coordinates, rest) = operands.split_at(form.coordinates);
    let reduction = if reduces { Some(reduction(x, q, map.element, l)?) } else { None };
    let of = tensor_box(x, q, map, &numbers(coordinates, l), true, l)?;
    let from = shared(x, rest[0][l], 0, BOX_ALIGN, l, "the source of the copy")?;
    let transfer = transfer(x, (of, map_at), from, rest[0][l], l)?;
    x.async_unit().start_copy(l as u32, Box::new(TensorStore { transfer, reduction }), Signal::BulkGroup)
}

/// The reduction of an instruction on elements of a tensor.
fn reduction(x: &Ctx<'_>, q: Q, element: ElementType, l: usize) -> Result<Reduction, Box<Fault>> {
    let bitwise = q.has(q::and) || q.has(q::or) || q.has(q::xor);
    let counts = q.has(q::inc) || q.has(q::dec);
    let ty = match element {
        ElementType::U32 | ElementType::S32 if bitwise => Some(Ty::B32),
        ElementType::U64 if bitwise => Some(Ty::B64),
        ElementType::U32 => Some(Ty::U32),
        _ if bitwise || counts => None,
        ElementType::S32 => Some(Ty::S32),
        ElementType::U64 => Some(Ty::U64),
        ElementType::S64 => Some(Ty::S64),
        ElementType::F16 => Some(Ty::F16),
        ElementType::Bf16 => Some(Ty::Bf16),
        ElementType::F32 | ElementType::F32Ftz if q.has(q::add) => Some(Ty::F32),
        ElementType::F64 if q.has(q::add) => Some(Ty::F64),
        _ => None,
    };
    match ty {
        Some(ty) => Ok(Reduction::of(q, ty, true).flushing(element == ElementType::F32Ftz)),
        None => {
            let what = format!("elements of type {element:?} do not have this reduction");
            Err(undefined(x, what, "9.7.9.25.5.3", "reduce elements of another type", l))
        }
    }
}

/// `cp.async.bulk.prefetch.tensor`: a hint, which bad operands do not make a fault.
pub fn cp_async_bulk_prefetch_tensor(_: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    Ok(())
}

/// `applypriority.async.bulk.tensor`: a hint.
pub fn applypriority_async_bulk_tensor(_: &mut Ctx<'_>, _: Q, _: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    Ok(())
}

semantics! {
    warp "applypriority.async.bulk.tensor" => applypriority_async_bulk_tensor,
    warp "cp.async.bulk.prefetch.tensor" => cp_async_bulk_prefetch_tensor,
    warp "cp.async.bulk.tensor" => cp_async_bulk_tensor,
    warp "cp.reduce.async.bulk.tensor" => cp_reduce_async_bulk_tensor,
    warp "tensormap.cp_fenceproxy" => tensormap_cp_fenceproxy,
    warp "tensormap.replace" => tensormap_replace,
}
