//! The operands of tensor copies: the tensor map, coordinates, offsets. They are checked when a copy starts.

use super::job::Transfer;
use super::rows::{BoxShape, Extents, TensorBox};
use super::swizzle::BoxLayout;
use crate::fault::{Fault, FaultKind};
use crate::machine::Ctx;
use crate::machine::spaces::SharedPlace;
use crate::memory::address::{AddrSpace, Place};
use crate::memory::tensor_map::{ElementType, Interleave, Swizzle};
use crate::memory::tensor_map::{Fields, Mode};
use crate::numerics::lanes::Lanes;
use crate::numerics::qual::{Q, q};
use crate::semantics::bulk::operands::global;
use crate::semantics::place;

const LOADS: &str = "9.7.9.25.5.2";
const RESTRICTIONS: &str = "9.7.9.25.5.1";

/// The form of an instruction's operands, as its qualifiers give it.
#[derive(Debug, Clone, Copy)]
pub struct CopyForm {
    pub rank: usize,
    /// Operands that are coordinates.
    pub coordinates: usize,
    /// Operands that are offsets of pixels.
    pub offsets: usize,
    mode: Mode,
    rows: bool,
}

impl CopyForm {
    pub fn of(q: Q) -> Self {
        let rank: usize = match () {
            () if q.has(q::_5d) => 5,
            () if q.has(q::_4d) => 4,
            () if q.has(q::_3d) => 3,
            () if q.has(q::_2d) => 2,
            () => 1,
        };
        let rows = q.has(q::tile_gather4) || q.has(q::tile_scatter4);
        let (mode, offsets) = match () {
            () if q.has(q::im2col) => (Mode::Im2col, rank.saturating_sub(2)),
            () if q.has(q::im2col_no_offs) => (Mode::Im2col, 0),
            // the halo and the offset
            () if q.has(q::im2col_w) => (Mode::Im2colW, 2),
            () if q.has(q::im2col_no_offs_w) => (Mode::Im2colW, 0),
            () if q.has(q::im2col_w_128) => (Mode::Im2colW128, 2),
            () => (Mode::Tiled, 0),
        };
        CopyForm { rank, coordinates: if rows { 5 } else { rank }, offsets, mode, rows }
    }
}

/// A fault about a tensor copy.
pub fn undefined(x: &Ctx<'_>, what: String, section: &'static str, help: &'static str, lane: usize) -> Box<Fault> {
    x.fault(FaultKind::undefined(what, section, help), lane as u32)
}

/// The tensor map at a generic address, and its place. It is an operand of the copy, which tells monitors of it.
fn tensor_map(x: &Ctx<'_>, addr: u64, lane: usize) -> Result<(Fields, Place), Box<Fault>> {
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
        let words = x.loads().read_unwatched(AddrSpace::Generic, from, 32, 8, lane as u32)?;
        part.chunks_exact_mut(8).zip(words).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
    }
    if Fields::swizzles_96_bytes(&bytes) {
        let what = "a tensor copy with a swizzle of 96 bytes".into();
        return Err(x.fault(FaultKind::NotYet { what }, lane as u32));
    }
    let help = "pass a `TensorMap`, or write all fields with `tensormap.replace`";
    let Some(map) = Fields::decode(&bytes) else {
        return Err(undefined(x, "these 128 bytes are not a tensor map".into(), "5.5", help, lane));
    };
    map.check().map_err(|error| undefined(x, error.to_string(), "5.5", "give the field a valid value", lane))?;
    Ok((map, at))
}

/// The map that the first operand names, its place, and the operands after it and after what replaces its fields.
pub fn overridden<'s>(
    x: &Ctx<'_>,
    q: Q,
    s: &'s [&'s Lanes],
    lane: usize,
) -> Result<(Fields, Place, &'s [&'s Lanes]), Box<Fault>> {
    let (mut map, at) = tensor_map(x, s[0][lane], lane)?;
    if !q.has(q::override_global_address) {
        return Ok((map, at, &s[1..]));
    }
    map.address = s[1][lane];
    let mut rest = &s[2..];
    let with_strides = q.has(q::override_global_dim_stride);
    if with_strides || q.has(q::override_global_dim) {
        let rank = CopyForm::of(q).rank;
        let (sizes, behind) = rest.split_at(rank);
        // PTX ISA 9.7.9.25.5.2.2: the lower 8 bits count
        map.dims.iter_mut().zip(sizes).for_each(|(dim, size)| *dim = size[lane] & 0xff);
        rest = behind;
        if with_strides {
            let (lower, behind) = rest.split_at(rank - 1);
            for (i, (stride, lower)) in map.strides.iter_mut().zip(lower).enumerate() {
                let upper = behind[0][lane] >> (4 * i) & 0xf;
                *stride = (lower[lane] & 0xffff_ffff | upper << 32) << 4;
            }
            rest = &behind[1..];
        }
        if let Some(c) = rest[..rank].iter().map(|c| c[lane] as i32).find(|c| *c != 0) {
            let what = format!("a coordinate is {c}, but the dimensions are overridden");
            return Err(undefined(x, what, LOADS, "begin at 0 in each dimension", lane));
        }
    }
    let help = "override fields with valid values";
    map.check().map_err(|error| undefined(x, error.to_string(), "5.5", help, lane))?;
    Ok((map, at, rest))
}

