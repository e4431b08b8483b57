//! The rows of a box: the bytes of the tensor that they are, in the order in which they lie in shared memory.

use crate::fault::FaultKind;
use crate::memory::tensor_map::Fields;

/// A row of a box along the innermost dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoxRow {
    /// The number of the row in the box.
    pub index: u32,
    /// The bytes at the beginning of the row that are outside of the tensor.
    pub before: u32,
    /// Bytes after these that are copied.
    pub bytes: u32,
    /// The number of these bytes that are inside of the tensor.
    pub inside: u32,
    /// The offset of the first byte inside, from the start of the tensor.
    pub from: u64,
}

/// Rows that follow each other in the box, and in the tensor with a stride.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub first: BoxRow,
    pub count: u32,
    pub stride: u64,
}

/// The shape of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoxShape {
    /// The box of the map.
    Tile,
    /// Four rows of a matrix.
    Rows([i32; 4]),
    /// A column of pixels, with offsets in width, height and depth.
    Pixels([u16; 3]),
    /// A row of this many pixels along the width, the halo included, and an offset.
    Wide { pixels: u32, offset: u16 },
}

/// A tensor as a copy walks through it: bytes in the innermost dimension, and a number of steps in each of the others.
///
/// An element of an interleaved layout is a slice of 16 or 32 bytes. It is a dimension of its own here, in front of those of the map.
#[derive(Debug)]
pub struct Extents {
    /// Bytes of a row of the box.
    pub row: u32,
    /// Bytes of the tensor in the innermost dimension.
    length: i64,
    /// The offset of a row in the innermost dimension, in bytes.
    first: i64,
    rank: usize,
    /// Dimensions in front of those of the map.
    pub added: usize,
    /// The extents of the tensor by dimension.
    dims: [u64; DIMS],
    /// The byte strides of all dimensions but the innermost.
    strides: [u64; DIMS - 1],
    /// Rows of a tile.
    counts: [u32; DIMS],
    steps: [u32; DIMS],
    start: [i32; DIMS],
}

const DIMS: usize = 6;

impl Extents {
    pub fn new(map: &Fields, start: &[i32; 5]) -> Self {
        let unit = map.element.unit();
        let slice = map.interleave.slice();
        let added = usize::from(slice.is_some());
        let rank = map.rank + added;
        let mut e = Extents {
            row: slice.unwrap_or(map.inner() / unit.elements * unit.global),
            length: slice.map_or((map.dims[0] / u64::from(unit.elements) * u64::from(unit.global)) as i64, i64::from),
            first: i64::from(start[0].div_euclid(unit.elements as i32)) * i64::from(unit.global),
            rank,
            added,
            dims: [1; DIMS],
            strides: [0; DIMS - 1],
            counts: [1; DIMS],
            steps: [1; DIMS],
            start: [0; DIMS],
        };
        if let Some(slice) = slice {
            (e.first, e.strides[0]) = (0, slice.into());
        }
        e.start[added..rank].copy_from_slice(&start[..map.rank]);
        e.dims[added..rank].copy_from_slice(&map.dims[..map.rank]);
        e.steps[added..rank].copy_from_slice(&map.element_strides[..map.rank]);
        for d in added..rank {
            // the last but one is that of the slices: a copy has one of them, whatever the box says
            let of_slices = slice.is_some() && d + 2 == rank;
            e.counts[d] = if of_slices { 1 } else { map.box_dims[d - added].div_ceil(e.steps[d]) };
        }
        e.strides[added..added + map.rank - 1].copy_from_slice(&map.strides[..map.rank - 1]);
        e
    }

    /// The offset of a row in the tensor, by its coordinates from dimension `first` on; `None` if it is outside.
    #[inline(always)]
    fn offset(&self, at: &[i32; DIMS], first: usize) -> Option<u64> {
        let mut from = 0u64;
        let outer = self.dims[first..self.rank].iter().zip(&self.strides[first - 1..]);
        for (at, (dim, stride)) in at[first..self.rank].iter().zip(outer) {
            if *at < 0 || *at as u64 >= *dim {
                return None;
            }
            from = from.saturating_add((*at as u64).saturating_mul(*stride));
        }
        Some(from)
    }

