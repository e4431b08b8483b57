//! Why a launch failed.

use std::fmt;

use crate::engine::Engine;
use crate::fault::Fault;

/// Why a launch failed. `{:?}` prints the same report as `{}`, for a `main` or a test that returns it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The dimensions or arguments do not fit the kernel; nothing has run.
    #[error("error: cannot launch `{kernel}`: {problem}")]
    Launch {
        /// name of the kernel
        kernel: String,
        /// what does not fit
        problem: LaunchError,
    },
    /// The kernel uses an instruction that the host cannot run yet; nothing has run.
    #[error(
        "error: the host cannot run `{instruction}` yet: {why}\n  --> kernel `{kernel}`, PTX line {line}: `{text}`"
    )]
    NotYet {
        /// name of the kernel
        kernel: String,
        /// the instruction
        instruction: String,
        /// the reason
        why: String,
        /// the statement
        text: String,
        /// line in the printed PTX
        line: u32,
    },
    /// The engine that [`Host::engine`](crate::Host::engine) asks for is not there; nothing has run.
    #[error("error: cannot run `{kernel}` on the {engine} engine: {why}")]
    Engine {
        /// name of the kernel
        kernel: String,
        /// the engine
        engine: Engine,
        /// why it is not there
        why: &'static str,
    },
    /// The text is no schedule ([`Host::schedule`](crate::Host::schedule)); nothing has run.
    #[error("error: `{text}` is no schedule: {why}")]
    Schedule {
        /// the text
        text: String,
        /// why not
        why: String,
    },
    /// An environment variable has a value without a meaning; nothing has run.
    #[error("error: the environment variable `{name}` is `{value}`: {why}")]
    Environment {
        /// the variable
        name: &'static str,
        /// its value
        value: String,
        /// what it should be
        why: String,
    },
    /// The kernel did something undefined, or trapped.
    #[error("{0}")]
    Fault(Box<Fault>),
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
            _ => None,
        }
    }
}

/// Why dimensions or arguments do not fit the kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum LaunchError {
    #[error("the {what} dimensions {dims:?} contain a zero")]
    Zero { what: &'static str, dims: [u32; 3] },
    #[error("a block of {0} threads, the limit is 1024")]
    TooManyThreads(u64),
    #[error("block dimensions {0:?}: the limits are 1024, 1024 and 64")]
    BlockTooLong([u32; 3]),
    #[error("grid dimensions {0:?}: the limits are 2^31-1, 65535 and 65535")]
    GridTooLarge([u32; 3]),
    #[error("block dimensions {given:?}, but the kernel says `.reqntid {required:?}`")]
    Reqntid { given: [u32; 3], required: [u32; 3] },
    #[error("a block of {given} threads, but the kernel says `.maxntid {limit:?}`")]
    Maxntid { given: u64, limit: [u32; 3] },
    #[error("cluster dimensions {given:?}, but the kernel says `.reqnctapercluster {required:?}`")]
    Reqnctapercluster { given: [u32; 3], required: [u32; 3] },
    #[error("a cluster of {given} CTAs, but the kernel says `.maxclusterrank {limit}`")]
    Maxclusterrank { given: u64, limit: u32 },
    #[error("a cluster of {0} CTAs, the limit is 16")]
    ClusterTooLarge(u64),
    #[error("grid dimensions {grid:?} are not a multiple of the cluster dimensions {cluster:?}")]
    ClusterDividesGrid { grid: [u32; 3], cluster: [u32; 3] },
    #[error("{asked} bytes of shared memory ({fixed} of them static), the limit is 232448")]
    SharedMemory { asked: u64, fixed: u32 },
    #[error("{given} arguments for {wanted} parameters")]
    ArgumentCount { given: usize, wanted: usize },
    #[error("argument {index} for `{name}` has {given} bytes, the parameter has {wanted}")]
    ArgumentSize { index: usize, name: String, given: usize, wanted: u32 },
    #[error(
        "argument {index} for `{name}` is a buffer, but the parameter has {wanted} bytes and cannot hold an address"
    )]
    ArgumentNotAddress { index: usize, name: String, wanted: u32 },
    #[error("argument {index} for `{name}` is a value, but the parameter is a pointer and wants a buffer")]
    ArgumentNotBuffer { index: usize, name: String },
    #[error("argument {index} for `{name}`: offset {offset} is not a multiple of {align}, which `.align` promises")]
    ArgumentAlignment { index: usize, name: String, offset: u64, align: u32 },
    #[error("argument {index} for `{name}`: offset {offset} is beyond the buffer of {len} bytes")]
    ArgumentOffset { index: usize, name: String, offset: u64, len: u64 },
    #[error("argument {index} for `{name}`: its tensor is that of `{of}`, which is no parameter with a buffer")]
    TensorMapArgument { index: usize, name: String, of: String },
    #[error(
        "argument {index} for `{name}`: another argument has the same tensor map; say `Tensor::argument` in one of them"
    )]
    TensorMapTaken { index: usize, name: String },
}
