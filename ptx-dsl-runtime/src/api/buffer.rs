//! Memory of the host that outlives a launch, and views of memory with strides.

mod live;

pub(crate) use live::offset_in_buffer;

use bytemuck::Pod;
use live::Live;
use std::fmt;
use std::ops::{Deref, DerefMut, Index, RangeBounds};

/// Elements that kernels read and write, over several launches. Made by [`Host::buffer`](crate::api::host::Host::buffer).
///
/// For a kernel it is an allocation of device memory, as `cudaMalloc` makes it: it begins at a multiple of 256, and every slice of it keeps
/// its offset from there. In Rust it is a vector that cannot grow: `&buffer[..]` are its elements.
///
/// It is passed where a kernel takes `&[T]` or `&mut [T]`, as is a part of it:
///
/// ```
/// # use ptx_dsl_runtime::Host;
/// fn kernel(x: &[f32], y: &mut [f32]) {
///     y.copy_from_slice(x);
/// }
/// let host = Host::new();
/// let x = host.buffer(&[1.0, 2.0, 3.0, 4.0]);
/// let mut y = host.zeroed::<f32>(3);
/// kernel(x.slice(1..4), &mut y);
/// kernel(&x[..1], y.slice_mut(2..));
/// assert_eq!(y.to_vec(), [2.0, 3.0, 1.0]);
/// ```
pub struct Buffer<T> {
    // dropped before the memory of the elements is free for others
    _live: Live,
    elements: BufferElements<T>,
}

/// The elements of a buffer.
enum BufferElements<T> {
    Vector(Vec<T>),
    Memory(Box<dyn DerefMut<Target = [T]> + Send + Sync>),
}

impl<T> Deref for BufferElements<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            BufferElements::Vector(elements) => elements,
            BufferElements::Memory(elements) => elements,
        }
    }
}

impl<T> DerefMut for BufferElements<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            BufferElements::Vector(elements) => elements,
            BufferElements::Memory(elements) => elements,
        }
    }
}

impl<T> Buffer<T> {
    pub(crate) fn new(elements: Vec<T>) -> Self {
        Buffer { _live: Live::new(&elements), elements: BufferElements::Vector(elements) }
    }

    /// A buffer in memory of another kind, such as memory that a GPU shares with the host. The elements may not move as long as it lives.
    pub fn in_memory(elements: impl DerefMut<Target = [T]> + Send + Sync + 'static) -> Self {
        Buffer { _live: Live::new(&elements), elements: BufferElements::Memory(Box::new(elements)) }
    }
}

impl<T: Pod> Buffer<T> {
    /// A copy of all elements.
    pub fn to_vec(&self) -> Vec<T> {
        self.elements.to_vec()
    }

    /// Copies the elements out.
    ///
    /// # Panics
    /// If `to` has another length.
    pub fn copy_to(&self, to: &mut [T]) {
        to.copy_from_slice(&self.elements);
    }

    /// Copies other elements in.
    ///
    /// # Panics
    /// If `from` has another length.
    pub fn copy_from(&mut self, from: &[T]) {
        self.elements.copy_from_slice(from);
    }

    /// A part. A kernel that gets it can access no other.
    ///
    /// # Panics
    /// If the range is not in the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> &[T] {
        &self.elements[(range.start_bound().cloned(), range.end_bound().cloned())]
    }

    /// A part that a kernel can write.
    ///
    /// # Panics
    /// If the range is not in the buffer.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> &mut [T] {
        &mut self.elements[(range.start_bound().cloned(), range.end_bound().cloned())]
    }
}

impl<T: Clone> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Buffer::new(self.elements.to_vec())
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.elements
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.elements
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Memory with a shape: the element at `[i, j]` is `i * strides[0] + j * strides[1]` elements after the first.
///
/// The memory is a slice, or something that owns one: `&x[..]`, `&mut x[..]`, a vector, a [`Buffer`]. All elements of the shape are in
/// it. A reference to a view is passed where a kernel takes `&[T]` or `&mut [T]`; shape and strides are parameters of their own.
///
/// ```
/// # use ptx_dsl_runtime::Strided;
/// let x = [1, 2, 3, 0, 4, 5, 6, 0];
/// let rows = Strided::new(&x[..], [2, 3], [4, 1])?;
/// assert_eq!((rows[[1, 0]], rows.shape(), rows.strides()), (4, [2, 3], [4, 1]));
/// let columns = Strided::new(&x[..], [3, 2], [1, 4])?;
/// assert_eq!(columns[[2, 1]], 6);
/// assert_eq!(
///     Strided::new(&x[..], [3, 3], [4, 1]).unwrap_err().to_string(),
///     "the last element of shape [3, 3] with strides [4, 1] is number 10, and there are 8"
/// );
/// # Ok::<(), ptx_dsl_runtime::StridedError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strided<D, const N: usize> {
    data: D,
    shape: [usize; N],
    strides: [usize; N],
}