    /// The first and the last coordinate of the bounding box in spatial dimension `d`, and where the copy begins in it.
    pub fn bounds(&self, map: &Fields, d: usize) -> (i32, i64, i32) {
        let last = self.dims[d + 1] as i64 - 1 + i64::from(map.pixels.upper[d]);
        (map.pixels.lower[d], last, self.start[d + 1])
    }
}

/// A box of a tensor.
#[derive(Debug)]
pub struct TensorBox {
    pub map: Fields,
    pub shape: BoxShape,
    pub extents: Extents,
    /// Copies the innermost dimension in pieces of 16 bytes, so that up to 15 bytes after it are copied too.
    pub coarse: bool,
}

impl TensorBox {
    /// The number of rows.
    pub fn count(&self) -> u64 {
        match self.shape {
            BoxShape::Tile => self.extents.counts[1..self.extents.rank].iter().map(|n| u64::from(*n)).product(),
            BoxShape::Rows(_) => 4,
            BoxShape::Pixels(_) => self.map.pixels.pixels.into(),
            BoxShape::Wide { pixels, .. } => pixels.into(),
        }
    }

    /// Calls `f` for each row.
    #[inline(always)]
    pub fn rows(&self, mut f: impl FnMut(BoxRow) -> Result<(), FaultKind>) -> Result<(), FaultKind> {
        self.runs(|run| run.rows().try_for_each(&mut f))
    }

    /// Calls `f` for rows that follow each other, as many as can be said at once.
    #[inline(always)]
    pub fn runs(&self, mut f: impl FnMut(Run) -> Result<(), FaultKind>) -> Result<(), FaultKind> {
        let (part, e) = (self.part(), &self.extents);
        let mut one = |first| f(Run { first, count: 1, stride: 0 });
        match self.shape {
            BoxShape::Tile => self.tile(&part, f),
            BoxShape::Rows(rows) => (0..).zip(rows).try_for_each(|(i, row)| {
                let mut at = e.start;
                at[1] = row;
                one(part.at(i, e.offset(&at, 1)))
            }),
            BoxShape::Pixels(offsets) => self.pixels(&part, offsets, one),
            BoxShape::Wide { pixels, offset } => self.wide(&part, pixels, offset, one),
        }
    }

    #[inline(always)]
    fn tile(&self, part: &BoxRow, mut f: impl FnMut(Run) -> Result<(), FaultKind>) -> Result<(), FaultKind> {
        let e = &self.extents;
        let (rank, mut at, mut done, mut index) = (e.rank, e.start, [0; DIMS], 0);
        if rank == 1 {
            return f(Run { first: part.at(0, Some(0)), count: 1, stride: 0 });
        }
        let (height, step) = (i64::from(e.counts[1]), i64::from(e.steps[1]).max(1));
        loop {
            let (plane, top) = (e.offset(&at, 2), i64::from(at[1]));
            // the rows inside of the tensor are in the middle
            let number = |until: i64| ((until - top + step - 1).div_euclid(step)).clamp(0, height);
            let height_of_tensor = i64::try_from(e.dims[1]).unwrap_or(i64::MAX >> 1);
            let (begin, end) = if plane.is_some() { (number(0), number(height_of_tensor)) } else { (height, height) };
            let from = plane.map(|plane| {
                let row = (top + begin * step) as u64;
                plane.saturating_add(row.saturating_mul(e.strides[0]))
            });
            let stride = (step as u64).saturating_mul(e.strides[0]);
            for (count, from, stride) in [(begin, None, 0), (end - begin, from, stride), (height - end, None, 0)] {
                if count > 0 {
                    f(Run { first: part.at(index, from), count: count as u32, stride })?;
                    index += count as u32;
                }
            }
            let mut d = 2;
            loop {
                if d >= rank {
                    return Ok(());
                }
                done[d] += 1;
                at[d] = at[d].saturating_add(e.steps[d] as i32);
                if done[d] < e.counts[d] {
                    break;
                }
                (done[d], at[d]) = (0, e.start[d]);
                d += 1;
            }
        }
    }

