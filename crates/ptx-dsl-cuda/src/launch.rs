//! Launches on a device.

use crate::arguments::Arguments;
use crate::calls::Called;
use crate::checks::resource;
use crate::error::GpuError;
use crate::explain::Snapshot;
use crate::gpu::{DeviceTime, Gpu, Properties};
use crate::module::Function;
use cudarc::driver::sys::{
    self, CUlaunchAttribute, CUlaunchAttributeID as Id, CUlaunchAttributeValue, CUlaunchConfig, CUstream,
};
use ptx_dsl_runtime::device::KernelCode;
use ptx_dsl_runtime::kernel_fn::Printed;
use ptx_dsl_runtime::launch::{self, Arg, LaunchShape, Passed};
use ptx_dsl_runtime::{Device, Error, KernelInfo, Launch, Report};
use std::ffi::c_void;
use std::sync::Arc;

impl Device for Gpu {
    fn launch_code(&self, code: &KernelCode<'_>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        let info = code.info();
        let shape = launch.shape(info);
        let mut passed = launch::passed(info, &launch, args)?;
        let snapshot = self.explains.then(|| Snapshot::of(&passed));
        self.run(code, &shape, &mut passed).map_err(|problem| {
            let lost = matches!(problem, GpuError::Failed { .. });
            if lost {
                self.lose(code.name());
            }
            let launched = describe(info, &shape, &passed);
            let fault = snapshot.filter(|_| lost).and_then(|snapshot| snapshot.explain(code, launch));
            let (kernel, device) = (code.name().to_owned(), self.properties().name.clone());
            Error::Device { kernel, device, launched, problem: Box::new(problem), fault }
        })
    }

    fn launch_kernel<K: Printed>(&self, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
        self.launch_code(&KernelCode::interpreted::<K>(), launch, args)
    }
}

impl Gpu {
    fn run(&self, code: &KernelCode<'_>, shape: &LaunchShape, passed: &mut [Passed<'_>]) -> Result<Report, GpuError> {
        self.bind()?;
        let info = code.info();
        let function = ready(self, code, shape)?;
        let stream = self.stream();
        let time = self.start_and_copy(info, &function, shape, passed);
        // also after an error: what has been started uses the memory of the arguments
        // SAFETY: the stream lives as long as the device.
        let ended = unsafe { sys::cuStreamSynchronize(stream) }.of("cuStreamSynchronize");
        let time = time.and_then(|time| ended.map(|()| time))?;
        let mut report = Report::default();
        report.clusters_launched = product(shape.grid) / product(shape.cluster);
        report.device_time = time.mean();
        Ok(report)
    }

    /// Copies arguments, starts the kernel, and starts to copy results.
    fn start_and_copy(
        &self,
        info: &KernelInfo<'_>,
        function: &Function,
        shape: &LaunchShape,
        passed: &mut [Passed<'_>],
    ) -> Result<DeviceTime, GpuError> {
        let mut arguments = Arguments::new(info.params, passed, self.stream())?;
        let mut attributes = attributes(info, shape, self.properties().capability);
        let mut parameters = arguments.pointers(info.params);
        let time =
            self.start_timed(self.stream(), |stream| start(function, shape, &mut attributes, &mut parameters, stream))?;
        arguments.copy_back()?;
        Ok(time)
    }
}

/// The function of a kernel, checked for this launch and made ready for it. The context is current.
pub(crate) fn ready(gpu: &Gpu, code: &KernelCode<'_>, shape: &LaunchShape) -> Result<Arc<Function>, GpuError> {
    let function = gpu.modules().function(code, gpu)?;
    check(&function, shape, gpu.properties())?;
    function.allow_dynamic(shape.dynamic_shared)?;
    if product(shape.cluster) > 8 {
        function.allow_large_clusters()?;
    }
    if code.info().heap {
        gpu.set_heap(shape.malloc_heap)?;
    }
    Ok(function)
}

/// Starts a kernel. The context is current.
pub(crate) fn start(
    function: &Function,
    shape: &LaunchShape,
    attributes: &mut [CUlaunchAttribute],
    parameters: &mut [*mut c_void],
    stream: CUstream,
) -> Result<(), GpuError> {
    let ([grid_x, grid_y, grid_z], [x, y, z]) = (shape.grid, shape.block);
    let config = CUlaunchConfig {
        gridDimX: grid_x,
        gridDimY: grid_y,
        gridDimZ: grid_z,
        blockDimX: x,
        blockDimY: y,
        blockDimZ: z,
        sharedMemBytes: shape.dynamic_shared,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    };
    // One pointer for each parameter. A whole buffer of them (`CU_LAUNCH_PARAM_BUFFER_POINTER`) does not do: ptxas moves parameters that
    // are aligned to 64 bytes, and an H200 then finds no tensor map where the kernel looks for it.
    // SAFETY: the lists of the configuration and the parameters live until the call returns, which copies them. The parameters have
    // the layout of the kernel's. What the kernel does to memory is the promise of whoever made the `Gpu`.
    unsafe { sys::cuLaunchKernelEx(&config, function.handle, parameters.as_mut_ptr(), std::ptr::null_mut()) }
        .of("cuLaunchKernelEx")
}

