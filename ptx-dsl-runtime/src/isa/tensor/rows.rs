//! The rows of a box: which bytes of the tensor they are, in the order in which they lie in shared memory.

use crate::fault::FaultKind;
use crate::tensor_map::fields::Fields;

/// A row of a box along the innermost dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Its number in the box.
    pub index: u32,
    /// Bytes at its beginning that are outside of the tensor.
    pub before: u32,
    /// Bytes behind these that are copied.
    pub bytes: u32,
    /// As many of them are inside of the tensor.
    pub inside: u32,
    /// Where the first byte inside is, from the start of the tensor.
    pub from: u64,
}

/// How a box is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The box of the map.
    Tile,
    /// Four rows of a matrix.
    Rows([i32; 4]),
    /// A column of pixels, with offsets in width, height and depth.
    Pixels([u16; 3]),
}

/// A box of a tensor.
#[derive(Debug)]
pub struct TensorBox {
    pub map: Fields,
    pub shape: Shape,
    pub start: [i32; 5],
    /// Copies the innermost dimension in pieces of 16 bytes, so that up to 15 bytes behind it are copied too.
    pub coarse: bool,
}

impl TensorBox {
    /// The number of rows.
    pub fn count(&self) -> u64 {
        match self.shape {
            Shape::Tile => (1..self.map.rank).map(|d| u64::from(self.steps(d))).product(),
            Shape::Rows(_) => 4,
            Shape::Pixels(_) => self.map.pixels.pixels.into(),
        }
    }

    /// The rows of a tile along dimension `d`.
    fn steps(&self, d: usize) -> u32 {
        self.map.box_dims[d].div_ceil(self.map.element_strides[d])
    }

    /// Calls `f` for each row.
    #[inline(always)]
    pub fn rows(&self, mut f: impl FnMut(Row) -> Result<(), FaultKind>) -> Result<(), FaultKind> {
        let part = self.part();
        match self.shape {
            Shape::Tile => self.tile(&part, f),
            Shape::Rows(rows) => (0..).zip(rows).try_for_each(|(i, row)| {
                let mut at = self.start;
                at[1] = row;
                f(part.at(i, self.offset(&at, 1)))
            }),
            Shape::Pixels(offsets) => self.pixels(&part, offsets, f),
        }
    }

    #[inline(always)]
    fn tile(&self, part: &Row, mut f: impl FnMut(Row) -> Result<(), FaultKind>) -> Result<(), FaultKind> {
        let (rank, mut at, mut done, mut index) = (self.map.rank, self.start, [0; 5], 0);
        if rank == 1 {
            return f(part.at(0, Some(0)));
        }
        let (height, step) = (self.steps(1), i64::from(self.map.element_strides[1]));
        loop {
            let plane = self.offset(&at, 2);
            for i in 0..height {
                let row = i64::from(at[1]) + i64::from(i) * step;
                let inside = plane.filter(|_| row >= 0 && (row as u64) < self.map.dims[1]);
                let from = inside.map(|plane| plane.saturating_add((row as u64).saturating_mul(self.map.strides[0])));
                f(part.at(index, from))?;
                index += 1;
            }
            let mut d = 2;
            loop {
                if d >= rank {
                    return Ok(());
                }
                done[d] += 1;
                at[d] = at[d].saturating_add(self.map.element_strides[d] as i32);
                if done[d] < self.steps(d) {
                    break;
                }
                (done[d], at[d]) = (0, self.start[d]);
                d += 1;
            }
        }
    }

    /// Pixels in the order of width, height, depth and image; the bounding box limits them.
    fn pixels(
        &self,
        part: &Row,
        offsets: [u16; 3],
        mut f: impl FnMut(Row) -> Result<(), FaultKind>,
    ) -> Result<(), FaultKind> {
        let (map, mut at) = (&self.map, self.start);
        let spatial = map.rank - 2;
        for index in 0..map.pixels.pixels {
            let mut pixel = at;
            for d in 0..spatial {
                pixel[d + 1] = at[d + 1].saturating_add(offsets[d].into());
            }
            f(part.at(index, self.offset(&pixel, 1)))?;
            let mut carry = true;
            for d in 0..spatial {
                at[d + 1] = at[d + 1].saturating_add(map.element_strides[d + 1] as i32);
                let last = map.dims[d + 1] as i64 - 1 + i64::from(map.pixels.upper[d]);
                carry = i64::from(at[d + 1]) > last;
                if !carry {
                    break;
                }
                at[d + 1] = map.pixels.lower[d];
            }
            if carry {
                at[map.rank - 1] = at[map.rank - 1].saturating_add(map.element_strides[map.rank - 1] as i32);
            }
        }
        Ok(())
    }

    /// Where a row begins in the tensor, by its coordinates from dimension `first` on; `None` if it is outside.
    #[inline(always)]
    fn offset(&self, at: &[i32; 5], first: usize) -> Option<u64> {
        let (map, mut from) = (&self.map, 0u64);
        for ((at, dim), stride) in at[first..map.rank].iter().zip(&map.dims[first..]).zip(&map.strides[first - 1..]) {
            if *at < 0 || *at as u64 >= *dim {
                return None;
            }
            from = from.saturating_add((*at as u64).saturating_mul(*stride));
        }
        Some(from)
    }

    /// What all rows have in common: the part of the innermost dimension.
    fn part(&self) -> Row {
        let (map, unit) = (&self.map, self.map.element.unit());
        let width = i64::from(map.inner() / unit.elements * unit.global);
        let first = i64::from(self.start[0].div_euclid(unit.elements as i32)) * i64::from(unit.global);
        let before = (-first).clamp(0, width);
        let len = (map.dims[0] / u64::from(unit.elements) * u64::from(unit.global)) as i64;
        let limit = if self.coarse { (len + 15) & !15 } else { len };
        let until = |end: i64| ((first + width).min(end) - (first + before)).max(0) as u32;
        Row {
            index: 0,
            before: before as u32,
            bytes: until(limit),
            inside: until(len),
            from: (first + before).max(0) as u64,
        }
    }
}

impl Row {
    /// The row of this number, from an offset in the tensor on.
    #[inline(always)]
    fn at(&self, index: u32, from: Option<u64>) -> Row {
        match from {
            Some(from) => Row { index, from: self.from.saturating_add(from), ..*self },
            None => Row { index, before: 0, bytes: 0, inside: 0, from: 0 },
        }
    }
}
