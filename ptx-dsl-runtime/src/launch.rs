//! A launch: dimensions, arguments, and the checks that come before anything runs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::{NoUninit, Pod};

use crate::fault::Fault;
use crate::host::{Host, Report};
use crate::kernel::{Kernel, KernelInfo, ParamInfo};
use crate::machine::{self, Program};
use crate::mem::address::{FIRST_BUFFER, SEGMENT_SHIFT};
use crate::mem::segment::Segment;
use crate::monitor::Monitor;

/// Why a launch did not end well. `{:?}` is the same report as `{}`: a `main` or a test that ends with `?` shows it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The dimensions or arguments do not fit the kernel; nothing has run.
    #[error("error: cannot launch `{kernel}`: {problem}")]
    Launch {
        /// name of the kernel
        kernel: &'static str,
        /// what does not fit
        problem: LaunchError,
    },
    /// The kernel uses an instruction that the host cannot run yet; nothing has run.
    #[error("error: the host cannot run `{instruction}` yet\n  --> kernel `{kernel}`, PTX line {line}: `{text}`")]
    NotYet {
        /// name of the kernel
        kernel: &'static str,
        /// the instruction
        instruction: &'static str,
        /// the statement
        text: &'static str,
        /// line in the printed PTX
        line: u32,
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

/// What about a launch does not fit.
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
    ArgumentSize { index: usize, name: &'static str, given: usize, wanted: u32 },
    #[error(
        "argument {index} for `{name}` is a buffer, but the parameter has {wanted} bytes and cannot hold an address"
    )]
    ArgumentNotAddress { index: usize, name: &'static str, wanted: u32 },
    #[error("argument {index} for `{name}` is a value, but the parameter is a pointer and wants a buffer")]
    ArgumentNotBuffer { index: usize, name: &'static str },
    #[error("argument {index} for `{name}`: offset {offset} is not a multiple of {align}, which `.align` promises")]
    ArgumentAlignment { index: usize, name: &'static str, offset: u64, align: u32 },
    #[error("argument {index} for `{name}`: offset {offset} is beyond the buffer of {len} bytes")]
    ArgumentOffset { index: usize, name: &'static str, offset: u64, len: u64 },
}

/// Dimensions: from a number, a tuple or an array; what is not given is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dim3(pub [u32; 3]);

macro_rules! dims {
    ($($t:ty, $p:pat => $v:expr;)*) => { $(impl From<$t> for Dim3 {
        fn from($p: $t) -> Self { Dim3($v) }
    })* };
}
dims! {
    u32, x => [x, 1, 1];
    (u32,), (x,) => [x, 1, 1];
    (u32, u32), (x, y) => [x, y, 1];
    (u32, u32, u32), (x, y, z) => [x, y, z];
    [u32; 1], [x] => [x, 1, 1];
    [u32; 2], [x, y] => [x, y, 1];
    [u32; 3], v => v;
}

/// Ends a running launch from another thread.
#[derive(Debug, Clone, Default)]
pub struct CancelHandle(Arc<AtomicBool>);

impl CancelHandle {
    /// Not cancelled yet.
    pub fn new() -> Self {
        CancelHandle::default()
    }

    /// The launch ends with a fault soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Has it been cancelled?
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a launch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Clusters that have ended, those cancelled by cluster launch control included.
    pub clusters_done: u64,
    /// Clusters of the grid.
    pub clusters: u64,
    /// Regions run so far, counted per warp.
    pub turns: u64,
}

/// What is told of the progress of a launch.
#[derive(Clone)]
pub(crate) struct Listener(pub(crate) Arc<dyn Fn(Progress) + Send + Sync>);

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

/// Regions a launch may run, counted per warp, if it does not say: an endless loop ends within a minute or so.
pub const DEFAULT_STEP_LIMIT: u64 = 200_000_000;

/// Dimensions and limits of a launch.
#[derive(Debug, Clone)]
pub struct Launch {
    pub(crate) grid: [u32; 3],
    pub(crate) block: Option<[u32; 3]>,
    pub(crate) cluster: Option<[u32; 3]>,
    pub(crate) dynamic_shared: u32,
    pub(crate) step_limit: u64,
    pub(crate) cancel: Option<CancelHandle>,
    pub(crate) listener: Option<Listener>,
}

impl Launch {
    /// A grid of this many CTAs.
    pub fn grid(grid: impl Into<Dim3>) -> Self {
        Launch {
            grid: grid.into().0,
            block: None,
            cluster: None,
            dynamic_shared: 0,
            step_limit: DEFAULT_STEP_LIMIT,
            cancel: None,
            listener: None,
        }
    }

    /// Threads of a CTA. Without it: `.reqntid`, or one.
    pub fn block(mut self, block: impl Into<Dim3>) -> Self {
        self.block = Some(block.into().0);
        self
    }

    /// CTAs of a cluster. Without it: `.reqnctapercluster`, or one.
    pub fn cluster(mut self, cluster: impl Into<Dim3>) -> Self {
        self.cluster = Some(cluster.into().0);
        self
    }

    /// Bytes of dynamic shared memory (`.extern .shared`).
    pub fn dynamic_shared(mut self, bytes: u32) -> Self {
        self.dynamic_shared = bytes;
        self
    }

    /// How many regions (pieces of code between branches and waits) may run, counted per warp.
    pub fn step_limit(mut self, regions: u64) -> Self {
        self.step_limit = regions;
        self
    }

    /// Lets another thread end the launch.
    pub fn cancel(mut self, handle: CancelHandle) -> Self {
        self.cancel = Some(handle);
        self
    }

    /// Calls `listener` each time a cluster ends.
    pub fn on_progress(mut self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.listener = Some(Listener(Arc::new(listener)));
        self
    }

    /// CTAs per cluster, when the kernel runs.
    pub(crate) fn cluster_dims(&self, info: &KernelInfo) -> [u32; 3] {
        self.cluster.or(info.reqnctapercluster).unwrap_or([1; 3])
    }

    /// Threads per CTA, when the kernel runs.
    pub(crate) fn block_dims(&self, info: &KernelInfo) -> [u32; 3] {
        self.block.or(info.reqntid).unwrap_or([1; 3])
    }

    fn check(&self, info: &KernelInfo) -> Result<(), LaunchError> {
        let (cluster, block) = (self.cluster_dims(info), self.block_dims(info));
        for (what, dims) in [("grid", self.grid), ("block", block), ("cluster", cluster)] {
            if dims.contains(&0) {
                return Err(LaunchError::Zero { what, dims });
            }
        }
        let [gx, gy, gz] = self.grid;
        if gx > i32::MAX as u32 || gy > 65535 || gz > 65535 {
            return Err(LaunchError::GridTooLarge(self.grid));
        }
        let threads = volume(block);
        if block[0] > 1024 || block[1] > 1024 || block[2] > 64 {
            return Err(LaunchError::BlockTooLong(block));
        }
        if threads > 1024 {
            return Err(LaunchError::TooManyThreads(threads));
        }
        if let Some(required) = info.reqntid
            && required != block
        {
            return Err(LaunchError::Reqntid { given: block, required });
        }
        if let Some(limit) = info.maxntid
            && threads > volume(limit)
        {
            return Err(LaunchError::Maxntid { given: threads, limit });
        }
        if let Some(required) = info.reqnctapercluster
            && required != cluster
        {
            return Err(LaunchError::Reqnctapercluster { given: cluster, required });
        }
        let ctas = volume(cluster);
        if let Some(limit) = info.maxclusterrank
            && ctas > limit as u64
        {
            return Err(LaunchError::Maxclusterrank { given: ctas, limit });
        }
        if ctas > 16 {
            return Err(LaunchError::ClusterTooLarge(ctas));
        }
        if self.grid.iter().zip(cluster).any(|(g, c)| g % c != 0) {
            return Err(LaunchError::ClusterDividesGrid { grid: self.grid, cluster });
        }
        let asked = info.shared_size as u64 + self.dynamic_shared as u64;
        if asked > 227 * 1024 {
            return Err(LaunchError::SharedMemory { asked, fixed: info.shared_size });
        }
        Ok(())
    }
}

/// Product of dimensions, without overflow.
pub(crate) fn volume(d: [u32; 3]) -> u64 {
    d.iter().fold(1u64, |a, &n| a.saturating_mul(n as u64))
}

/// An argument of a kernel.
#[derive(Debug)]
pub struct Arg<'a>(Kind<'a>);

#[derive(Debug)]
enum Kind<'a> {
    Buffer(&'a mut [u8], u64),
    ReadOnly(&'a [u8], u64),
    Value(Vec<u8>),
}

impl<'a> Arg<'a> {
    /// A buffer in device memory; the kernel gets its 64-bit address, and results are in it when the launch returns.
    pub fn buffer(bytes: &'a mut [u8]) -> Self {
        Arg(Kind::Buffer(bytes, 0))
    }

    /// A buffer the kernel may only read.
    pub fn read_only(bytes: &'a [u8]) -> Self {
        Arg(Kind::ReadOnly(bytes, 0))
    }

    /// A buffer; the kernel gets the address of the byte at `offset`.
    pub fn buffer_at(bytes: &'a mut [u8], offset: u64) -> Self {
        Arg(Kind::Buffer(bytes, offset))
    }

    /// The bytes of a parameter passed by value, little endian: a number, a struct, a tensor map.
    pub fn value(bytes: impl AsRef<[u8]>) -> Self {
        Arg(Kind::Value(bytes.as_ref().to_vec()))
    }
}

/// A typed read-only buffer.
pub fn slice<T: Pod>(s: &[T]) -> Arg<'_> {
    Arg::read_only(bytemuck::cast_slice(s))
}

/// A typed buffer.
pub fn slice_mut<T: Pod>(s: &mut [T]) -> Arg<'_> {
    Arg::buffer(bytemuck::cast_slice_mut(s))
}

/// A typed value.
pub fn scalar<'a, T: NoUninit>(v: T) -> Arg<'a> {
    Arg::value(bytemuck::bytes_of(&v))
}

/// What can be given for a `.ptr` parameter without a Rust type: slices, vectors and arrays of plain data.
pub trait IntoBuffer<'a> {
    /// As an argument.
    fn into_buffer(self) -> Arg<'a>;
}

