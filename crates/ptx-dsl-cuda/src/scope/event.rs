//! Events: points in the work of a stream.

use crate::calls::Called;
use crate::error::GpuError;
use crate::gpu::Gpu;
use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUstream};
use ptx_dsl_runtime::Error;
use std::time::Duration;

/// A point in the work of a stream. Other streams can [wait](super::Stream::wait) for it, and it knows when it was reached.
pub struct Event {
    handle: Raw,
    gpu: Gpu,
}

impl Event {
    /// A point in the work of this stream.
    pub(super) fn record(gpu: &Gpu, stream: CUstream) -> Result<Self, GpuError> {
        let handle = Raw::new(CUevent_flags::CU_EVENT_DEFAULT)?;
        handle.record(stream)?;
        Ok(Event { handle, gpu: gpu.clone() })
    }

    pub(super) fn handle(&self) -> CUevent {
        self.handle.0
    }

    /// The time on the device from another event to this one. It waits until both are reached.
    ///
    /// # Errors
    /// A launch before one of them has failed, the event `earlier` comes after this one in another graph of work, or the driver fails.
    pub fn since(&self, earlier: &Event) -> Result<Duration, Error> {
        let time = || {
            self.gpu.bind()?;
            let mut milliseconds = 0.0;
            // SAFETY: both are events, and the driver writes one number.
            unsafe {
                sys::cuEventSynchronize(earlier.handle.0).of("cuEventSynchronize")?;
                sys::cuEventSynchronize(self.handle.0).of("cuEventSynchronize")?;
                sys::cuEventElapsedTime(&mut milliseconds, earlier.handle.0, self.handle.0).of("cuEventElapsedTime")?;
            }
            Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
        };
        time().map_err(|problem| self.gpu.error("scope", "no kernel: it is about an event", problem))
    }
}

/// An event of the driver.
struct Raw(CUevent);

impl Raw {
    fn new(flags: CUevent_flags) -> Result<Self, GpuError> {
        let mut event = std::ptr::null_mut();
        // SAFETY: the driver writes one handle.
        unsafe { sys::cuEventCreate(&mut event, flags as u32) }.of("cuEventCreate")?;
        Ok(Raw(event))
    }

    fn record(&self, stream: CUstream) -> Result<(), GpuError> {
        // SAFETY: both handles are in use.
        unsafe { sys::cuEventRecord(self.0, stream) }.of("cuEventRecord")
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: the event was made by this type. The driver keeps it as long as a stream waits for it.
        let _ = unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

/// Makes a stream wait for what another one has to do now.
pub(super) fn record_and_wait(from: CUstream, to: CUstream) -> Result<(), GpuError> {
    let event = Raw::new(CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
    event.record(from)?;
    wait(to, event.0)
}

/// Makes a stream wait for an event.
pub(super) fn wait(stream: CUstream, event: CUevent) -> Result<(), GpuError> {
    // SAFETY: both handles are in use.
    unsafe { sys::cuStreamWaitEvent(stream, event, 0) }.of("cuStreamWaitEvent")
}
