//! The operands of tensor copies: the tensor map, coordinates, offsets. They are checked when a copy starts.

use super::job::Transfer;
use super::rows::{Extents, Shape, TensorBox};
use super::swizzle::Layout;
use crate::fault::{Fault, FaultKind};
use crate::isa::bulk::operands::global;
use crate::isa::place;
use crate::machine::spaces::SharedPlace;
use crate::mem::address::{AddrSpace, Place};
use crate::qual::{Q, q};
use crate::tensor_map::Interleave;
use crate::tensor_map::fields::{Fields, Mode};
use crate::{Ctx, Lanes, Monitor};

const LOADS: &str = "9.7.9.25.5.2";

/// What the qualifiers say of an instruction's operands.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    pub rank: usize,
    /// Operands that are coordinates.
    pub coordinates: usize,
    /// Operands that are offsets of pixels.
    pub offsets: usize,
    im2col: bool,
    rows: bool,
}

impl Form {
    pub fn of(q: Q) -> Self {
        let rank = match () {
            () if q.has(q::_5d) => 5,
            () if q.has(q::_4d) => 4,
            () if q.has(q::_3d) => 3,
            () if q.has(q::_2d) => 2,
            () => 1,
        };
        let rows = q.has(q::tile_gather4) || q.has(q::tile_scatter4);
        let im2col = q.has(q::im2col) || q.has(q::im2col_no_offs);
        let coordinates = if rows { 5 } else { rank };
        Form { rank, coordinates, offsets: if q.has(q::im2col) { rank.saturating_sub(2) } else { 0 }, im2col, rows }
    }
}

/// A fault about a tensor copy.
pub fn undefined<M: Monitor>(
    x: &Ctx<'_, M>,
    what: String,
    section: &'static str,
    help: &'static str,
    lane: usize,
) -> Box<Fault> {
    x.fault(FaultKind::undefined(what, section, help), lane as u32)
}

/// What no copy of the host does yet.
pub fn unsupported<M: Monitor>(x: &Ctx<'_, M>, q: Q, lane: usize) -> Result<(), Box<Fault>> {
    let modes = [q::im2col_w, q::im2col_w_128, q::im2col_no_offs_w];
    let what = if modes.iter().any(|mode| q.has(*mode)) {
        "a tensor copy with `im2col::w`"
    } else if q.has(q::override_global_dim) || q.has(q::override_global_dim_stride) {
        "a tensor copy with `.override::global_dim` or `.override::global_dim_stride`"
    } else {
        return Ok(());
    };
    Err(x.fault(FaultKind::NotYet { what: what.into() }, lane as u32))
}

/// The tensor map at a generic address, and its place. It is an operand of the copy, which tells monitors of it.
fn tensor_map<M: Monitor>(x: &Ctx<'_, M>, addr: u64, lane: usize) -> Result<(Fields, Place), Box<Fault>> {
    if !addr.is_multiple_of(64) {
        return Err(x.fault(FaultKind::Misaligned { space: "generic", addr, align: 64 }, lane as u32));
    }
    let at = place(x, AddrSpace::Generic, addr, lane)?;
    if !matches!(at, Place::Global { .. } | Place::Const { .. } | Place::Param { .. }) {
        let wanted = "in global, constant or parameter memory, where a tensor map must be".into();
        return Err(x.fault(FaultKind::WrongWindow { addr, wanted }, lane as u32));
    }
    let mut bytes = [0; 128];
    for (part, from) in bytes.chunks_exact_mut(32).zip((addr..).step_by(32)) {
        let words = x.read_unwatched(AddrSpace::Generic, from, 32, 8, lane as u32)?;
        part.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
    }
    let help = "pass a `TensorMap`, or write all fields with `tensormap.replace`";
    let Some(map) = Fields::decode(&bytes) else {
        return Err(undefined(x, "these 128 bytes are not a tensor map".into(), "5.5", help, lane));
    };
    map.check().map_err(|error| undefined(x, error.to_string(), "5.5", "give the field a valid value", lane))?;
    Ok((map, at))
}

/// The map that the first operand names, its place, and the operands behind it: with `.override::global_address`, the second one is the
/// tensor's address.
pub fn overridden<'s, M: Monitor>(
    x: &Ctx<'_, M>,
    q: Q,
    s: &'s [&'s Lanes],
    lane: usize,
) -> Result<(Fields, Place, &'s [&'s Lanes]), Box<Fault>> {
    let (mut map, at) = tensor_map(x, s[0][lane], lane)?;
    if !q.has(q::override_global_address) {
        return Ok((map, at, &s[1..]));
    }
    map.address = s[1][lane];
    let help = "override it with an aligned address";
    map.check().map_err(|error| undefined(x, error.to_string(), "5.5", help, lane))?;
    Ok((map, at, &s[2..]))
}

