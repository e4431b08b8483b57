//! Why a GPU did not do what it was asked for.

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUresult;
use std::ffi::CStr;
use std::fmt;

/// Why a GPU cannot be used, or failed. A launch wraps it in `ptx_dsl::Error::Device`, which adds the kernel and the device.
/// `{:?}` prints the same text as `{}`, for a `main` or a test that returns it.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The library of the CUDA driver cannot be loaded.
    #[error(
        "there is no CUDA driver: `libcuda.so.1` (Windows: `nvcuda.dll`) cannot be loaded; install NVIDIA's driver, or use a host"
    )]
    NoDriver,
    /// There is no device of this number.
    #[error("there is no GPU {ordinal}: the driver has {count}")]
    NoDevice {
        /// As asked for, from 0
        ordinal: usize,
        /// Devices that the driver shows
        count: usize,
    },
    /// The driver is older than this crate needs.
    #[error("the driver is for CUDA {}.{}, and this crate needs {}.{}", driver.0, driver.1, needed.0, needed.1)]
    OldDriver {
        /// Major and minor version of CUDA
        driver: (u32, u32),
        /// Major and minor version of CUDA
        needed: (u32, u32),
    },
    /// The module's `.target` is not for this GPU.
    #[error("the header says `{target}`, and this GPU is sm_{}{}: {why}", capability.0, capability.1)]
    Target {
        /// As in the header
        target: String,
        /// Compute capability of the device
        capability: (u32, u32),
        /// The rule
        why: TargetRule,
    },
    /// The driver is too old for the `.version` of the module.
    #[error(
        "the driver reads PTX up to {}.{}, and this header says {}.{}: lower the version in the header, embed a cubin, or update the \
         driver", supported.0, supported.1, version.0, version.1
    )]
    PtxVersion {
        /// As in the header
        version: (u32, u32),
        /// The newest that the driver reads
        supported: (u32, u32),
    },
    /// The kernel needs more of something than the device has.
    #[error("the launch needs {needed} {what}, and this GPU has {available}")]
    Resource {
        /// What it needs, in the plural
        what: &'static str,
        /// How much
        needed: u64,
        /// How much there is
        available: u64,
    },
    /// The driver's compiler refuses the PTX.
    #[error("the driver cannot compile the module{}", Lines(lines, log))]
    Jit {
        /// The lines of its log that name a line of the PTX
        lines: Vec<JitLine>,
        /// The whole log
        log: String,
    },
    /// A kernel failed on the device, or a call of the driver reports the failure of an earlier one.
    #[error("{}{}", Failed(name), if *context_lost { "; the GPU's context is lost: every later call fails until the process ends" } else { "" })]
    Failed {
        /// The name of the driver's error, such as `CUDA_ERROR_ILLEGAL_ADDRESS`
        name: String,
        /// Whether the context can be used no more
        context_lost: bool,
    },
    /// A call of the driver failed for another reason.
    #[error("`{call}` failed: {text} ({name})")]
    Driver {
        /// The function of the driver
        call: &'static str,
        /// The name of the driver's error
        name: String,
        /// What the driver says about it
        text: String,
    },
    /// Something was asked for that a capture of launches into a graph does not allow.
    #[error("while launches are captured into a graph, {what}")]
    InCapture {
        /// What cannot be done
        what: &'static str,
    },
    /// A graph was launched while the host reads memory that it may write.
    #[error("the graph may write memory that the host is reading: drop what `read` has returned first")]
    MemoryIsRead,
    /// A launch of a scope may write the tensor of a map that is not lent to the scope.
    #[error(
        "a launch that returns at once may write the tensor of this map: lend the map with `scope.lend_map(&mut map)`"
    )]
    MapNotLent,
    /// Two GPUs cannot access each other's memory.
    #[error("GPU {from} cannot access the memory of GPU {to}: there is no link between them that the driver supports")]
    NoPeerAccess {
        /// The number of the GPU that wants to
        from: usize,
        /// The number of the other one
        to: usize,
    },
    /// Shared memory is not that of a buffer.
    #[error("memory that GPUs share is that of a buffer: make it with `gpu.buffer(&data)` or `gpu.zeroed(n)`")]
    SharedOutsideOfBuffer,
    /// A launch of a scope has shared memory as an argument.
    #[error("a launch that returns at once takes no memory that devices share")]
    SharedInScope,
    /// An earlier launch has lost the context.
    #[error("the GPU's context was lost when `{kernel}` failed: start the process again")]
    ContextLost {
        /// The kernel that failed
        kernel: String,
    },
}

