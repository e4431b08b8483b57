//! A GPU as a device for launches.

use crate::buffer::Managed;
use crate::calls::Called;
use crate::cubin::Cubin;
use crate::error::GpuError;
use crate::module::{Modules, Prepared};
use bytemuck::Pod;
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUevent_flags, CUlimit, CUstream};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream};
use ptx_dsl_runtime::device::KernelCode;
use ptx_dsl_runtime::kernel_fn::Printed;
use ptx_dsl_runtime::{Buffer, Error, KernelFn, Launch};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// A GPU. `kernel.launch(&gpu, launch, args)` runs a kernel there and returns when its results are in the arguments.
///
/// ```no_run
/// use ptx_dsl_cuda::Gpu;
///
/// if Gpu::available() {
///     // SAFETY: the kernels of this program access no memory but their arguments: tests run them on `Host::checked()`.
///     let gpu = unsafe { Gpu::new(0) }?;
///     println!("{gpu}");
/// }
/// # Ok::<(), ptx_dsl_cuda::GpuError>(())
/// ```
///
/// Clones are the same device with the same modules.
#[derive(Clone)]
pub struct Gpu {
    shared: Arc<Shared>,
    stream: Arc<CudaStream>,
    repeats: u32,
    timed: bool,
    pub(crate) explains: bool,
}

struct Shared {
    context: Arc<CudaContext>,
    properties: Properties,
    modules: Modules,
    cubins: RwLock<Vec<Cubin>>,
    heap: AtomicU64,
    /// The kernel that lost the context.
    lost: OnceLock<String>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.lost.get().is_none() && self.context.bind_to_thread().is_ok() {
            self.modules.unload();
        }
    }
}

/// What the driver says about a device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// As the driver calls it, such as `NVIDIA H200`.
    pub name: String,
    /// Compute capability, major and minor: `(9, 0)` is sm_90.
    pub capability: (u32, u32),
    /// The release of CUDA that the driver belongs to.
    pub cuda: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of global memory.
    pub memory: u64,
    /// Bytes of shared memory that a CTA can have.
    pub shared_of_cta: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_of_multiprocessor: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers_of_multiprocessor: u32,
    /// Threads that a multiprocessor can run.
    pub threads_of_multiprocessor: u32,
    /// CTAs that a multiprocessor can run.
    pub ctas_of_multiprocessor: u32,
    /// Whether the host may access buffers while a kernel runs. Otherwise the launches of a scope wait for their end.
    pub concurrent_managed: bool,
}

/// The oldest driver whose functions this crate calls: for CUDA 12.2.
const NEEDED: (u32, u32) = (12, 2);

impl Gpu {
    /// Whether there is a driver and at least one GPU.
    pub fn available() -> bool {
        Gpu::count().is_ok_and(|count| count > 0)
    }

    /// The number of GPUs that the driver shows.
    ///
    /// # Errors
    /// There is no driver, or it fails.
    pub fn count() -> Result<usize, GpuError> {
        // SAFETY: loading the driver's library runs its initialisers, which are NVIDIA's.
        if !unsafe { sys::is_culib_present() } {
            return Err(GpuError::NoDriver);
        }
        match CudaContext::device_count() {
            // the library is there, but no device: a machine with the toolkit alone
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NO_DEVICE => Ok(0),
            count => count.of("cuDeviceGetCount").map(|count| count as usize),
        }
    }

    /// The GPU of this number, from 0, with its primary context, which libraries of CUDA use too.
    ///
    /// # Safety
    /// Kernels can access all memory that the GPU reaches: buffers of other launches and libraries, and on some systems all memory of
    /// the process. Every kernel that is launched on this device, with the arguments it gets, must access only memory that its
    /// arguments give it, and must not race with other threads there. `Host::checked()` reports kernels that do not, for the inputs
    /// that it is given.
    ///
    /// # Errors
    /// There is no driver or no such GPU, or the driver is too old or fails.
    pub unsafe fn new(ordinal: usize) -> Result<Self, GpuError> {
        let count = Gpu::count()?;
        if ordinal >= count {
            return Err(GpuError::NoDevice { ordinal, count });
        }
        let driver = driver_version()?;
        if driver < NEEDED {
            return Err(GpuError::OldDriver { driver, needed: NEEDED });
        }
        let context = CudaContext::new(ordinal).of("cuDevicePrimaryCtxRetain")?;
        // SAFETY: the caller promises it.
        unsafe { Gpu::in_context(context) }
    }