/// The box that the coordinates name.
pub fn tensor_box(
    x: &Ctx<'_>,
    q: Q,
    map: Fields,
    operands: &[i32],
    stores: bool,
    lane: usize,
) -> Result<TensorBox, Box<Fault>> {
    let form = CopyForm::of(q);
    let (coordinates, offsets) = operands.split_at(form.coordinates.min(operands.len()));
    if map.rank != form.rank {
        let what = format!("the tensor map has rank {}, but the instruction is `.{}d`", map.rank, form.rank);
        return Err(undefined(x, what, LOADS, "use the instruction of the map's rank", lane));
    }
    if map.mode != form.mode {
        let name = |mode| match mode {
            Mode::Tiled => "a tiled",
            Mode::Im2col => "an im2col",
            Mode::Im2colW => "an `im2col::w`",
            Mode::Im2colW128 => "an `im2col::w::128`",
        };
        let (of, wanted) = (name(map.mode), name(form.mode));
        let what = format!("the tensor map is {of} one, but the instruction needs {wanted} one");
        return Err(undefined(x, what, LOADS, "use the mode of the map", lane));
    }
    let mut start = [0; 5];
    start.iter_mut().zip(coordinates).for_each(|(to, from)| *to = *from);
    let shape = if form.rows {
        let rows = [start[1], start[2], start[3], start[4]];
        start[1..].fill(0);
        if map.box_dims[1] != 1 {
            let what = format!("the box of the map has {} rows, but each of the four is a box of one", map.box_dims[1]);
            return Err(undefined(x, what, "5.5.3.4.1", "make the map with a `boxDim[1]` of 1", lane));
        }
        BoxShape::Rows(rows)
    } else if form.mode.is_wide() {
        let [halo, offset] = [0, 1].map(|i| offsets.get(i).map_or(0, |o| *o as u16));
        let most = if form.mode == Mode::Im2colW128 { 31 } else { 511 };
        for (name, value, most) in [("wHalo", halo, most), ("wOffset", offset, 31)] {
            if value > most {
                let what = format!("`{name}` is {value}, but must be at most {most}");
                return Err(undefined(x, what, LOADS, "give it a valid value", lane));
            }
        }
        if form.mode == Mode::Im2colW128 && halo > 0 {
            let what = "a tensor copy with `im2col::w::128` and a halo".into();
            return Err(x.fault(FaultKind::NotYet { what }, lane as u32));
        }
        let pixels = if form.mode == Mode::Im2colW128 { 128 } else { map.pixels.pixels };
        BoxShape::Wide { pixels: pixels + u32::from(halo), offset }
    } else if form.mode == Mode::Im2col {
        BoxShape::Pixels(pixel_offsets(x, form.rank, offsets, lane)?)
    } else {
        BoxShape::Tile
    };
    let unit = map.element.unit();
    let aligned = if map.element.is_padded() { 128 } else { (16 / unit.global * unit.elements) as i32 };
    if map.interleave == Interleave::None && start[0] % aligned != 0 {
        let what = format!("the first coordinate is {}, but must be a multiple of {aligned}", start[0]);
        return Err(undefined(x, what, LOADS, "align the first coordinate", lane));
    }
    restrictions(x, q, &map, stores, lane)?;
    let negative = coordinates.iter().find(|c| **c < 0 && stores);
    if let Some(c) = negative {
        let what = format!("a coordinate of a store is negative: {c}");
        return Err(undefined(x, what, LOADS, "store boxes that begin inside of the tensor", lane));
    }
    let extents = Extents::new(&map, &start);
    let of = TensorBox { map, shape, extents, coarse: stores };
    if form.mode != Mode::Tiled {
        first_pixel(x, &of, stores, lane)?;
    }
    Ok(of)
}