/// A shape with strides has elements that are not in the memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the last element of shape {shape:?} with strides {strides:?} is number {last}, and there are {elements}")]
#[non_exhaustive]
pub struct StridedError {
    /// Elements of each dimension.
    pub shape: Vec<usize>,
    /// Elements from one to the next.
    pub strides: Vec<usize>,
    /// The number of the last element, from 0; `usize::MAX` if it is too large.
    pub last: usize,
    /// Elements of the memory.
    pub elements: usize,
}

impl<T, D: Deref<Target = [T]>, const N: usize> Strided<D, N> {
    /// A view of elements.
    ///
    /// # Errors
    /// An element is not in the memory. A view without elements needs no memory.
    pub fn new(data: D, shape: [usize; N], strides: [usize; N]) -> Result<Self, StridedError> {
        let last = shape
            .iter()
            .zip(strides)
            .fold(0usize, |last, (n, stride)| last.saturating_add(n.saturating_sub(1).saturating_mul(stride)));
        if !shape.contains(&0) && last >= data.len() {
            let (shape, strides) = (shape.to_vec(), strides.to_vec());
            return Err(StridedError { shape, strides, last, elements: data.len() });
        }
        Ok(Strided { data, shape, strides })
    }

    /// A view in which the elements of the last dimension, then those of the others, are next to each other.
    ///
    /// # Errors
    /// As [`new`](Strided::new).
    pub fn contiguous(data: D, shape: [usize; N]) -> Result<Self, StridedError> {
        let (mut strides, mut stride) = ([0; N], 1usize);
        for (place, n) in strides.iter_mut().zip(shape).rev() {
            *place = stride;
            stride = stride.saturating_mul(n);
        }
        Strided::new(data, shape, strides)
    }
}

impl<D, const N: usize> Strided<D, N> {
    /// Elements of each dimension.
    pub fn shape(&self) -> [usize; N] {
        self.shape
    }

    /// Elements from one to the next of each dimension.
    pub fn strides(&self) -> [usize; N] {
        self.strides
    }
}

impl<T, D: Deref<Target = [T]>, const N: usize> Index<[usize; N]> for Strided<D, N> {
    type Output = T;

    /// # Panics
    /// If an index is not in the shape.
    fn index(&self, index: [usize; N]) -> &T {
        assert!(index.iter().zip(self.shape).all(|(i, n)| *i < n), "{index:?} is not in the shape {:?}", self.shape);
        &self.data[index.iter().zip(self.strides).map(|(i, stride)| i * stride).sum::<usize>()]
    }
}

impl<T, D: Deref<Target = [T]>, const N: usize> Deref for Strided<D, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.data
    }
}

impl<T, D: DerefMut<Target = [T]>, const N: usize> DerefMut for Strided<D, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_of_a_view_is_in_the_memory() {
        let x = [0u8; 12];
        for (shape, strides, fits) in [
            ([3, 4], [4, 1], true),
            ([3, 4], [1, 3], true),
            ([3, 4], [4, 2], false),
            ([4, 4], [4, 1], false),
            ([2, 4], [8, 1], true),
            ([2, 5], [8, 1], false),
            ([99, 99], [0, 0], true),
            ([0, 99], [usize::MAX, 1], true),
            ([2, 1], [usize::MAX, 1], false),
        ] {
            assert_eq!(Strided::new(&x[..], shape, strides).is_ok(), fits, "{shape:?} {strides:?}");
        }
        let view = Strided::contiguous(vec![0; 24], [2, 3, 4]).unwrap();
        assert_eq!(view.strides(), [12, 4, 1]);
        assert!(Strided::contiguous(&x[..], [2, 3, 4]).is_err());
        assert!(Strided::new(&x[..0], [], []).is_err(), "a view without dimensions has one element");
    }

    #[test]
    #[should_panic(expected = "[0, 3] is not in the shape [2, 3]")]
    fn an_index_is_in_the_shape() {
        let _ = Strided::new([1, 2, 3, 4, 5, 6].as_slice(), [2, 3], [3, 1]).unwrap()[[0, 3]];
    }
}
