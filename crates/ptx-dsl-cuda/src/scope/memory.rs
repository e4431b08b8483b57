//! The memory that launches of a scope use: where it is on the device, and which stream has used it last.

use super::event::record_and_wait;
use crate::arguments::allocate;
use crate::buffer::is_managed;
use crate::calls::Called;
use crate::error::GpuError;
use cudarc::driver::result;
use cudarc::driver::sys::{self, CUstream};
use ptx_dsl_runtime::launch::GlobalBytes;

/// The memory of a scope.
#[derive(Default)]
pub(super) struct Memory {
    residents: Vec<Resident>,
}

/// A range of host memory that is borrowed until the scope ends, and its place on the device.
struct Resident {
    /// The address of its first byte on the host.
    host: usize,
    bytes: usize,
    /// Its place on the device: `None` until a launch uses it.
    device: Option<Place>,
    /// Whether it is lent: nothing but the scope uses it, and several launches can write it.
    lent: bool,
    /// Whether some launch may write it.
    may_be_written: bool,
    /// Whether a launch may have written it since it was last copied to the host.
    written: bool,
    /// The stream that has used it last.
    last: usize,
    /// How many readers on the host it has now.
    readers: u32,
}

/// A place on the device.
#[derive(Clone, Copy)]
struct Place {
    /// The address of the first byte.
    address: u64,
    /// What to free; 0 for managed memory.
    allocation: u64,
}

impl Resident {
    fn has(&self, at: usize, bytes: usize) -> bool {
        self.host <= at && at + bytes <= self.host + self.bytes
    }
}

impl Memory {
    /// Adds memory that is lent to the scope. Returns its index.
    pub fn lend(&mut self, bytes: &mut [u8]) -> usize {
        self.add(bytes.as_ptr().addr(), bytes.len(), true)
    }

    /// Adds a tensor whose map is lent to the scope.
    pub fn lend_range(&mut self, bytes: &GlobalBytes<'_>) {
        bytes.as_ptr().expose_provenance();
        self.add(bytes.as_ptr().addr(), bytes.len(), true);
    }

    /// Notes that a launch that may write this memory has been started again.
    pub fn mark_written(&mut self, index: usize) {
        let resident = &mut self.residents[index];
        resident.written |= resident.may_be_written;
    }

    fn add(&mut self, host: usize, bytes: usize, lent: bool) -> usize {
        let (may_be_written, written) = (false, false);
        self.residents.push(Resident { host, bytes, device: None, lent, may_be_written, written, last: 0, readers: 0 });
        self.residents.len() - 1
    }

    /// Whether these bytes are in memory that is lent.
    pub fn is_lent(&self, bytes: &[u8]) -> bool {
        let at = bytes.as_ptr().addr();
        self.residents.iter().any(|resident| resident.lent && resident.has(at, bytes.len()))
    }

    /// The address of these bytes on the device, and their index, if the scope must know them. What is not there yet is copied on the
    /// stream `via`.
    pub fn place(
        &mut self,
        bytes: &mut GlobalBytes<'_>,
        via: usize,
        streams: &[CUstream],
    ) -> Result<(u64, Option<usize>), GpuError> {
        let (at, offset, writable) = (bytes.as_ptr().addr(), bytes.offset(), bytes.writable().is_some());
        let found = self.residents.iter().position(|resident| resident.has(at, bytes.len()));
        let is_managed = is_managed(bytes) && !bytes.is_empty();
        if found.is_none() && is_managed && !writable {
            return Ok((at as u64, None));
        }
        let index = found.unwrap_or_else(|| self.add(at, bytes.len(), false));
        let resident = &mut self.residents[index];
        resident.may_be_written |= writable;
        resident.written |= writable;
        let place = match resident.device {
            Some(place) => place,
            None if is_managed => Place { address: resident.host as u64, allocation: 0 },
            None => {
                // the offset from a multiple of 256 is that of the part in its buffer
                let before = (offset + 256 - ((at - resident.host) as u64 % 256)) % 256;
                let allocation = allocate(before as usize + resident.bytes, streams[via])?;
                let place = Place { address: allocation + before, allocation };
                resident.device = Some(place);
                resident.last = via;
                // SAFETY: the range is borrowed until the scope ends, and no launch that writes it has been started.
                let from = unsafe { std::slice::from_raw_parts(resident.host as *const u8, resident.bytes) };
                // SAFETY: the allocation has room for these bytes, and they stay borrowed until the scope has ended.
                unsafe { result::memcpy_htod_async::<u8>(place.address, from, streams[via]) }
                    .of("cuMemcpyHtoDAsync")?;
                place
            }
        };
        resident.device = Some(place);
        Ok((place.address + (at - resident.host) as u64, Some(index)))
    }

    /// Makes a stream wait for what the stream that has used this memory last has to do.
    pub fn order(&mut self, index: usize, stream: usize, streams: &[CUstream]) -> Result<(), GpuError> {
        let resident = &mut self.residents[index];
        if resident.last != stream {
            record_and_wait(streams[resident.last], streams[stream])?;
            resident.last = stream;
        }
        Ok(())
    }

    /// Whether the host reads this memory now.
    pub fn is_read(&self, index: usize) -> bool {
        self.residents[index].readers > 0
    }

    /// Marks memory as read by the host, once it has what launches have written.
    pub fn begin_read(&mut self, index: usize, streams: &[CUstream]) -> Result<(), GpuError> {
        self.copy_one(index, streams)?;
        // SAFETY: the stream is one of the scope.
        unsafe { sys::cuStreamSynchronize(streams[self.residents[index].last]) }.of("cuStreamSynchronize")?;
        self.residents[index].readers += 1;
        Ok(())
    }

    /// Ends a read of the host.
    pub fn end_read(&mut self, index: usize) {
        self.residents[index].readers -= 1;
    }

    /// Copies everything that launches may have written to the host. The streams are to be synchronised after it.
    pub fn copy_back(&mut self, streams: &[CUstream]) -> Result<(), GpuError> {
        (0..self.residents.len()).try_for_each(|index| self.copy_one(index, streams))
    }

    fn copy_one(&mut self, index: usize, streams: &[CUstream]) -> Result<(), GpuError> {
        let resident = &mut self.residents[index];
        let Some(Place { address, allocation }) = resident.device else { return Ok(()) };
        if allocation == 0 || !resident.written || resident.bytes == 0 {
            return Ok(());
        }
        resident.written = false;
        // SAFETY: the memory is borrowed exclusively until the scope ends, because a launch was allowed to write it. No slice of it is in
        // use on the host: a reader would have copied it first.
        unsafe {
            sys::cuMemcpyDtoHAsync_v2(
                std::ptr::with_exposed_provenance_mut(resident.host),
                address,
                resident.bytes,
                streams[resident.last],
            )
        }
        .of("cuMemcpyDtoHAsync")
    }

    /// Frees what was allocated. The streams are synchronised.
    pub fn free(&mut self, stream: CUstream) {
        for Resident { device, .. } in self.residents.drain(..) {
            if let Some(Place { allocation: allocation @ 1.., .. }) = device {
                // SAFETY: it was allocated by this scope, and nothing uses it any more.
                let _ = unsafe { result::free_async(allocation, stream) };
            }
        }
    }
}
