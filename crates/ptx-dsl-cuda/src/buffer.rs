//! Buffers in managed memory: one address for the host and the GPU. Their pages move to whoever accesses them.

use crate::calls::Called;
use crate::error::GpuError;
use bytemuck::Pod;
use cudarc::driver::sys::{self, CUmem_advise, CUmemAttach_flags, CUmemLocation, CUmemLocationType, CUstream};
use cudarc::driver::{CudaContext, result};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, PoisonError, RwLock};

/// The managed buffers of the process: the first address of each, and the one after its last.
static MANAGED: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());

/// Whether these bytes lie in a managed buffer. A kernel then gets their own address.
pub(crate) fn is_managed(bytes: &[u8]) -> bool {
    is_managed_at(bytes.as_ptr().addr(), bytes.len())
}

/// Whether this many bytes from an address on lie in a managed buffer.
pub(crate) fn is_managed_at(at: usize, bytes: usize) -> bool {
    let managed = MANAGED.read().unwrap_or_else(PoisonError::into_inner);
    managed.range(..=at).next_back().is_some_and(|(_, end)| at + bytes <= *end)
}

/// Maps bytes of a managed buffer for a GPU, whose context is current, so that accesses do not move its pages.
pub(crate) fn map(address: usize, bytes: usize, context: &CudaContext) -> Result<(), GpuError> {
    if bytes == 0 || !is_managed_at(address, bytes) {
        return Ok(());
    }
    let location =
        CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: context.ordinal() as i32 };
    // SAFETY: the range lies in an allocation.
    unsafe { result::mem_advise(address as u64, bytes, CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY, location) }
        .of("cuMemAdvise")
}

/// Elements in managed memory.
pub(crate) struct Managed<T> {
    first: *mut T,
    elements: usize,
    /// The context that the memory belongs to.
    context: Arc<CudaContext>,
}

// SAFETY: it owns its memory, as a vector does; the driver's functions may be called from any thread.
unsafe impl<T: Send> Send for Managed<T> {}
// SAFETY: a shared reference only reads the memory.
unsafe impl<T: Sync> Sync for Managed<T> {}

impl<T: Pod> Managed<T> {
    /// Memory for this many elements, filled by `fill` on the host.
    pub fn new(
        context: &Arc<CudaContext>,
        stream: CUstream,
        elements: usize,
        fill: impl FnOnce(&mut [T]),
    ) -> Result<Self, GpuError> {
        let bytes = elements.saturating_mul(size_of::<T>());
        context.bind_to_thread().of("cuCtxSetCurrent")?;
        let mut managed =
            Managed { first: std::ptr::NonNull::dangling().as_ptr(), elements: 0, context: context.clone() };
        if bytes == 0 {
            return Ok(managed);
        }
        // SAFETY: the memory is filled below, before anything reads it.
        let address = unsafe { result::malloc_managed(bytes, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL) }
            .of("cuMemAllocManaged")?;
        managed.first = address as usize as *mut T;
        // SAFETY: the allocation has this many bytes, is aligned to a page, and nothing else refers to it.
        unsafe { std::ptr::write_bytes(managed.first.cast::<u8>(), 0, bytes) };
        managed.elements = elements;
        MANAGED.write().unwrap_or_else(PoisonError::into_inner).insert(address as usize, address as usize + bytes);
        fill(&mut managed);
        let here =
            CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: context.ordinal() as i32 };
        // They are hints: without them the pages move when a kernel first accesses them.
        // SAFETY: the range is that of the allocation.
        let _ = unsafe { result::mem_advise(address, bytes, CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here) };
        // SAFETY: the range is that of the allocation.
        let _ = unsafe { result::mem_prefetch_async(address, bytes, here, stream) };
        Ok(managed)
    }
}

impl<T> Deref for Managed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `first` has this many initialised elements. A kernel that may write them borrows them exclusively until it has ended.
        unsafe { std::slice::from_raw_parts(self.first, self.elements) }
    }
}

impl<T> DerefMut for Managed<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.elements) }
    }
}

impl<T> Drop for Managed<T> {
    fn drop(&mut self) {
        if self.elements == 0 {
            return;
        }
        MANAGED.write().unwrap_or_else(PoisonError::into_inner).remove(&self.first.addr());
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the memory comes from `cuMemAllocManaged`, and no launch is using it: a launch borrows it until it has ended.
            let _ = unsafe { sys::cuMemFree_v2(self.first.addr() as u64) };
        }
    }
}
