//! Why a launch failed.

use std::fmt;

use crate::api::engine::{Engine, EngineError};
use crate::fault::{At, Fault, Where};
use crate::machine::schedule::ScheduleError;

/// Why a launch failed. `{}` includes the cause. `{:?}` prints the same report, for a `main` or a test that returns it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The dimensions or arguments do not fit the kernel; nothing has run.
    #[error("cannot launch `{kernel}`: {problem}")]
    Launch {
        /// name of the kernel
        kernel: String,
        /// what does not fit
        problem: LaunchError,
    },
    /// The kernel uses an instruction that the host cannot run yet; nothing has run.
    #[error("the host cannot run `{instruction}` yet: {why}{}", Where(kernel, at.as_deref()))]
    NotYet {
        /// name of the kernel
        kernel: String,
        /// The instruction
        instruction: String,
        /// The reason
        why: String,
        /// The statement, if known
        at: Option<Box<At>>,
    },
    /// The kernel cannot run on the engine that [`Host::engine`](crate::api::host::Host::engine) selects; nothing has run.
    #[error("cannot run `{kernel}` on the {engine} engine: {problem}")]
    Engine {
        /// name of the kernel
        kernel: String,
        /// The engine
        engine: Engine,
        /// why it cannot
        problem: EngineError,
    },
    /// The text is not a schedule ([`Host::schedule`](crate::api::host::Host::schedule)); nothing has run.
    #[error("`{text}` is not a schedule: {problem}")]
    Schedule {
        /// The text
        text: String,
        /// why it is none
        problem: ScheduleError,
    },
    /// The environment variable `PTX_DSL_SHARD` has an invalid value; nothing has run.
    #[error(
        "the environment variable `PTX_DSL_SHARD` is `{value}`: it wants the form `2/8`: the second of eight shards"
    )]
    Shard {
        /// The value of the variable
        value: String,
    },
    /// The kernel did something undefined, or trapped.
    #[error(transparent)]
    Fault(Box<Fault>),
    /// A device that is no host refused the launch, or the kernel failed there.
    #[error("`{kernel}` on {device}: {problem}\n  launched with {launched}{}", Explained(fault.as_deref()))]
    Device {
        /// name of the kernel
        kernel: String,
        /// name of the device
        device: String,
        /// The dimensions and arguments
        launched: String,
        /// what went wrong, such as a `ptx_dsl::cuda::GpuError`
        problem: Box<dyn std::error::Error + Send + Sync>,
        /// The fault of the same launch on a checked host, if the device was asked to explain failures
        fault: Option<Box<Fault>>,
    },
}

/// The fault that explains the failure of a device.
struct Explained<'f>(Option<&'f Fault>);

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(fault) => write!(f, "\nthe same launch on a checked host:\n{fault}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// The fault, if it is one.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Error::Fault(f) => Some(f),
            Error::Device { fault, .. } => fault.as_deref(),
            _ => None,
        }
    }
}

/// `` 1 argument for the parameters `x`, `n` ``
fn counted(given: usize, names: &[String]) -> String {
    let s = |n: usize| if n == 1 { "" } else { "s" };
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let given = format!("{given} argument{}", s(given));
    match names.len() {
        0 => format!("{given}, but the kernel has no parameters"),
        n => format!("{given} for {n} parameter{}: {}", s(n), names.join(", ")),
    }
}

/// The parts of a launch that have dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dimensions {
    /// The grid, in CTAs.
    Grid,
    /// A CTA, in threads.
    Block,
    /// A cluster, in CTAs.
    Cluster,
}

impl fmt::Display for Dimensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dimensions::Grid => "grid",
            Dimensions::Block => "block",
            Dimensions::Cluster => "cluster",
        })
    }
}