    /// Pixels in the order of width, height, depth and image; the bounding box limits them.
    fn pixels(
        &self,
        part: &BoxRow,
        offsets: [u16; 3],
        mut f: impl FnMut(BoxRow) -> Result<(), FaultKind>,
    ) -> Result<(), FaultKind> {
        let (map, e) = (&self.map, &self.extents);
        let (mut at, spatial) = (e.start, map.rank - 2);
        for index in 0..map.pixels.pixels {
            let mut pixel = at;
            for d in 0..spatial {
                pixel[d + 1] = at[d + 1].saturating_add(offsets[d].into());
            }
            f(part.at(index, e.offset(&pixel, 1)))?;
            let mut carry = true;
            for d in 0..spatial {
                at[d + 1] = at[d + 1].saturating_add(e.steps[d + 1] as i32);
                let (lower, last, _) = e.bounds(map, d);
                carry = i64::from(at[d + 1]) > last;
                if !carry {
                    break;
                }
                at[d + 1] = lower;
            }
            if carry {
                at[e.rank - 1] = at[e.rank - 1].saturating_add(e.steps[e.rank - 1] as i32);
            }
        }
        Ok(())
    }

    /// Pixels along the width; after the bounding box the next image follows, at the same height and depth. The halo continues them
    /// (PTX ISA 5.5.5.3). The offset moves the box and the pixels alike, so it is added at the end.
    fn wide(
        &self,
        part: &BoxRow,
        pixels: u32,
        offset: u16,
        mut f: impl FnMut(BoxRow) -> Result<(), FaultKind>,
    ) -> Result<(), FaultKind> {
        let e = &self.extents;
        let (lower, last, _) = e.bounds(&self.map, 0);
        let mut at = e.start;
        for index in 0..pixels {
            let mut pixel = at;
            pixel[1] = at[1].saturating_add(offset.into());
            f(part.at(index, e.offset(&pixel, 1)))?;
            at[1] = at[1].saturating_add(e.steps[1] as i32);
            if i64::from(at[1]) > last {
                at[1] = lower;
                at[e.rank - 1] = at[e.rank - 1].saturating_add(1);
            }
        }
        Ok(())
    }

    /// The part of the innermost dimension, which all rows have in common.
    fn part(&self) -> BoxRow {
        let Extents { first, length, row, .. } = self.extents;
        let width = i64::from(row);
        let before = (-first).clamp(0, width);
        let limit = if self.coarse { (length + 15) & !15 } else { length };
        let until = |end: i64| ((first + width).min(end) - (first + before)).max(0) as u32;
        BoxRow {
            index: 0,
            before: before as u32,
            bytes: until(limit),
            inside: until(length),
            from: (first + before).max(0) as u64,
        }
    }
}

impl Run {
    #[inline(always)]
    pub fn rows(self) -> impl Iterator<Item = BoxRow> {
        let Run { first, count, stride } = self;
        (0..count).map(move |i| {
            let from = first.from.saturating_add(stride.saturating_mul(i.into()));
            BoxRow { index: first.index + i, from, ..first }
        })
    }
}

impl BoxRow {
    /// The row of this number, from an offset in the tensor on.
    #[inline(always)]
    fn at(&self, index: u32, from: Option<u64>) -> BoxRow {
        match from {
            Some(from) => BoxRow { index, from: self.from.saturating_add(from), ..*self },
            None => BoxRow { index, before: 0, bytes: 0, inside: 0, from: 0 },
        }
    }
}
