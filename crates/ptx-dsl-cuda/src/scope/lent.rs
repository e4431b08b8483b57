//! Memory that is lent to a scope.

use super::memory::Memory;
use super::{Scope, State};
use crate::error::GpuError;
use bytemuck::Pod;
use ptx_dsl_runtime::launch::{self, Arg, GlobalBytes, InFlight, Launch, Passed};
use ptx_dsl_runtime::{Error, ParamInfo, TensorMap};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, RangeBounds};

/// What only a launch of a scope has: with it, lent memory becomes a slice for that launch.
#[doc(hidden)]
pub struct Submission(());

impl Submission {
    pub(super) const LAUNCH: Submission = Submission(());
}

/// Memory that is lent to a scope until it ends, by [`Scope::lend`]. `&lent` is an argument that kernels may read, `&mut lent` one that
/// they may write, as often as you like.
pub struct Lent<'scope, T> {
    scope: &'scope dyn Reads,
    resident: usize,
    first: *mut T,
    elements: usize,
    // a shorter lifetime would be that of another scope
    _scope: PhantomData<&'scope mut &'scope mut [T]>,
}

impl<'scope, T: Pod> Lent<'scope, T> {
    pub(super) fn new(scope: &'scope dyn Reads, resident: usize, elements: &'scope mut [T]) -> Self {
        let (first, elements) = (elements.as_mut_ptr(), elements.len());
        // a launch makes the slice again from the address
        first.expose_provenance();
        Lent { scope, resident, first, elements, _scope: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.elements
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.elements == 0
    }

    /// A part that kernels may read.
    ///
    /// # Panics
    /// If the range is not in the memory.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Part<'_, 'scope, T> {
        let (start, elements) = self.range(&range);
        Part { lent: self, start, elements }
    }

    /// A part that kernels may write.
    ///
    /// # Panics
    /// If the range is not in the memory.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> PartMut<'_, 'scope, T> {
        let (start, elements) = self.range(&range);
        PartMut { lent: self, start, elements }
    }

    fn range(&self, range: &impl RangeBounds<usize>) -> (usize, usize) {
        use std::ops::Bound;
        let start = match range.start_bound() {
            Bound::Included(n) => *n,
            Bound::Excluded(n) => n + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(n) => n + 1,
            Bound::Excluded(n) => *n,
            Bound::Unbounded => self.elements,
        };
        assert!(start <= end && end <= self.elements, "{start}..{end} is not in {} elements", self.elements);
        (start, end - start)
    }

    /// Waits for the launches that use this memory, and reads it.
    ///
    /// # Errors
    /// A launch has failed, or its stream is being captured.
    pub fn read(&self) -> Result<Reading<'_, 'scope, T>, Error> {
        self.scope.begin_read(self.resident)?;
        Ok(Reading { lent: self })
    }

    /// Part of the memory, as an argument of a launch that waits.
    fn shared(&self, start: usize, elements: usize) -> &'scope [T] {
        // SAFETY: the memory is borrowed until the scope ends, and the elements are in it. The slice goes to a launch alone, which passes
        // its address and length on.
        unsafe { std::slice::from_raw_parts(self.first.add(start), elements) }
    }

    /// Part of the memory, as an argument of a launch that waits.
    fn exclusive(&mut self, start: usize, elements: usize) -> &'scope mut [T] {
        // SAFETY: as in `shared`. No other slice of the memory is in use on the host: a reader borrows this value.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(start), elements) }
    }
}

impl<T> fmt::Debug for Lent<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").field("elements", &self.elements).finish_non_exhaustive()
    }
}

/// A part of lent memory, as an argument that kernels may read. From [`Lent::slice`].
pub struct Part<'r, 'scope, T> {
    lent: &'r Lent<'scope, T>,
    start: usize,
    elements: usize,
}

/// A part of lent memory, as an argument that kernels may write. From [`Lent::slice_mut`].
pub struct PartMut<'r, 'scope, T> {
    lent: &'r mut Lent<'scope, T>,
    start: usize,
    elements: usize,
}

impl<'scope, T: Pod> InFlight<'scope, Submission> for &Lent<'scope, T> {
    type Argument = &'scope [T];

    fn argument(self, _: &Submission) -> &'scope [T] {
        self.shared(0, self.elements)
    }
}

