//! Several GPUs that run one kernel at the same time and reach each other's memory.

use crate::arguments::Arguments;
use crate::buffer;
use crate::calls::Called;
use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::launch::{attributes, describe, ready, start};
use cudarc::driver::sys::{self, CUresult};
use ptx_dsl_runtime::device::KernelCode;
use ptx_dsl_runtime::group::Devices;
use ptx_dsl_runtime::launch::{self, Arg, LaunchError, LaunchShape, Passed};
use ptx_dsl_runtime::{Error, Launch, Report};

/// Several GPUs that reach each other's memory: [`Devices::launch`] runs a kernel on all of them at the same time.
///
/// ```no_run
/// use ptx_dsl_cuda::{Gpu, Gpus};
///
/// // SAFETY: the kernels of this program access no memory but their arguments.
/// let gpus = Gpus::new(unsafe { [Gpu::new(0)?, Gpu::new(1)?] })?;
/// # Ok::<(), ptx_dsl_cuda::GpuError>(())
/// ```
///
/// Memory that they share ([`Shared`](ptx_dsl_runtime::group::Shared)) is that of a buffer of one of them. A launch maps it for all, so that
/// its pages stay where they are and peers access them over the link.
#[derive(Debug, Clone)]
pub struct Gpus {
    gpus: Vec<Gpu>,
}

impl Gpu {
    /// Lets kernels of this GPU access the memory of another one. Buffers are managed memory, which every GPU reaches, so this is for
    /// memory of other libraries; and it is an error if the two GPUs cannot exchange data without the host.
    ///
    /// # Errors
    /// There is no peer access between them, or the driver fails.
    pub fn reach(&self, peer: &Gpu) -> Result<(), GpuError> {
        let (here, there) = (self.context(), peer.context());
        if here.cu_device() == there.cu_device() {
            return Ok(());
        }
        let mut can = 0;
        // SAFETY: the driver writes one number.
        unsafe { sys::cuDeviceCanAccessPeer(&mut can, here.cu_device(), there.cu_device()) }
            .of("cuDeviceCanAccessPeer")?;
        if can == 0 {
            return Err(GpuError::NoPeerAccess { from: here.ordinal(), to: there.ordinal() });
        }
        self.bind()?;
        // SAFETY: both contexts live as long as the devices.
        match unsafe { sys::cuCtxEnablePeerAccess(there.cu_ctx(), 0) } {
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            result => result.of("cuCtxEnablePeerAccess"),
        }
    }
}

impl Gpus {
    /// These GPUs, each of which reaches the others.
    ///
    /// # Errors
    /// Two of them have no peer access, or the driver fails.
    pub fn new(gpus: impl IntoIterator<Item = Gpu>) -> Result<Self, GpuError> {
        let gpus: Vec<Gpu> = gpus.into_iter().collect();
        for gpu in &gpus {
            gpus.iter().try_for_each(|peer| gpu.reach(peer))?;
        }
        Ok(Gpus { gpus })
    }

    /// The GPUs.
    pub fn gpus(&self) -> &[Gpu] {
        &self.gpus
    }

    /// Starts the kernel on all GPUs, waits for all, and copies results back. An error is that of the GPU with this index.
    fn run(
        &self,
        code: &KernelCode<'_>,
        shape: &LaunchShape,
        passed: &mut [Vec<Passed<'_>>],
    ) -> Result<(), (usize, GpuError)> {
        let info = code.info();
        let mut functions = Vec::new();
        let mut arguments = Vec::new();
        // all that may wait for a device comes before the first kernel starts, which may wait for the others
        for (index, (gpu, passed)) in self.gpus.iter().zip(passed).enumerate() {
            let made = gpu.bind().and_then(|()| {
                functions.push(ready(gpu, code, shape)?);
                self.map(passed)?;
                gpu.bind()?;
                Arguments::new(info.params, passed, gpu.stream())
            });
            arguments.push(made.map_err(|problem| (index, problem))?);
        }
        let mut result = Ok(());
        for (index, (gpu, arguments)) in self.gpus.iter().zip(&mut arguments).enumerate() {
            let started = gpu.bind().and_then(|()| {
                let mut attributes = attributes(info, shape, gpu.properties().capability);
                start(&functions[index], shape, &mut attributes, &mut arguments.pointers(info.params), gpu.stream())
            });
            result = result.and(started.map_err(|problem| (index, problem)));
        }
        for (index, (gpu, mut arguments)) in self.gpus.iter().zip(arguments).enumerate() {
            let ended = gpu.bind().and_then(|()| {
                let copied = arguments.copy_back();
                // also after an error: what has been started uses the memory of the arguments
                // SAFETY: the stream lives as long as the device.
                copied.and(unsafe { sys::cuStreamSynchronize(gpu.stream()) }.of("cuStreamSynchronize"))
            });
            result = result.and(ended.map_err(|problem| (index, problem)));
        }
        result
    }

    /// Maps shared memory for all GPUs.
    fn map(&self, passed: &[Passed<'_>]) -> Result<(), GpuError> {
        for passed in passed {
            if let Passed::Shared { address, bytes } = passed {
                self.gpus.iter().try_for_each(|gpu| {
                    gpu.bind()?;
                    buffer::map(*address, *bytes, gpu.context())
                })?;
            }
        }
        Ok(())
    }
}

impl Devices for Gpus {
    fn count(&self) -> usize {
        self.gpus.len()
    }

    fn launch_code(
        &self,
        code: &KernelCode<'_>,
        launch: Launch,
        arguments: &mut [Vec<Arg<'_>>],
    ) -> Result<Report, Error> {
        let info = code.info();
        if arguments.len() != self.gpus.len() {
            let problem = LaunchError::ListsOfArguments { given: arguments.len(), devices: self.gpus.len() };
            return Err(Error::Launch { kernel: code.name().to_owned(), problem });
        }
        let lists = arguments.iter_mut().map(|list| launch::passed(info, &launch, list));
        let mut passed = lists.collect::<Result<Vec<_>, _>>()?;
        let shape = launch.shape(info);
        self.run(code, &shape, &mut passed).map_err(|(index, problem)| {
            self.gpus[index].error(code.name(), &describe(info, &shape, &passed[index]), problem)
        })?;
        let clusters: u64 = shape.grid.iter().zip(shape.cluster).map(|(ctas, of)| u64::from(ctas / of)).product();
        let mut report = Report::default();
        report.clusters_launched = clusters * self.gpus.len() as u64;
        Ok(report)
    }
}
