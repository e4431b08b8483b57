//! The limits of the fields: those of `cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col` and `cuTensorMapEncodeIm2colWide`.

use std::fmt;

use crate::memory::tensor_map::{ElementType, Fields, Fill, Interleave, Mode, Swizzle};

/// A field of a tensor map is wrong. It has the name of the parameter of `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorMapError {
    /// `boxDim[0]`, `globalStrides[1]`
    pub field: String,
    /// what is wrong with it
    pub problem: String,
}

impl fmt::Display for TensorMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of the tensor map {}", self.field, self.problem)
    }
}

impl std::error::Error for TensorMapError {}

/// An error about a field.
pub(super) fn wrong<T>(field: impl Into<String>, problem: impl Into<String>) -> Result<T, TensorMapError> {
    Err(TensorMapError { field: field.into(), problem: problem.into() })
}

/// A field, and its index if it is an array.
#[derive(Clone, Copy)]
struct Field(&'static str, Option<usize>);

impl From<Field> for String {
    fn from(Field(name, index): Field) -> String {
        index.map_or(name.into(), |index| format!("{name}[{index}]"))
    }
}

/// An array's element.
fn at(name: &'static str, index: usize) -> Field {
    Field(name, Some(index))
}

/// A field that must be in a range.
fn within<T: PartialOrd + fmt::Display>(field: Field, value: T, least: T, most: T) -> Result<(), TensorMapError> {
    if value < least || value > most {
        return wrong(field, format!("is {value}, but must be from {least} to {most}"));
    }
    Ok(())
}

/// A field that must be a multiple.
fn multiple(field: Field, value: u64, of: u64, why: &str) -> Result<(), TensorMapError> {
    if !value.is_multiple_of(of) {
        return wrong(field, format!("is {value}, but must be a multiple of {of}{why}"));
    }
    Ok(())
}

impl Fields {
    /// The first field that breaks a rule.
    pub fn check(&self) -> Result<(), TensorMapError> {
        let least = if self.mode != Mode::Tiled || self.interleave != Interleave::None { 3 } else { 1 };
        within(Field("tensorRank", None), self.rank, least, 5)?;
        let wide = self.interleave == Interleave::B32 || self.element.is_padded();
        multiple(Field("globalAddress", None), self.address, if wide { 32 } else { 16 }, "")?;
        for (i, dim) in self.dims[..self.rank].iter().enumerate() {
            within(at("globalDim", i), *dim, 1, 1 << 32)?;
        }
        let packed = " for a packed type";
        match self.element {
            ElementType::B4x16 => multiple(at("globalDim", 0), self.dims[0], 2, packed)?,
            e if e.is_padded() => multiple(at("globalDim", 0), self.dims[0], 128, packed)?,
            _ => {}
        }
        for (i, stride) in self.strides[..self.rank - 1].iter().enumerate() {
            within(at("globalStrides", i), *stride, 0, (1 << 40) - 1)?;
            multiple(at("globalStrides", i), *stride, if wide { 32 } else { 16 }, "")?;
        }
        for (i, stride) in self.element_strides[..self.rank].iter().enumerate() {
            within(at("elementStrides", i), *stride, 1, 8)?;
        }
        match self.mode {
            Mode::Tiled => self.check_box()?,
            _ => self.check_pixels()?,
        }
        self.check_swizzle()?;
        if self.fill == Fill::Nan && !self.element.is_float() {
            return wrong("oobFill", format!("is NaN, but the elements are {:?}", self.element));
        }
        Ok(())
    }

    fn check_box(&self) -> Result<(), TensorMapError> {
        for (i, dim) in self.box_dims[..self.rank].iter().enumerate() {
            within(at("boxDim", i), *dim, 1, 256)?;
        }
        self.check_row(at("boxDim", 0))
    }

    fn check_pixels(&self) -> Result<(), TensorMapError> {
        let (least, most) = match self.rank {
            _ if self.mode.is_wide() => (-32768, 32767),
            3 => (-32768, 32767),
            4 => (-128, 127),
            _ => (-16, 15),
        };
        let p = &self.pixels;
        for i in 0..self.mode.spatial(self.rank) {
            within(at("pixelBoxLowerCorner", i), p.lower[i], least, most)?;
            within(at("pixelBoxUpperCorner", i), p.upper[i], least, most)?;
            // an interleaved map begins with the width
            let spatial = if self.interleave == Interleave::None { i + 1 } else { i };
            let width = self.dims[spatial] as i64 + i64::from(p.upper[i]) - i64::from(p.lower[i]);
            if width <= 0 {
                return wrong(
                    at("pixelBoxUpperCorner", i),
                    format!("is {}, which makes the bounding box empty", p.upper[i]),
                );
            }
        }
        within(Field("channelsPerPixel", None), p.channels, 1, 256)?;
        if self.mode != Mode::Im2colW128 {
            within(Field("pixelsPerColumn", None), p.pixels, 1, 1024)?;
        }
        self.check_row(Field("channelsPerPixel", None))
    }

    /// A row of the box: its bytes in shared memory.
    fn check_row(&self, field: Field) -> Result<(), TensorMapError> {
        let (inner, bytes, span) = (self.inner(), self.row_bytes(), self.swizzle.span());
        if self.element.is_padded() && inner != 128 {
            return wrong(field, format!("is {inner}, but must be 128 for {:?}", self.element));
        }
        if !inner.is_multiple_of(self.element.unit().elements) || !bytes.is_multiple_of(16) {
            return wrong(field, format!("is {inner}: {bytes} bytes, but must be a multiple of 16 bytes"));
        }
        if self.interleave == Interleave::None && span != 0 && bytes > span {
            return wrong(field, format!("is {inner}: {bytes} bytes, but the swizzle needs at most {span}"));
        }
        Ok(())
    }

    fn check_swizzle(&self) -> Result<(), TensorMapError> {
        use Swizzle::*;
        if self.mode.is_wide() {
            if !matches!(self.swizzle, B64 | B128 | B128Atom32) {
                return wrong("swizzle", format!("is {:?}, which `im2col::w` does not have", self.swizzle));
            }
            if self.interleave != Interleave::None {
                return wrong("interleave", "must be none for `im2col::w`");
            }
        }
        if self.interleave == Interleave::B32 && self.swizzle != B32 {
            return wrong("swizzle", "must be 32B, because `interleave` is 32B");
        }
        let allowed: &[Swizzle] = match self.element {
            ElementType::B4x16P64 => &[None, B128, B128Atom32],
            ElementType::B6x16P32 => &[None, B128, B128Atom32, B128Atom64],
            _ => return Ok(()),
        };
        if !allowed.contains(&self.swizzle) {
            return wrong("swizzle", format!("is {:?}, which {:?} does not have", self.swizzle, self.element));
        }
        if self.interleave != Interleave::None {
            return wrong("interleave", format!("must be none for {:?}", self.element));
        }
        Ok(())
    }
}