/// Types and swizzles that copies in one direction do not have.
fn restrictions(x: &Ctx<'_>, q: Q, map: &Fields, stores: bool, lane: usize) -> Result<(), Box<Fault>> {
    let refused = |what: String, help| Err(undefined(x, what, RESTRICTIONS, help, lane));
    if stores && map.swizzle == Swizzle::B128Atom32Flip8 {
        let what = "a store swizzles with 32-byte atoms and flips 8 bytes, which only loads do".into();
        return refused(what, "store with a map of another swizzle");
    }
    if stores && map.element == ElementType::B4x16P64 {
        return refused("a store of `.b4x16_p64`, which only loads have".into(), "store `.b4x16`, without padding");
    }
    let atoms = matches!(map.swizzle, Swizzle::B128Atom32 | Swizzle::B128Atom32Flip8 | Swizzle::B128Atom64);
    if !stores && q.has(q::shared_cluster) && x.geometry.info.target.starts_with("sm_120") {
        let help = "load with `.shared::cta.global`";
        if map.element.is_packed() {
            let what =
                format!("a load of {:?} with `.shared::cluster.global`, which sm_120 does not have", map.element);
            return refused(what, help);
        }
        if atoms {
            let what = format!(
                "a load with swizzle {:?} and `.shared::cluster.global`, which sm_120 does not have",
                map.swizzle
            );
            return refused(what, help);
        }
    }
    Ok(())
}

/// The offsets of `im2col`, of which a pixel of five dimensions has 5 bits each, one of four 8 and one of three 16.
fn pixel_offsets(x: &Ctx<'_>, rank: usize, offsets: &[i32], lane: usize) -> Result<[u16; 3], Box<Fault>> {
    let most = [u16::MAX, 255, 31][rank.clamp(3, 5) - 3];
    let mut all = [0; 3];
    for (i, (to, from)) in all.iter_mut().zip(offsets).enumerate() {
        // operands of 16 bits
        *to = *from as u16;
        if *to > most {
            let what = format!("offset {i} is {to}, but must be at most {most} in a tensor of rank {rank}");
            return Err(undefined(x, what, "5.5.4.1", "give it a valid value", lane));
        }
    }
    Ok(all)
}

/// A fault if the first pixel is not in the bounding box (with `im2col::w` it may be to its left), or if a store's box begins before the image.
fn first_pixel(x: &Ctx<'_>, of: &TensorBox, stores: bool, lane: usize) -> Result<(), Box<Fault>> {
    for d in 0..of.map.mode.spatial(of.map.rank) {
        let (lower, last, at) = of.extents.bounds(&of.map, d);
        if at < lower && !of.map.mode.is_wide() || i64::from(at) > last {
            let coordinate = d + 1 - of.extents.added;
            let what =
                format!("coordinate {coordinate} is {at}, but the bounding box of the map is from {lower} to {last}");
            return Err(undefined(x, what, LOADS, "begin with a pixel of the bounding box", lane));
        }
        if stores && lower < 0 {
            let what = format!("the bounding box of a store begins at {lower}, outside of the image");
            return Err(undefined(x, what, LOADS, "store with a map whose lower corner is not negative", lane));
        }
        let upper = of.map.pixels.upper[d];
        if stores && upper > 0 {
            let what = format!("the bounding box of a store ends {upper} past the image");
            return Err(undefined(x, what, RESTRICTIONS, "store with a map whose upper corner is not positive", lane));
        }
    }
    Ok(())
}

/// A box with its places; all of it must be in shared memory.
pub fn transfer(
    x: &Ctx<'_>,
    (of, map): (TensorBox, Place),
    shared: SharedPlace,
    addr: u64,
    lane: usize,
) -> Result<Transfer, Box<Fault>> {
    let tensor = global(x, of.map.address, 16, lane)?;
    let layout = BoxLayout::of(&of.map);
    let transfer = Transfer { map, tensor, shared, of, layout };
    let size = x.window(shared.rank).map_err(|kind| x.fault(kind, lane as u32))?.len() as u64;
    let extent = transfer.extent();
    if u64::from(shared.offset) + extent > size {
        let bytes = extent.min(u32::MAX.into()) as u32;
        return Err(x.fault(FaultKind::OutOfBounds { space: "shared", addr, bytes, size }, lane as u32));
    }
    Ok(transfer)
}