/// Which box the coordinates name.
pub fn tensor_box<M: Monitor>(
    x: &Ctx<'_, M>,
    q: Q,
    map: Fields,
    operands: &[i32],
    stores: bool,
    lane: usize,
) -> Result<TensorBox, Box<Fault>> {
    let form = Form::of(q);
    let (coordinates, offsets) = operands.split_at(form.coordinates.min(operands.len()));
    if map.rank != form.rank {
        let what = format!("the tensor map has rank {}, but the instruction is `.{}d`", map.rank, form.rank);
        return Err(undefined(x, what, LOADS, "use the instruction of the map's rank", lane));
    }
    if (map.mode == Mode::Im2col) != form.im2col {
        let (of, wanted) = if form.im2col { ("a tiled", "an im2col") } else { ("an im2col", "a tiled") };
        let what = format!("the tensor map is {of} one, but the instruction needs {wanted} one");
        return Err(undefined(x, what, LOADS, "use the mode of the map", lane));
    }
    let mut start = [0; 5];
    start.iter_mut().zip(coordinates).for_each(|(to, from)| *to = *from);
    let shape = if form.rows {
        let rows = [start[1], start[2], start[3], start[4]];
        start[1..].fill(0);
        Shape::Rows(rows)
    } else if form.im2col {
        let mut all = [0; 3];
        all.iter_mut().zip(offsets).for_each(|(to, from)| *to = *from as u16);
        Shape::Pixels(all)
    } else {
        Shape::Tile
    };
    let unit = map.element.unit();
    let aligned = if map.element.is_padded() { 128 } else { (16 / unit.global * unit.elements) as i32 };
    if map.interleave == Interleave::None && start[0] % aligned != 0 {
        let what = format!("the first coordinate is {}, but must be a multiple of {aligned}", start[0]);
        return Err(undefined(x, what, LOADS, "align the first coordinate", lane));
    }
    let negative = start.iter().find(|c| **c < 0 && stores);
    if let Some(c) = negative {
        let what = format!("a coordinate of a store is negative: {c}");
        return Err(undefined(x, what, LOADS, "store boxes that begin inside of the tensor", lane));
    }
    let extents = Extents::new(&map, &start);
    let of = TensorBox { map, shape, extents, coarse: stores };
    if form.im2col {
        first_pixel(x, &of, stores, lane)?;
    }
    Ok(of)
}

/// A fault if the first pixel is not in the bounding box, or if a store's box begins before the image.
fn first_pixel<M: Monitor>(x: &Ctx<'_, M>, of: &TensorBox, stores: bool, lane: usize) -> Result<(), Box<Fault>> {
    for d in 0..of.map.rank - 2 {
        let (lower, last, at) = of.extents.bounds(&of.map, d);
        if at < lower || i64::from(at) > last {
            let coordinate = d + 1 - of.extents.added;
            let what =
                format!("coordinate {coordinate} is {at}, but the bounding box of the map is from {lower} to {last}");
            return Err(undefined(x, what, LOADS, "begin with a pixel of the bounding box", lane));
        }
        if stores && lower < 0 {
            let what = format!("the bounding box of a store begins at {lower}, outside of the image");
            return Err(undefined(x, what, LOADS, "store with a map whose lower corner is not negative", lane));
        }
    }
    Ok(())
}

/// A box with its places; all of it must be in shared memory.
pub fn transfer<M: Monitor>(
    x: &Ctx<'_, M>,
    (of, map): (TensorBox, Place),
    shared: SharedPlace,
    addr: u64,
    lane: usize,
) -> Result<Transfer, Box<Fault>> {
    let tensor = global(x, of.map.address, 16, lane)?;
    let layout = Layout::of(&of.map);
    let transfer = Transfer { map, tensor, shared, of, layout };
    let size = x.window(shared.rank).map_err(|kind| x.fault(kind, lane as u32))?.len() as u64;
    let extent = transfer.extent();
    if u64::from(shared.offset) + extent > size {
        let bytes = extent.min(u32::MAX.into()) as u32;
        return Err(x.fault(FaultKind::OutOfBounds { space: "shared", addr, bytes, size }, lane as u32));
    }
    Ok(transfer)
}