impl<'scope, T: Pod> InFlight<'scope, Submission> for &mut Lent<'scope, T> {
    type Argument = &'scope mut [T];

    fn argument(self, _: &Submission) -> &'scope mut [T] {
        self.exclusive(0, self.elements)
    }
}

impl<'scope, T: Pod> InFlight<'scope, Submission> for Part<'_, 'scope, T> {
    type Argument = &'scope [T];

    fn argument(self, _: &Submission) -> &'scope [T] {
        self.lent.shared(self.start, self.elements)
    }
}

impl<'scope, T: Pod> InFlight<'scope, Submission> for PartMut<'_, 'scope, T> {
    type Argument = &'scope mut [T];

    fn argument(self, _: &Submission) -> &'scope mut [T] {
        self.lent.exclusive(self.start, self.elements)
    }
}

/// Lent memory while the host reads it. From [`Lent::read`].
pub struct Reading<'r, 'scope, T> {
    lent: &'r Lent<'scope, T>,
}

impl<T> Deref for Reading<'_, '_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the memory is borrowed until the scope ends. What writes it has ended, and no launch that writes it starts meanwhile:
        // one takes the lent memory exclusively, and a graph asks whether there are readers.
        unsafe { std::slice::from_raw_parts(self.lent.first, self.lent.elements) }
    }
}

impl<T> Drop for Reading<'_, '_, T> {
    fn drop(&mut self) {
        self.lent.scope.end_read(self.lent.resident);
    }
}

/// What lent memory asks of its scope.
pub(super) trait Reads {
    /// Waits for launches that use this memory, copies it to the host, and counts a reader.
    fn begin_read(&self, resident: usize) -> Result<(), Error>;
    /// Counts a reader less.
    fn end_read(&self, resident: usize);
}

impl Reads for Scope<'_, '_> {
    fn begin_read(&self, resident: usize) -> Result<(), Error> {
        let result = self.gpu.bind().and_then(|()| {
            let State { streams, memory, capture, .. } = &mut *self.state.borrow_mut();
            match capture {
                Some(_) => Err(GpuError::InCapture { what: "memory cannot be read" }),
                None => memory.begin_read(resident, streams),
            }
        });
        result.map_err(|problem| self.error(problem))
    }

    fn end_read(&self, resident: usize) {
        self.state.borrow_mut().memory.end_read(resident);
    }
}

/// A tensor map that is lent to a scope with its tensor, by [`Scope::lend_map`]. `&lent` is an argument.
pub struct LentMap<'scope, 't> {
    map: &'scope TensorMap<'t>,
    _scope: PhantomData<&'scope mut &'scope mut TensorMap<'t>>,
}

impl<'scope, 't> LentMap<'scope, 't> {
    pub(super) fn new(map: &'scope mut TensorMap<'t>, memory: &mut Memory) -> Self {
        let map: &'scope TensorMap<'t> = map;
        let params = [ParamInfo { name: "map", offset: 0, size: 128, align: 64, pointer: None, read_only: false }];
        let mut argument = [Arg::from(map)];
        let info = ptx_dsl_runtime::KernelInfo { params: &params, ..crate::module::EMPTY };
        let passed = launch::passed(&info, &Launch::grid(1), &mut argument);
        if let Ok(Some(Passed::TensorMap(_, bytes))) = passed.as_deref().map(<[_]>::first) {
            memory.lend_range(bytes);
        }
        LentMap { map, _scope: PhantomData }
    }
}

impl<'scope, 't> InFlight<'scope, Submission> for &LentMap<'scope, 't> {
    type Argument = &'scope TensorMap<'t>;

    fn argument(self, _: &Submission) -> &'scope TensorMap<'t> {
        self.map
    }
}

/// Whether a launch may write memory that the scope has not been lent: a tensor that a map borrows for the launch alone.
pub(super) fn is_tensor_of_a_launch(bytes: &GlobalBytes<'_>, memory: &Memory) -> bool {
    matches!(bytes, GlobalBytes::Tensor(_)) && !memory.is_lent(bytes)
}