    /// A GPU in a context of cudarc, whose buffers kernels can then use.
    ///
    /// # Safety
    /// As for [`new`](Gpu::new).
    ///
    /// # Errors
    /// The driver fails.
    pub unsafe fn in_context(context: Arc<CudaContext>) -> Result<Self, GpuError> {
        let properties = Properties::of(&context)?;
        let stream = context.new_stream().of("cuStreamCreate")?;
        let shared = Shared {
            context,
            properties,
            modules: Modules::default(),
            cubins: RwLock::default(),
            heap: AtomicU64::new(0),
            lost: OnceLock::new(),
        };
        Ok(Gpu { shared: Arc::new(shared), stream, repeats: 1, timed: false, explains: false })
    }

    /// What the driver says about the device.
    pub fn properties(&self) -> &Properties {
        &self.shared.properties
    }

    /// The context, for other users of cudarc.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.shared.context
    }

    /// Puts launches on this stream of the device's context.
    pub fn on_stream(mut self, stream: Arc<CudaStream>) -> Self {
        self.stream = stream;
        self
    }

    /// Adds machine code of modules. A module that is loaded later takes what fits this device, if there is any; else, or if the driver
    /// refuses it, the driver compiles the PTX.
    pub fn with_cubins(self, cubins: &[Cubin]) -> Self {
        self.shared.cubins.write().unwrap_or_else(PoisonError::into_inner).extend(cubins);
        self
    }

    /// The machine code that fits this device, if the program has any for the module of this text.
    pub(crate) fn cubin(&self, ptx: &str) -> Option<Cubin> {
        let cubins = self.shared.cubins.read().unwrap_or_else(PoisonError::into_inner);
        Cubin::fitting(&cubins, ptx, self.properties().capability)
    }

    /// Measures launches: [`Report::device_time`](ptx_dsl_runtime::Report) is the time on the device, without copies of arguments.
    pub fn timed(mut self) -> Self {
        self.timed = true;
        self
    }

    /// Runs each launch this many times, one after the other without a pause, and measures the mean. The arguments are copied once, so
    /// later runs see what earlier ones wrote.
    pub fn repeated(mut self, times: u32) -> Self {
        (self.repeats, self.timed) = (times.max(1), true);
        self
    }

    /// Explains failures: if a kernel fails, the same launch runs again on a checked host, from copies of its inputs, and the error
    /// ([`Error::Device`]) has the fault that it finds there. Each launch then copies its inputs.
    pub fn explain_failures(mut self) -> Self {
        self.explains = true;
        self
    }

    /// Memory that outlives a launch, with a copy of these elements, on the device. The host can access it too: it is managed memory
    /// (`cuMemAllocManaged`), whose pages move to whoever accesses them.
    ///
    /// # Errors
    /// The driver has no memory left, or fails.
    pub fn buffer<T: Pod + Send + Sync>(&self, elements: &[T]) -> Result<Buffer<T>, GpuError> {
        let fill = |to: &mut [T]| to.copy_from_slice(elements);
        Ok(Buffer::in_memory(Managed::new(self.context(), self.stream(), elements.len(), fill)?))
    }

    /// Memory for this many elements on the device, all of them zero.
    ///
    /// # Errors
    /// As [`buffer`](Gpu::buffer).
    pub fn zeroed<T: Pod + Send + Sync>(&self, elements: usize) -> Result<Buffer<T>, GpuError> {
        Ok(Buffer::in_memory(Managed::new(self.context(), self.stream(), elements, |_| ())?))
    }

    /// Loads a kernel before its first launch, and says what the driver made of it and how much of a multiprocessor this launch fills.
    ///
    /// # Errors
    /// The kernel is not for this device, or the driver cannot compile it.
    pub fn prepare<K: KernelFn>(&self, _: K, launch: &Launch) -> Result<Prepared, Error> {
        self.prepared::<K::Kernel>(launch).map_err(|problem| Error::Device {
            kernel: K::Kernel::NAME.to_owned(),
            device: self.properties().name.clone(),
            launched: "no arguments: it is being prepared".to_owned(),
            problem: Box::new(problem),
            fault: None,
        })
    }

    fn prepared<K: Printed>(&self, launch: &Launch) -> Result<Prepared, GpuError> {
        self.bind()?;
        let function = self.modules().function(&KernelCode::interpreted::<K>(), self)?;
        let shape = launch.shape(K::INFO);
        function.allow_dynamic(shape.dynamic_shared)?;
        let threads = shape.block.iter().product();
        Prepared::of(&function, threads, shape.dynamic_shared, self.properties())
    }

    pub(crate) fn modules(&self) -> &Modules {
        &self.shared.modules
    }

    pub(crate) fn stream(&self) -> CUstream {
        self.stream.cu_stream()
    }

    /// Makes the context that of this thread.
    pub(crate) fn bind(&self) -> Result<(), GpuError> {
        if let Some(kernel) = self.shared.lost.get() {
            return Err(GpuError::ContextLost { kernel: kernel.clone() });
        }
        self.shared.context.bind_to_thread().of("cuCtxSetCurrent")
    }

    /// Remembers the kernel that lost the context.
    pub(crate) fn lose(&self, kernel: &str) {
        let _ = self.shared.lost.set(kernel.to_owned());
    }

    /// Sets the bytes of the heap of `malloc` in kernels.
    pub(crate) fn set_heap(&self, bytes: u64) -> Result<(), GpuError> {
        if self.shared.heap.swap(bytes, Ordering::Relaxed) == bytes {
            return Ok(());
        }
        // SAFETY: it changes a limit of the current context.
        unsafe { sys::cuCtxSetLimit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, bytes as usize) }.of("cuCtxSetLimit")
    }

    /// Starts a kernel as often as is asked for, between two events if it is to be measured.
    pub(crate) fn start_timed(
        &self,
        stream: CUstream,
        mut start: impl FnMut(CUstream) -> Result<(), GpuError>,
    ) -> Result<DeviceTime, GpuError> {
        let event = || match self.timed {
            true => {
                let event = self.context().new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).of("cuEventCreate")?;
                event.record(&self.stream).of("cuEventRecord")?;
                Ok(Some(event))
            }
            false => Ok(None),
        };
        let first = event()?;
        for _ in 0..self.repeats {
            start(stream)?;
        }
        Ok(DeviceTime { events: first.zip(event()?), repeats: self.repeats })
    }
}

