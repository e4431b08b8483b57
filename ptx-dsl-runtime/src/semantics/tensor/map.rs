//! `tensormap.replace` and `tensormap.cp_fenceproxy` (PTX ISA 9.7.9.26, 9.7.13.16): fields of tensor maps, and their copies.

use super::operands::undefined;
use crate::fault::Fault;
use crate::machine::Ctx;
use crate::memory::address::AddrSpace;
use crate::memory::tensor_map::at;
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};
use crate::observe::monitor::{ProxyFence, Sync};
use crate::semantics::{Done, active, same, space};

const REPLACE: &str = "9.7.9.26";

/// Bytes of a field: where, how many, their value.
type Patch = (usize, u32, u64);

/// The bytes that an instruction replaces.
fn patch(x: &Ctx<'_>, q: Q, ord: u64, value: u64, l: usize) -> Result<Patch, Box<Fault>> {
    let ord = ord as usize;
    let sized = |name: &str, most: u64, patch: Patch| {
        if (1..=most).contains(&value) {
            return Ok(patch);
        }
        let what = format!("the new value of `{name}` is {value}, but must be from 1 to {most}");
        Err(undefined(x, what, REPLACE, "give the field a valid value", l))
    };
    match () {
        () if q.has(q::global_address) => Ok((at::ADDRESS, 8, value)),
        () if q.has(q::rank) && value <= 4 => Ok((at::RANK, 1, value)),
        () if q.has(q::rank) => {
            let what = format!("the new value of `.rank` is {value}, but must be from 0 to 4: the rank less one");
            Err(undefined(x, what, REPLACE, "give the rank less one", l))
        }
        // 0 are 2^32
        () if q.has(q::global_dim) => Ok((at::DIMS + 4 * ord, 4, value.wrapping_sub(1))),
        () if q.has(q::box_dim) => sized(".box_dim", 256, (at::BOX + 2 * ord, 2, value.wrapping_sub(1))),
        () if q.has(q::element_stride) => {
            sized(".element_stride", 8, (at::ELEMENT_STRIDES + ord, 1, value.wrapping_sub(1)))
        }
        () if q.has(q::global_stride) && ord < 4 => Ok((at::STRIDES + 8 * ord, 8, value)),
        () if q.has(q::global_stride) => {
            Err(undefined(x, "a tensor has at most four strides".into(), REPLACE, "number them from 0 to 3", l))
        }
        () if q.has(q::elemtype) => Ok((at::ELEMENT, 1, value)),
        () if q.has(q::interleave_layout) => Ok((at::INTERLEAVE, 1, value)),
        () if q.has(q::swizzle_mode) => Ok((at::SWIZZLE, 1, value)),
        () if q.has(q::swizzle_atomicity) => Ok((at::ATOMICITY, 1, value)),
        () => Ok((at::FILL, 1, value)),
    }
}

/// `tensormap.replace.tile.field [addr], {ord,} value`
pub fn tensormap_replace(x: &mut Ctx<'_>, q: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let [addr, operands @ ..] = s else { return Ok(()) };
    for l in active(x.mask) {
        let value = operands.last().map_or(0, |v| v[l]);
        let ord = if operands.len() > 1 { operands[0][l].min(4) } else { 0 };
        let wide = q.has(q::global_address) || q.has(q::global_stride);
        let (offset, bytes, value) = patch(x, q, ord, if wide { value } else { value & 0xffff_ffff }, l)?;
        // all 128 bytes must be there
        x.read_aligned(space(q), addr[l], 1, 128, l as u32)?;
        x.read_aligned(space(q), addr[l] + 127, 1, 1, l as u32)?;
        x.write_aligned(space(q), addr[l] + offset as u64, bytes, 1, [value, 0, 0, 0], l as u32)?;
    }
    Ok(())
}

/// `tensormap.cp_fenceproxy [dst], [src], 128`: the warp copies a map from shared to global memory.
pub fn tensormap_cp_fenceproxy(x: &mut Ctx<'_>, _: Q, s: &[&Lanes], _: &mut [&mut Lanes]) -> Done {
    let [to, from, ..] = s else { return Ok(()) };
    let (to, from) = (same(x, to, 64, "the destination")?, same(x, from, 64, "the source")?);
    let Some(lane) = active(x.mask).next() else { return Ok(()) };
    // the copy is weak, the fence after it releases
    let order = std::mem::take(&mut x.order);
    for at in (0..128).step_by(32) {
        let align = if at == 0 { 128 } else { 32 };
        let part = x.read_aligned(AddrSpace::SharedCta, from + at, 32, align, lane as u32)?;
        x.write_aligned(AddrSpace::Global, to + at, 32, align, part, lane as u32)?;
    }
    x.order = order;
    x.report_sync(Sync::Fence, x.mask)?;
    x.report_sync(Sync::ProxyFence(ProxyFence::TensormapRelease), x.mask)
}