macro_rules! buffers {
    ($($t:ty $(, $n:ident)?;)*) => { $(
        impl<'a, T: Pod $(, const $n: usize)?> IntoBuffer<'a> for &'a mut $t {
            fn into_buffer(self) -> Arg<'a> { slice_mut(&mut self[..]) }
        }
        impl<'a, T: Pod $(, const $n: usize)?> IntoBuffer<'a> for &'a $t {
            fn into_buffer(self) -> Arg<'a> { slice(&self[..]) }
        }
        impl<'a, T: Pod $(, const $n: usize)?> From<&'a mut $t> for Arg<'a> {
            fn from(buffer: &'a mut $t) -> Self { slice_mut(&mut buffer[..]) }
        }
        impl<'a, T: Pod $(, const $n: usize)?> From<&'a $t> for Arg<'a> {
            fn from(buffer: &'a $t) -> Self { slice(&buffer[..]) }
        }
    )* };
}
buffers! { [T]; Vec<T>; [T; N], N; }

impl<'a> IntoBuffer<'a> for Arg<'a> {
    fn into_buffer(self) -> Arg<'a> {
        self
    }
}

/// What can be given for a plain `.u64`/`.b64` parameter: a number or a buffer, whose address the kernel gets.
pub trait IntoU64<'a> {
    /// As an argument.
    fn into_u64(self) -> Arg<'a>;
}