/// The time of launches on the device, if it is measured.
pub(crate) struct DeviceTime {
    events: Option<(CudaEvent, CudaEvent)>,
    repeats: u32,
}

impl DeviceTime {
    /// The mean time of a launch. The stream is synchronised.
    pub fn mean(self) -> Option<Duration> {
        let (first, last) = self.events?;
        let milliseconds = f64::from(first.elapsed_ms(&last).ok()?);
        Some(Duration::from_secs_f64(milliseconds / 1e3 / f64::from(self.repeats)))
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gpu").field(&self.properties().name).finish()
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Properties { name, capability: (major, minor), cuda, multiprocessors, memory, .. } = self.properties();
        let gib = *memory as f64 / f64::from(1u32 << 30);
        write!(
            f,
            "{name} (sm_{major}{minor}, {multiprocessors} multiprocessors, {gib:.0} GiB), driver for CUDA {}.{}",
            cuda.0, cuda.1
        )
    }
}

/// The release of CUDA that the driver belongs to.
fn driver_version() -> Result<(u32, u32), GpuError> {
    let mut version = 0;
    // SAFETY: the driver writes one number.
    unsafe { sys::cuDriverGetVersion(&mut version) }.of("cuDriverGetVersion")?;
    Ok((version as u32 / 1000, version as u32 % 1000 / 10))
}

impl Properties {
    fn of(context: &CudaContext) -> Result<Self, GpuError> {
        let get = |attribute| context.attribute(attribute).of("cuDeviceGetAttribute").map(|n| n as u32);
        Ok(Properties {
            name: context.name().of("cuDeviceGetName")?,
            capability: (
                get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            cuda: driver_version()?,
            multiprocessors: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            memory: context.total_mem().of("cuDeviceTotalMem")? as u64,
            shared_of_cta: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            shared_of_multiprocessor: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            registers_of_multiprocessor: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
            threads_of_multiprocessor: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            ctas_of_multiprocessor: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
            concurrent_managed: get(Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)? != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_there_is_one_clear_error() {
        if Gpu::available() {
            return;
        }
        // SAFETY: nothing is launched.
        let error = unsafe { Gpu::new(0) }.unwrap_err();
        assert!(
            matches!(error, GpuError::NoDriver | GpuError::NoDevice { count: 0, .. } | GpuError::Driver { .. }),
            "{error}"
        );
    }
}
