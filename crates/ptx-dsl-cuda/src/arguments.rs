//! Arguments on a device: where their memory is, and the bytes of the parameters.

use crate::buffer::{is_managed, is_managed_at};
use crate::calls::Called;
use crate::error::GpuError;
use crate::tensor_map;
use cudarc::driver::result;
use cudarc::driver::sys::CUstream;
use ptx_dsl_runtime::ParamInfo;
use ptx_dsl_runtime::launch::{GlobalBytes, Passed};
use std::ffi::c_void;

/// Device memory that a launch has made for memory of the host.
struct Staged {
    address: u64,
    /// The index of the argument whose bytes it holds.
    argument: usize,
    /// The first byte in it.
    start: u64,
}

/// The arguments of a launch that waits for its end.
pub(crate) struct Arguments<'p, 'x> {
    passed: &'p mut [Passed<'x>],
    staged: Vec<Staged>,
    stream: CUstream,
    parameters: Option<Parameters>,
}

impl<'p, 'x> Arguments<'p, 'x> {
    /// Copies memory of the host to the device, and fills the parameters. The context is current.
    pub fn new(params: &[ParamInfo<'_>], passed: &'p mut [Passed<'x>], stream: CUstream) -> Result<Self, GpuError> {
        let mut arguments = Arguments { passed, staged: Vec::new(), stream, parameters: None };
        let mut addresses = Vec::with_capacity(params.len());
        for index in 0..arguments.passed.len() {
            let address = arguments.memory(index)?;
            addresses.push(address);
        }
        arguments.parameters = Some(Parameters::new(params, arguments.passed, &addresses, stream)?);
        Ok(arguments)
    }

    /// The address of the memory of an argument on the device; 0 if it has none.
    fn memory(&mut self, argument: usize) -> Result<u64, GpuError> {
        if let Passed::Shared { address, bytes } = self.passed[argument] {
            return if is_managed_at(address, bytes) {
                Ok(address as u64)
            } else {
                Err(GpuError::SharedOutsideOfBuffer)
            };
        }
        let (Passed::Buffer(bytes, _) | Passed::TensorMap(_, bytes)) = &self.passed[argument] else { return Ok(0) };
        if is_managed(bytes) && !bytes.is_empty() {
            return Ok(bytes.as_ptr().addr() as u64);
        }
        let start = bytes.offset();
        let address = allocate(start as usize + bytes.len(), self.stream)?;
        self.staged.push(Staged { address, argument, start });
        let (Passed::Buffer(bytes, _) | Passed::TensorMap(_, bytes)) = &self.passed[argument] else { return Ok(0) };
        // SAFETY: the allocation has room for these bytes, and they stay borrowed until the launch has ended.
        unsafe { result::memcpy_htod_async::<u8>(address + start, bytes, self.stream) }.of("cuMemcpyHtoDAsync")?;
        Ok(address + start)
    }

    /// The address of each parameter on the host, as `cuLaunchKernel` takes them.
    pub fn pointers(&mut self, params: &[ParamInfo<'_>]) -> Vec<*mut c_void> {
        self.parameters.as_mut().map(|parameters| parameters.pointers(params)).unwrap_or_default()
    }

    /// Copies results back to the host, after the kernel.
    pub fn copy_back(&mut self) -> Result<(), GpuError> {
        for Staged { address, argument, start } in &self.staged {
            let Some(Passed::Buffer(bytes, _) | Passed::TensorMap(_, bytes)) = self.passed.get_mut(*argument) else {
                continue;
            };
            if let Some(to) = GlobalBytes::writable(bytes) {
                // SAFETY: the allocation has these bytes, and they stay borrowed until the stream is synchronised.
                unsafe { result::memcpy_dtoh_async::<u8>(to, address + start, self.stream) }.of("cuMemcpyDtoHAsync")?;
            }
        }
        Ok(())
    }
}

impl Drop for Arguments<'_, '_> {
    fn drop(&mut self) {
        for staged in &self.staged {
            // SAFETY: the memory was allocated on this stream, and what uses it comes before in the stream.
            let _ = unsafe { result::free_async(staged.address, self.stream) };
        }
    }
}

/// The parameters of a launch as the kernel reads them.
pub(crate) struct Parameters {
    bytes: Vec<u8>,
    /// Device memory for tensor maps that a parameter points to.
    maps: Vec<u64>,
    stream: CUstream,
}

impl Parameters {
    /// Fills the parameters. `addresses` has the address of the memory of each argument on the device, 0 for those without memory. The
    /// context is current.
    pub fn new(
        params: &[ParamInfo<'_>],
        passed: &[Passed<'_>],
        addresses: &[u64],
        stream: CUstream,
    ) -> Result<Self, GpuError> {
        let size = params.iter().map(|p| (p.offset + p.size) as usize).max().unwrap_or(0);
        let mut parameters = Parameters { bytes: vec![0; size], maps: Vec::new(), stream };
        for (index, p) in params.iter().enumerate() {
            parameters.fill(index, p, passed, addresses)?;
        }
        Ok(parameters)
    }

    /// Whether a parameter points to memory that this launch has made for a tensor map.
    pub fn has_maps_in_memory(&self) -> bool {
        !self.maps.is_empty()
    }

    /// Writes the bytes of a parameter.
    fn fill(
        &mut self,
        index: usize,
        p: &ParamInfo<'_>,
        passed: &[Passed<'_>],
        addresses: &[u64],
    ) -> Result<(), GpuError> {
        let map;
        let address;
        let bytes: &[u8] = match &passed[index] {
            Passed::Value(bytes) => bytes,
            Passed::Buffer(_, offset) => {
                address = (addresses[index] + offset).to_le_bytes();
                &address
            }
            Passed::Shared { .. } => {
                address = addresses[index].to_le_bytes();
                &address
            }
            Passed::TensorMap(fields, _) => {
                map = tensor_map::encode(fields, addresses[index])?;
                &map
            }
            Passed::TensorMapOf(fields, of) => {
                let Passed::Buffer(_, offset) = &passed[*of] else { return Ok(()) };
                map = tensor_map::encode(fields, addresses[*of] + offset)?;
                &map
            }
        };
        let to = &mut self.bytes[p.offset as usize..][..p.size as usize];
        if bytes.len() <= to.len() {
            to[..bytes.len()].copy_from_slice(bytes);
            return Ok(());
        }
        // a tensor map after a pointer lies in memory of its own
        let at = allocate(bytes.len(), self.stream)?;
        self.maps.push(at);
        // SAFETY: the allocation has room for these bytes. The copy from pageable memory has read them when it returns.
        unsafe { result::memcpy_htod_async::<u8>(at, bytes, self.stream) }.of("cuMemcpyHtoDAsync")?;
        to.copy_from_slice(&at.to_le_bytes());
        Ok(())
    }

    /// The address of each parameter on the host, as `cuLaunchKernel` takes them.
    pub fn pointers(&mut self, params: &[ParamInfo<'_>]) -> Vec<*mut c_void> {
        let first = self.bytes.as_mut_ptr();
        params.iter().map(|p| first.wrapping_add(p.offset as usize).cast()).collect()
    }
}

impl Drop for Parameters {
    fn drop(&mut self) {
        for map in &self.maps {
            // SAFETY: the memory was allocated on this stream, and the launch that reads it comes before in the stream.
            let _ = unsafe { result::free_async(*map, self.stream) };
        }
    }
}

/// Device memory, at a multiple of 256, as all allocations of the driver.
pub(crate) fn allocate(bytes: usize, stream: CUstream) -> Result<u64, GpuError> {
    // SAFETY: nothing reads the memory before it is written, but the kernel itself.
    unsafe { result::malloc_async(stream, bytes.max(1)) }.of("cuMemAllocAsync")
}
