//! Makes tensor maps.

use super::limits::{TensorMapError, wrong};
use super::map::{Tensor, TensorMap};
use crate::memory::tensor_map::{ElementType, Fields, Fill, Interleave, L2Promotion, Mode, Swizzle};

/// The fields of a [`TensorMap`]. What is left out has the value in brackets.
#[derive(Debug)]
#[must_use]
pub struct TensorMapBuilder<'a> {
    tensor: Tensor<'a>,
    fields: Fields,
    given: Given,
}

/// Lists, as given: their lengths are checked at the end.
#[derive(Debug, Default)]
struct Given {
    dims: Vec<u64>,
    strides: Option<Vec<u64>>,
    box_dims: Option<Vec<u32>>,
    element_strides: Option<Vec<u32>>,
    lower: Option<Vec<i32>>,
    upper: Option<Vec<i32>>,
}

impl<'a> TensorMap<'a> {
    /// A map for boxes of a tensor, as `cuTensorMapEncodeTiled` makes it. A kernel that stores needs a `&mut` tensor.
    pub fn tiled(tensor: impl Into<Tensor<'a>>, element: ElementType) -> TensorMapBuilder<'a> {
        TensorMapBuilder::new(tensor.into(), element, Mode::Tiled)
    }

    /// A map for columns of pixels of an image, as `cuTensorMapEncodeIm2col` makes it.
    pub fn im2col(tensor: impl Into<Tensor<'a>>, element: ElementType) -> TensorMapBuilder<'a> {
        TensorMapBuilder::new(tensor.into(), element, Mode::Im2col)
    }

    /// A map for `im2col::w`, pixels along the width, as `cuTensorMapEncodeIm2colWide` makes it. It needs a swizzle.
    pub fn im2col_w(tensor: impl Into<Tensor<'a>>, element: ElementType) -> TensorMapBuilder<'a> {
        TensorMapBuilder::new(tensor.into(), element, Mode::Im2colW)
    }

    /// Starts a map for `im2col::w::128`, which copies 128 pixels whatever `pixelsPerColumn` is.
    pub fn im2col_w_128(tensor: impl Into<Tensor<'a>>, element: ElementType) -> TensorMapBuilder<'a> {
        TensorMapBuilder::new(tensor.into(), element, Mode::Im2colW128)
    }
}

impl<'a> TensorMapBuilder<'a> {
    fn new(tensor: Tensor<'a>, element: ElementType, mode: Mode) -> Self {
        TensorMapBuilder { tensor, fields: Fields { element, mode, ..Fields::default() }, given: Given::default() }
    }

    /// `globalDim`: the size of each dimension, the innermost first. Their number is the rank.
    pub fn dims(mut self, sizes: impl Into<Vec<u64>>) -> Self {
        self.given.dims = sizes.into();
        self
    }

    /// `globalStrides`: bytes from one element to the next along each dimension but the innermost \[without gaps\].
    pub fn strides(mut self, bytes: impl Into<Vec<u64>>) -> Self {
        self.given.strides = Some(bytes.into());
        self
    }

    /// `boxDim`: the size of the box, for a tiled map.
    pub fn box_dims(mut self, sizes: impl Into<Vec<u32>>) -> Self {
        self.given.box_dims = Some(sizes.into());
        self
    }

    /// `elementStrides`: every *n*-th element is copied \[1\].
    pub fn element_strides(mut self, steps: impl Into<Vec<u32>>) -> Self {
        self.given.element_strides = Some(steps.into());
        self
    }

    /// `interleave` \[none\].
    pub fn interleave(mut self, interleave: Interleave) -> Self {
        self.fields.interleave = interleave;
        self
    }

    /// `swizzle` \[none\].
    pub fn swizzle(mut self, swizzle: Swizzle) -> Self {
        self.fields.swizzle = swizzle;
        self
    }

    /// `l2Promotion` \[none\].
    pub fn l2_promotion(mut self, size: L2Promotion) -> Self {
        self.fields.l2 = size;
        self
    }

    /// `oobFill` \[zeros\].
    pub fn fill(mut self, fill: Fill) -> Self {
        self.fields.fill = fill;
        self
    }

    /// `pixelBoxLowerCorner` of an im2col map: width, then height and depth, as far as the tensor has them. Maps for `im2col::w` have
    /// the width alone.
    pub fn pixel_box_lower(mut self, corner: impl Into<Vec<i32>>) -> Self {
        self.given.lower = Some(corner.into());
        self
    }

    /// `pixelBoxUpperCorner` of an im2col map.
    pub fn pixel_box_upper(mut self, corner: impl Into<Vec<i32>>) -> Self {
        self.given.upper = Some(corner.into());
        self
    }

    /// `channelsPerPixel` of an im2col map.
    pub fn channels_per_pixel(mut self, channels: u32) -> Self {
        self.fields.pixels.channels = channels;
        self
    }

    /// `pixelsPerColumn` of an im2col map.
    pub fn pixels_per_column(mut self, pixels: u32) -> Self {
        self.fields.pixels.pixels = pixels;
        self
    }

    /// The map.
    ///
    /// # Errors
    /// A field breaks a rule of the driver, or the tensor is larger than its memory.
    pub fn build(self) -> Result<TensorMap<'a>, TensorMapError> {
        let TensorMapBuilder { tensor, mut fields, given } = self;
        fields.rank = given.dims.len();
        let least = if fields.mode == Mode::Tiled { 1 } else { 3 };
        if !(least..=5).contains(&fields.rank) {
            return wrong("tensorRank", format!("is {}, but must be from {least} to 5", fields.rank));
        }
        fields.dims[..fields.rank].copy_from_slice(&given.dims);
        match &given.strides {
            Some(strides) => copy("globalStrides", strides, fields.rank - 1, &mut fields.strides)?,
            None => packed_strides(&mut fields),
        }
        if let Some(steps) = &given.element_strides {
            copy("elementStrides", steps, fields.rank, &mut fields.element_strides)?;
        }
        match (fields.mode, &given.box_dims) {
            (Mode::Tiled, Some(sizes)) => copy("boxDim", sizes, fields.rank, &mut fields.box_dims)?,
            (Mode::Tiled, None) => return wrong("boxDim", "is missing"),
            (_, Some(_)) => return wrong("boxDim", "is not of an im2col map"),
            (_, None) => {}
        }
        let spatial = fields.mode.spatial(fields.rank);
        for (name, corner, to) in [
            ("pixelBoxLowerCorner", &given.lower, &mut fields.pixels.lower),
            ("pixelBoxUpperCorner", &given.upper, &mut fields.pixels.upper),
        ] {
            match (fields.mode, corner) {
                (Mode::Tiled, Some(_)) => return wrong(name, "is not of a tiled map"),
                (_, Some(corner)) => copy(name, corner, spatial, to)?,
                (_, None) => {}
            }
        }
        fields.check()?;
        TensorMapBuilder::fitting(tensor, fields)
    }

    /// The map, if its tensor fits into the memory.
    pub(super) fn fitting(tensor: Tensor<'a>, fields: Fields) -> Result<TensorMap<'a>, TensorMapError> {
        let end = end(&fields);
        if let Some(len) = tensor.len()
            && end > u128::from(len)
        {
            return wrong("globalDim", format!("is that of {end} bytes, but the memory has {len}"));
        }
        Ok(TensorMap { fields, tensor })
    }
}

/// A list that must have this many numbers.
fn copy<T: Copy>(field: &str, from: &[T], wanted: usize, to: &mut [T]) -> Result<(), TensorMapError> {
    if from.len() != wanted {
        return wrong(field, format!("has {} numbers, but must have {wanted}", from.len()));
    }
    to[..wanted].copy_from_slice(from);
    Ok(())
}

/// Strides without gaps.
fn packed_strides(fields: &mut Fields) {
    let unit = fields.element.unit();
    let mut stride = fields.dims[0].div_ceil(unit.elements.into()).saturating_mul(unit.global.into());
    for i in 1..fields.rank {
        fields.strides[i - 1] = stride;
        stride = stride.saturating_mul(fields.dims[i]);
    }
}

/// Bytes from the first element of the tensor to the end of the last.
fn end(fields: &Fields) -> u128 {
    let unit = fields.element.unit();
    let row = u128::from(fields.dims[0].div_ceil(unit.elements.into())) * u128::from(unit.global);
    let outer = fields.dims[1..fields.rank].iter().zip(&fields.strides);
    outer.fold(row, |end, (dim, stride)| end + u128::from(dim - 1) * u128::from(*stride))
}