/// Why dimensions or arguments do not fit the kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A dimension is 0.
    #[error("the {of} dimensions {dims:?} contain a zero")]
    Zero {
        /// The part of the launch that has these dimensions
        of: Dimensions,
        /// The launched value
        dims: [u32; 3],
    },
    /// A CTA has at most 1024 threads.
    #[error("a block of {0} threads, but the limit is 1024")]
    TooManyThreads(u64),
    /// A dimension of the CTA is too large.
    #[error("block dimensions {0:?}: the limits are 1024, 1024 and 64")]
    BlockTooLong([u32; 3]),
    /// A dimension of the grid is too large.
    #[error("grid dimensions {0:?}: the limits are 2^31-1, 65535 and 65535")]
    GridTooLarge([u32; 3]),
    /// The launch does not have the threads of `.reqntid`.
    #[error("block dimensions {given:?}, but the kernel says `.reqntid {required:?}`")]
    Reqntid {
        /// The launched value
        given: [u32; 3],
        /// The value of the directive
        required: [u32; 3],
    },
    /// More threads than `.maxntid` allows
    #[error("a block of {given} threads, but the kernel says `.maxntid {limit:?}`")]
    Maxntid {
        /// The launched value
        given: u64,
        /// The limit of the directive
        limit: [u32; 3],
    },
    /// The launch does not have the CTAs of `.reqnctapercluster`.
    #[error("cluster dimensions {given:?}, but the kernel says `.reqnctapercluster {required:?}`")]
    Reqnctapercluster {
        /// The launched value
        given: [u32; 3],
        /// The value of the directive
        required: [u32; 3],
    },
    /// `.explicitcluster`, and neither the launch nor the kernel has a cluster. A GPU answers `CUDA_ERROR_INVALID_CLUSTER_SIZE`.
    #[error(
        "no cluster dimensions, but the kernel says `.explicitcluster`: give the launch some, such as `Launch::cluster(1)`"
    )]
    ExplicitCluster,
    /// A launch on several devices has another number of lists of arguments.
    #[error("{given} lists of arguments for {devices} devices")]
    ListsOfArguments {
        /// As launched
        given: usize,
        /// Devices
        devices: usize,
    },
    /// A launch on several devices asks for something that hosts cannot do together.
    #[error("hosts that share memory cannot run this together yet: {what}")]
    SeveralDevices {
        /// What they cannot run
        what: &'static str,
    },
    /// Memory that another launch uses, or that an argument of another kind uses in this one.
    #[error("argument {index} for `{name}` is shared memory that is in use")]
    SharedInUse {
        /// Its index
        index: usize,
        /// The parameter
        name: String,
    },
    /// The replicas of a multicast object of shared memory are not those of the other objects of the launch.
    #[error(
        "argument {index} for `{name}` is a multicast object, and another argument is an object with other replicas"
    )]
    MulticastOfShared {
        /// Its index
        index: usize,
        /// The parameter
        name: String,
    },
    /// More CTAs in a cluster than `.maxclusterrank` allows
    #[error("a cluster of {given} CTAs, but the kernel says `.maxclusterrank {limit}`")]
    Maxclusterrank {
        /// The launched value
        given: u64,
        /// The limit of the directive
        limit: u32,
    },
    /// A cluster has at most 16 CTAs.
    #[error("a cluster of {0} CTAs, but the limit is 16")]
    ClusterTooLarge(u64),
    /// The grid is not a whole number of clusters.
    #[error("grid dimensions {grid:?} are not a multiple of the cluster dimensions {cluster:?}")]
    ClusterDividesGrid {
        /// The launched value
        grid: [u32; 3],
        /// The cluster, as launched or by `.reqnctapercluster`
        cluster: [u32; 3],
    },
    /// More shared memory than a CTA can have
    #[error("{asked} bytes of shared memory ({fixed} of them static), but the limit is 232448")]
    SharedMemory {
        /// Static and dynamic bytes
        asked: u64,
        /// The static ones
        fixed: u32,
    },
    /// More CTAs than can be resident at the same time
    #[error("a cooperative launch of {ctas} CTAs, but the limit is 4224")]
    Cooperative {
        /// CTAs of the grid
        ctas: u64,
    },
    /// A larger heap than the host has
    #[error("a heap of {bytes} bytes, but the limit is 4 GiB")]
    MallocHeap {
        /// The requested bytes
        bytes: u64,
    },
    /// More local memory than a CTA can have
    #[error(
        "{bytes} bytes of local memory for each of {threads} threads, but the limit is 512 MiB for a block; make the `.local` variables smaller"
    )]
    LocalMemory {
        /// The bytes of each thread
        bytes: u32,
        /// Threads of a CTA
        threads: u64,
    },
    /// More local memory than the host has
    #[error("{bytes} bytes of local memory for {ctas} CTAs that are resident at the same time, the limit is 8 GiB")]
    ResidentLocalMemory {
        /// Bytes of local memory of all of these CTAs
        bytes: u64,
        /// CTAs of a cluster, or of a cooperative launch
        ctas: u64,
    },
    /// Too many or too few arguments
    #[error("{}", counted(*given, names))]
    ArgumentCount {
        /// The launched value
        given: usize,
        /// The parameters of the kernel
        names: Vec<String>,
    },
    /// A value of another size than the parameter
    #[error("argument {index} for `{name}` has {given} bytes, but the parameter has {wanted}")]
    ArgumentSize {
        /// The number of the argument, from 0
        index: usize,
        /// The name of the parameter
        name: String,
        /// The launched value
        given: usize,
        /// The size of the parameter, in bytes
        wanted: u32,
    },
    /// A buffer for a parameter that holds no address
    #[error(
        "argument {index} for `{name}` is a buffer, but the parameter has {wanted} bytes and cannot hold an address"
    )]
    ArgumentNotAddress {
        /// The number of the argument, from 0
        index: usize,
        /// The name of the parameter
        name: String,
        /// The size of the parameter, in bytes
        wanted: u32,
    },
    /// A value for a pointer
    #[error(
        "argument {index} for `{name}` is a value, but the parameter is a pointer and wants a buffer, or eight zero bytes for null"
    )]
    ArgumentNotBuffer {
        /// The number of the argument, from 0
        index: usize,
        /// The name of the parameter
        name: String,
    },
    /// A part of a buffer that begins at a less aligned place than `.ptr .align` promises
    #[error(
        "argument {index} for `{name}` begins at byte {offset} of its buffer, but `.align` promises a multiple of {align}"
    )]
    ArgumentAlignment {
        /// The number of the argument, from 0
        index: usize,
        /// The name of the parameter
        name: String,
        /// The offset of the argument in its buffer
        offset: u64,
        /// The alignment of `.ptr .align`
        align: u32,
    },
    /// A part that begins after the end of its buffer
    #[error("argument {index} for `{name}`: offset {offset} is beyond the buffer of {len} bytes")]
    ArgumentOffset {
        /// The number of the argument, from 0
        index: usize,
        /// The name of the parameter
        name: String,
        /// The offset of the argument in its buffer
        offset: u64,
        /// The bytes of the buffer
        len: u64,
    },
    /// A tensor map of a tensor that is not an argument
    #[error("argument {index} for `{name}`: its tensor is that of `{of}`, which is not a parameter with a buffer")]
    TensorMapArgument {
        /// The number of the argument, from 0
        index: usize,
        /// The name of the parameter
        name: String,
        /// The parameter that the tensor names
        of: String,
    },
    /// A multicast object without replicas, or with replicas of different lengths
    #[error(
        "argument {index} for `{name}` is a multicast object whose replicas have {lengths:?} bytes; it has one or more, of the same length"
    )]
    MulticastReplicas {
        /// The number of the argument, from 0
        index: usize,
        /// The name of the parameter
        name: String,
        /// Bytes of each replica
        lengths: Vec<usize>,
    },
    /// A multicast object for a device that is no host
    #[error("argument {index} for `{name}` is a multicast object, which only a host takes yet")]
    MulticastOnOneDevice {
        /// The number of the argument, from 0
        index: usize,
        /// The name of the parameter
        name: String,
    },
    /// A tensor map that two arguments have
    #[error(
        "argument {index} for `{name}`: another argument has the same tensor map; use `Tensor::argument` in one of them"
    )]
    TensorMapTaken {
        /// The number of the argument, from 0
        index: usize,
        /// The name of the parameter
        name: String,
    },
}