impl<'a> IntoU64<'a> for u64 {
    fn into_u64(self) -> Arg<'a> {
        scalar(self)
    }
}

impl<'a> IntoU64<'a> for Arg<'a> {
    fn into_u64(self) -> Arg<'a> {
        self
    }
}

macro_rules! pointers {
    ($($t:ty $(, $n:ident)?;)*) => { $(
        impl<'a, T: Pod $(, const $n: usize)?> IntoU64<'a> for &'a mut $t {
            fn into_u64(self) -> Arg<'a> { slice_mut(&mut self[..]) }
        }
        impl<'a, T: Pod $(, const $n: usize)?> IntoU64<'a> for &'a $t {
            fn into_u64(self) -> Arg<'a> { slice(&self[..]) }
        }
    )* };
}
pointers! { [T]; Vec<T>; [T; N], N; }

impl From<u64> for Arg<'_> {
    fn from(value: u64) -> Self {
        scalar(value)
    }
}

/// Checks one argument against its parameter; gives the bytes for parameter memory and the buffer.
fn place<'s>(
    index: usize,
    p: &ParamInfo,
    arg: &'s mut Arg<'_>,
    segment: u64,
) -> Result<(Vec<u8>, Segment<'s>), LaunchError> {
    let name = p.name;
    let (len, offset) = match &arg.0 {
        Kind::Value(v) => {
            if v.len() != p.size as usize {
                return Err(LaunchError::ArgumentSize { index, name, given: v.len(), wanted: p.size });
            }
            // eight zero bytes are the null pointer
            if p.pointer.is_some() && v.iter().any(|&b| b != 0) {
                return Err(LaunchError::ArgumentNotBuffer { index, name });
            }
            return Ok((v.clone(), Segment::EMPTY));
        }
        Kind::Buffer(b, offset) => (b.len() as u64, *offset),
        Kind::ReadOnly(b, offset) => (b.len() as u64, *offset),
    };
    if p.size != 8 {
        return Err(LaunchError::ArgumentNotAddress { index, name, wanted: p.size });
    }
    if offset > len {
        return Err(LaunchError::ArgumentOffset { index, name, offset, len });
    }
    let align = p.pointer.unwrap_or(1).max(1);
    if offset % align as u64 != 0 {
        return Err(LaunchError::ArgumentAlignment { index, name, offset, align });
    }
    let segment_bytes = match &mut arg.0 {
        Kind::Buffer(b, _) => {
            if p.read_only {
                Segment::ReadOnly(b)
            } else {
                Segment::Buffer(b)
            }
        }
        Kind::ReadOnly(b, _) => Segment::ReadOnly(b),
        Kind::Value(_) => Segment::EMPTY,
    };
    Ok(((segment << SEGMENT_SHIFT | offset).to_le_bytes().to_vec(), segment_bytes))
}