impl fmt::Debug for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The rule of a target that a GPU breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetRule {
    /// `sm_90` runs on that and later capabilities.
    Later,
    /// `sm_90a` runs on 9.0 alone.
    Exactly,
    /// `sm_100f` runs on later capabilities of the same family.
    Family,
}

impl fmt::Display for TargetRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TargetRule::Later => "PTX runs on GPUs of this and later compute capabilities",
            TargetRule::Exactly => "a target with `a` runs on GPUs of that compute capability alone",
            TargetRule::Family => "a target with `f` runs on GPUs of the same family alone",
        })
    }
}

/// A line of the log of the driver's compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JitLine {
    /// Line of the PTX text, from 1.
    pub line: u32,
    /// Line of the Rust or PTX file of the kernel, if the statement is known.
    pub source: Option<u32>,
    /// What the compiler says.
    pub message: String,
}

struct Lines<'a>(&'a [JitLine], &'a str);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(f, ": {}", self.1.trim_end());
        }
        for JitLine { line, source, message } in self.0 {
            match source {
                Some(source) => write!(f, "\n  line {source} (PTX line {line}): {message}")?,
                None => write!(f, "\n  PTX line {line}: {message}")?,
            }
        }
        Ok(())
    }
}

struct Failed<'a>(&'a str);

impl fmt::Display for Failed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.0 {
            "CUDA_ERROR_ILLEGAL_ADDRESS" => "the kernel accessed memory that is not allocated",
            "CUDA_ERROR_MISALIGNED_ADDRESS" => {
                "the kernel accessed an address that is not a multiple of the size of the access"
            }
            "CUDA_ERROR_INVALID_ADDRESS_SPACE" => "the kernel accessed an address of another state space",
            "CUDA_ERROR_INVALID_PC" => "the program counter of the kernel left its code",
            "CUDA_ERROR_ILLEGAL_INSTRUCTION" => "the kernel ran into an illegal instruction",
            "CUDA_ERROR_HARDWARE_STACK_ERROR" => "the call stack of the kernel is too deep or corrupt",
            "CUDA_ERROR_ASSERT" => "an assertion in the kernel failed",
            "CUDA_ERROR_LAUNCH_TIMEOUT" => "the kernel took longer than the driver allows",
            "CUDA_ERROR_LAUNCH_FAILED" => "the kernel trapped or did something undefined",
            _ => return f.write_str(self.0),
        };
        write!(f, "{what} ({})", self.0)
    }
}

impl GpuError {
    /// The error of a call.
    pub(crate) fn driver(call: &'static str, error: DriverError) -> Self {
        let words = |words: Result<&CStr, DriverError>| words.map(|s| s.to_string_lossy().into_owned());
        let name = words(error.error_name()).unwrap_or_else(|_| format!("error {}", error.0 as u32));
        if is_of_a_kernel(error.0) {
            return GpuError::Failed { name, context_lost: true };
        }
        GpuError::Driver { call, text: words(error.error_string()).unwrap_or_default(), name }
    }

    /// Whether the context of the device can be used no more.
    pub fn context_lost(&self) -> bool {
        matches!(self, GpuError::Failed { context_lost: true, .. } | GpuError::ContextLost { .. })
    }
}

/// Is it an error of a running kernel, after which the context is lost?
fn is_of_a_kernel(error: CUresult) -> bool {
    use CUresult::*;
    matches!(
        error,
        CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_ASSERT
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_LAUNCH_FAILED
    )
}