/// The attributes of a launch on a device of this compute capability.
pub(crate) fn attributes(info: &KernelInfo<'_>, shape: &LaunchShape, capability: (u32, u32)) -> Vec<CUlaunchAttribute> {
    let mut attributes = Vec::new();
    let mut add = |id, set: &dyn Fn(&mut CUlaunchAttributeValue)| {
        let mut value = CUlaunchAttributeValue { pad: [0; 64] };
        set(&mut value);
        attributes.push(CUlaunchAttribute { id, pad: [0; 4], value });
    };
    // GPUs before sm_90 have no clusters, not even of one CTA
    let asks = shape.is_cluster_launch && capability >= (9, 0);
    // the directive of a kernel speaks for itself
    if info.reqnctapercluster.is_none() && (asks || shape.preferred_cluster.is_some()) {
        add(Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &|value| {
            let [x, y, z] = shape.cluster;
            value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
        });
    }
    // earlier GPUs have no such attribute: they use the cluster
    if let Some([x, y, z]) = shape.preferred_cluster.filter(|_| capability >= (10, 0)) {
        add(Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, &|value| {
            value.preferredClusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_4 { x, y, z };
        });
    }
    if shape.cooperative {
        add(Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &|value| value.cooperative = 1);
    }
    if shape.programmatic {
        let id = Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        add(id, &|value| value.programmaticStreamSerializationAllowed = 1);
    }
    attributes
}

/// Checks a launch against the device.
fn check(function: &Function, shape: &LaunchShape, properties: &Properties) -> Result<(), GpuError> {
    let threads = product(shape.block);
    resource("threads a CTA for the registers of this kernel", threads, u64::from(function.threads))?;
    let shared = u64::from(function.shared) + u64::from(shape.dynamic_shared);
    resource("bytes of shared memory a CTA", shared, u64::from(properties.shared_of_cta))?;
    if product(shape.cluster) > 1 && properties.capability < (9, 0) {
        return resource("CTAs a cluster", product(shape.cluster), 1);
    }
    if shape.cooperative {
        let ctas = crate::module::Prepared::of(function, threads as u32, shape.dynamic_shared, properties)?;
        let resident = u64::from(ctas.ctas_per_multiprocessor) * u64::from(properties.multiprocessors);
        return resource("CTAs that are resident at the same time", product(shape.grid), resident);
    }
    Ok(())
}

/// The launch in words, for errors.
pub(crate) fn describe(info: &KernelInfo<'_>, shape: &LaunchShape, passed: &[Passed<'_>]) -> String {
    let mut words = format!("grid {:?}, block {:?}", shape.grid, shape.block);
    if product(shape.cluster) > 1 {
        words += &format!(", cluster {:?}", shape.cluster);
    }
    if shape.dynamic_shared > 0 {
        words += &format!(", {} bytes of dynamic shared memory", shape.dynamic_shared);
    }
    for (p, passed) in info.params.iter().zip(passed) {
        words += &match passed {
            Passed::Value(bytes) => match <[u8; 4]>::try_from(*bytes) {
                Ok(bytes) => format!("; `{}`: {}", p.name, u32::from_le_bytes(bytes)),
                Err(_) => format!("; `{}`: {} bytes", p.name, bytes.len()),
            },
            Passed::Buffer(bytes, _) => format!("; `{}`: a buffer of {} bytes", p.name, bytes.len()),
            Passed::Shared { bytes, .. } => format!("; `{}`: shared memory of {bytes} bytes", p.name),
            Passed::TensorMap(_, bytes) => format!("; `{}`: a tensor map over {} bytes", p.name, bytes.len()),
            Passed::TensorMapOf(_, of) => format!("; `{}`: a tensor map over `{}`", p.name, info.params[*of].name),
        };
    }
    words
}

fn product(dims: [u32; 3]) -> u64 {
    dims.iter().map(|n| u64::from(*n)).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(launch: Launch) -> LaunchShape {
        launch.shape(&crate::module::EMPTY)
    }

    fn ids(launch: Launch) -> Vec<Id> {
        attributes(&crate::module::EMPTY, &shape(launch), (10, 0)).iter().map(|attribute| attribute.id).collect()
    }

    #[test]
    fn attributes_are_those_that_the_launch_asks_for() {
        assert!(ids(Launch::grid(4)).is_empty());
        assert_eq!(ids(Launch::grid(4).cluster(2)), [Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION]);
        // clusters of one CTA are clusters
        assert_eq!(ids(Launch::grid(4).cluster(1)), [Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION]);
        assert_eq!(
            ids(Launch::grid(4).cooperative().programmatic()),
            [Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION]
        );
        let preferred =
            [Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, Id::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION];
        assert_eq!(ids(Launch::grid(8).cluster(2).preferred_cluster(4)), preferred);
        let of_kernel = KernelInfo { reqnctapercluster: Some([2, 1, 1]), ..crate::module::EMPTY };
        assert!(attributes(&of_kernel, &Launch::grid(4).shape(&of_kernel), (10, 0)).is_empty());
    }

    #[test]
    fn a_failed_launch_is_described_by_its_arguments() {
        let params = [("x", 0, 8), ("n", 8, 4)].map(|(name, offset, size)| ptx_dsl_runtime::ParamInfo {
            name,
            offset,
            size,
            align: size,
            pointer: None,
            read_only: false,
        });
        let info = KernelInfo { params: &params, ..crate::module::EMPTY };
        let launch = Launch::grid(4).block((32, 2)).dynamic_shared(1024);
        let mut x = [0u8; 40];
        let mut args = [Arg::buffer(&mut x), launch::scalar(7u32)];
        let passed = launch::passed(&info, &launch, &mut args).unwrap();
        assert_eq!(
            describe(&info, &launch.shape(&info), &passed),
            "grid [4, 1, 1], block [32, 2, 1], 1024 bytes of dynamic shared memory; `x`: a buffer of 40 bytes; `n`: 7"
        );
        drop(passed);
        let error = launch::passed(&info, &launch, &mut args[..1]).unwrap_err().to_string();
        assert!(error.contains("1 argument for 2 parameters: `x`, `n`"), "{error}");
    }
}