/// Runs a kernel on the host. Results are in the caller's buffers.
pub fn launch<K: Kernel, M: Monitor>(host: &Host<M>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
    run(Program::of::<K>(), host, launch, args)
}

/// For all kernels. Not inlined: it is compiled here for the plain host, `instances` sees to that.
#[inline(never)]
pub(crate) fn run<M: Monitor>(
    program: Program<M>,
    host: &Host<M>,
    launch: Launch,
    args: &mut [Arg<'_>],
) -> Result<Report, Error> {
    let mut module = program.info().global_image.to_vec();
    let (params, segments) = prepare(program.info(), &launch, args, &mut module)?;
    machine::run(program, host, &launch, params, segments).map_err(Error::Fault)
}

/// Everything that has to be right before the first thread runs.
fn prepare<'s>(
    info: &'static KernelInfo,
    launch: &Launch,
    args: &'s mut [Arg<'_>],
    module: &'s mut [u8],
) -> Result<(Vec<u8>, Vec<Segment<'s>>), Error> {
    let kernel = info.name;
    if let Some(&(instruction, site)) = info.not_yet.first() {
        let (text, line) = info.sites.get(site as usize).map_or(("", 0), |s| (s.text, s.line));
        return Err(Error::NotYet { kernel, instruction, text, line });
    }
    let error = |problem| Error::Launch { kernel, problem };
    launch.check(info).map_err(error)?;
    if args.len() != info.params.len() {
        return Err(error(LaunchError::ArgumentCount { given: args.len(), wanted: info.params.len() }));
    }
    let mut params = vec![0; info.params.iter().map(|p| p.offset as usize + p.size as usize).max().unwrap_or(0)];
    let mut segments = vec![Segment::EMPTY, Segment::Buffer(module)];
    for (index, (arg, p)) in args.iter_mut().zip(info.params).enumerate() {
        let (bytes, segment) = place(index, p, arg, FIRST_BUFFER + index as u64).map_err(error)?;
        params[p.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        segments.push(segment);
    }
    Ok((params, segments))
}
