//! A tensor map with the memory of its tensor.

use std::cell::{Ref, RefCell, RefMut};

use bytemuck::Pod;

use crate::api::tensor_map::builder::TensorMapBuilder;
use crate::api::tensor_map::limits::TensorMapError;
use crate::memory::tensor_map::Fields;

/// A tensor map with its tensor: the argument for a parameter `.param .align 64 .b8 map[128]`.
///
/// [`TensorMap::tiled`] and [`TensorMap::im2col`] start one; [`TensorMapBuilder`](super::TensorMapBuilder) has the fields and limits of
/// `cuTensorMapEncodeTiled` and `cuTensorMapEncodeIm2col`. The innermost dimension comes first. A launch makes the tensor a buffer
/// of global memory and passes the opaque 128 bytes.
///
/// ```
/// # use ptx_dsl_runtime as ptx_dsl;
/// use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};
///
/// let x = vec![0u16; 256 * 128];
/// let map = TensorMap::tiled(&x, ElementType::F16).dims([128, 256]).box_dims([64, 64]).swizzle(Swizzle::B128).build()?;
/// let error = TensorMap::tiled(&x, ElementType::F16).dims([128, 256]).box_dims([64, 300]).build().unwrap_err();
/// assert_eq!(error.to_string(), "`boxDim[1]` of the tensor map is 300, but must be from 1 to 256");
/// # drop(map);
/// # Ok::<(), ptx_dsl::tensor_map::TensorMapError>(())
/// ```
#[derive(Debug)]
pub struct TensorMap<'a> {
    pub(super) fields: Fields,
    pub(super) tensor: Tensor<'a>,
}

/// The memory of a tensor.
#[derive(Debug)]
pub struct Tensor<'a>(MapMemory<'a>);

#[derive(Debug)]
enum MapMemory<'a> {
    ReadOnly(&'a [u8]),
    Writable(RefCell<&'a mut [u8]>),
    Argument(String),
}

/// The memory of a tensor, while a launch uses it.
#[derive(Debug)]
pub(crate) enum Borrowed<'x> {
    ReadOnly(&'x [u8]),
    Writable(RefMut<'x, [u8]>),
    /// The tensor is another argument, with this name.
    Argument(&'x str),
    /// Another argument uses it.
    Taken,
}

impl Tensor<'_> {
    /// The tensor lies in the buffer of another argument of the launch: that of this parameter.
    pub fn argument(parameter: impl Into<String>) -> Self {
        Tensor(MapMemory::Argument(parameter.into()))
    }

    /// The bytes of the map, if they are known before the launch.
    pub(super) fn len(&self) -> Option<u64> {
        match &self.0 {
            MapMemory::ReadOnly(bytes) => Some(bytes.len() as u64),
            MapMemory::Writable(bytes) => Some(Ref::map(bytes.borrow(), |b| &**b).len() as u64),
            MapMemory::Argument(_) => None,
        }
    }
}

macro_rules! tensors {
    ($($t:ty $(, $n:ident)?;)*) => { $(
        impl<'a, T: Pod $(, const $n: usize)?> From<&'a $t> for Tensor<'a> {
            fn from(elements: &'a $t) -> Self {
                Tensor(MapMemory::ReadOnly(bytemuck::cast_slice(&elements[..])))
            }
        }
        impl<'a, T: Pod $(, const $n: usize)?> From<&'a mut $t> for Tensor<'a> {
            fn from(elements: &'a mut $t) -> Self {
                Tensor(MapMemory::Writable(RefCell::new(bytemuck::cast_slice_mut(&mut elements[..]))))
            }
        }
    )* };
}
tensors! { [T]; Vec<T>; [T; N], N; }

impl<'a> TensorMap<'a> {
    /// A map with the fields of another one, over other memory of the same size.
    ///
    /// # Errors
    /// The memory is smaller than the tensor.
    pub fn over(fields: &Fields, tensor: impl Into<Tensor<'a>>) -> Result<Self, TensorMapError> {
        TensorMapBuilder::fitting(tensor.into(), fields.clone())
    }

    /// Bytes of an element in memory, or of the smallest piece of a packed type.
    pub(crate) fn element_bytes(&self) -> u32 {
        self.fields.element.unit().global
    }
}

/// A tensor map, without the lifetime of its tensor.
pub(crate) trait MapWithMemory: std::fmt::Debug {
    /// The memory of the map, for a launch.
    fn borrow(&self) -> Borrowed<'_>;

    /// The fields.
    fn fields(&self) -> &Fields;

    /// The opaque bytes, for a tensor at address 0; the address comes first.
    fn encode(&self) -> [u8; 128] {
        self.fields().encode()
    }
}

impl MapWithMemory for TensorMap<'_> {
    fn borrow(&self) -> Borrowed<'_> {
        match &self.tensor.0 {
            MapMemory::ReadOnly(bytes) => Borrowed::ReadOnly(bytes),
            MapMemory::Argument(name) => Borrowed::Argument(name),
            MapMemory::Writable(bytes) => match bytes.try_borrow_mut() {
                Ok(bytes) => Borrowed::Writable(RefMut::map(bytes, |b| &mut **b)),
                Err(_) => Borrowed::Taken,
            },
        }
    }

    fn fields(&self) -> &Fields {
        &self.fields
    }
}
