//! Launches a kernel: checks dimensions and arguments, builds parameter and global memory, runs the machine.

mod args;
pub(crate) mod config;
mod error;
mod in_flight;
mod passed;
mod unoptimised;

pub use crate::machine::limits::{CancelHandle, DEFAULT_STEP_LIMIT, Progress};
pub use args::{Arg, IntoBuffer, IntoMap, IntoU64, by_value, scalar, slice, slice_mut};
pub use config::{Dim3, Launch, LaunchShape};
pub use error::{Dimensions, Error, LaunchError};
pub use in_flight::{AllInFlight, InFlight};
pub use passed::{GlobalBytes, Passed};

use crate::api::engine::{Engine, EngineError};
#[cfg(test)]
use crate::api::host::Host;
use crate::api::host::{Options, Report};
use crate::api::tensor_map::map::Borrowed;
use crate::engines::compiled::Compiled;
#[cfg(test)]
use crate::engines::compiled::Kernel;
use crate::engines::interpreter;
use crate::engines::interpreter::Executable;
use crate::kernel::{KernelInfo, NotYet};
use crate::machine::grid::{Grid, Limits};
use crate::machine::heap::Heap;
use crate::machine::{self, Code};
use crate::memory::address::{FIRST_BUFFER, global_address, multimem_address};
use crate::memory::segment::Segment;
use args::{Addresses, SharedPlaces, SharedReplica, place};
use std::sync::Arc;
use std::time::Instant;

/// Runs a kernel of the program on hosts that share memory, with a list of arguments for each. Results are in the caller's buffers.
pub(super) fn kernel(
    info: &'static KernelInfo<'static>,
    compiled: Option<Compiled>,
    options: &Options,
    launch: Launch,
    lists: &mut [&mut [Arg<'_>]],
) -> Result<Report, Error> {
    run(info, &*code(info, compiled, options)?, options, launch, lists)
}

/// The kernel on the engine that the host asks for. Without a wish: compiled code if there is any; but a monitor sees the
/// interpreter, and so does a schedule other than round-robin, so that a seed means the same in all builds and with a monitor: the
/// engines divide kernels into different regions, between which schedules choose.
fn code(
    info: &'static KernelInfo<'static>,
    compiled: Option<Compiled>,
    options: &Options,
) -> Result<Arc<dyn Code>, Error> {
    // the environment speaks of plain hosts in round-robin order
    let watched = options.monitor.is_some();
    let plain = !watched && options.takes_the_first();
    let wanted = if plain { options.wanted_engine() } else { options.engine };
    let missing = |engine, problem| Error::Engine { kernel: info.name.to_owned(), engine, problem };
    match (compiled, wanted) {
        (_, Some(Engine::Compiled)) if watched => Err(missing(Engine::Compiled, EngineError::Monitor)),
        (Some(_), Some(Engine::Compiled)) if !plain => Err(missing(Engine::Compiled, EngineError::Schedule)),
        (Some(code), Some(Engine::Compiled)) => Ok(Arc::new(code)),
        (Some(code), None) if plain => Ok(Arc::new(code)),
        (None, Some(Engine::Compiled)) => Err(missing(Engine::Compiled, EngineError::DevelopmentBuild)),
        (_, Some(Engine::Interpreted) | None) => {
            let other = || missing(Engine::Interpreted, EngineError::OtherVersion);
            let image = interpreter::decoded(info.image).ok_or_else(other)?;
            Ok(image)
        }
    }
}

/// Runs a kernel that was loaded at run time as [`kernel`] does: `image` is its code, and `info.image` is not read.
pub(super) fn loaded(
    info: &KernelInfo<'_>,
    image: &Executable,
    options: &Options,
    launch: Launch,
    lists: &mut [&mut [Arg<'_>]],
) -> Result<Report, Error> {
    if options.engine == Some(Engine::Compiled) {
        let problem = EngineError::LoadedAtRunTime;
        return Err(Error::Engine { kernel: info.name.to_owned(), engine: Engine::Compiled, problem });
    }
    run(info, image, options, launch, lists)
}

/// Runs a kernel that a test writes by hand, with any monitor.
#[cfg(test)]
pub(crate) fn launch_compiled<K: Kernel + crate::engines::compiled::CompiledKernel, M>(
    host: &Host<M>,
    launch: Launch,
    args: &mut [Arg<'_>],
) -> Result<Report, Error> {
    run(K::INFO, &Compiled::of::<K>(), host.options(), launch, &mut [args])
}

/// Checks a launch, and gives it to the machine.
fn run(
    info: &KernelInfo<'_>,
    code: &dyn Code,
    options: &Options,
    launch: Launch,
    lists: &mut [&mut [Arg<'_>]],
) -> Result<Report, Error> {
    let began = Instant::now();
    let mut grid = grid(info, &launch, options);
    grid.elements = lists.iter().flat_map(|args| args.iter().map(Arg::element)).collect();
    if lists.len() > 1 {
        on_several(info, &launch, lists.len(), &mut grid)?;
    }
    let mut memory = LaunchMemory::of(info, lists);
    let mut workspace = [0; 64];
    let mut heap;
    let (params, mut segments) = prepare(info, &launch, lists, &mut memory)?;
    if launch.cooperative {
        grid.workspace = global_address(segments.len() as u64, 0);
        segments.push(Segment::writable(&mut workspace));
    }
    if info.heap {
        heap = vec![0; launch.malloc_heap as usize];
        grid.heap = Some(Arc::new(Heap::new(global_address(segments.len() as u64, 0), heap.len() as u64)));
        segments.push(Segment::writable(&mut heap));
    }
    let report = machine::run(&grid, code, params, segments).map_err(Error::Fault);
    unoptimised::note(began);
    report
}

/// What differs in a launch on several devices: clusters start in order, one of each device after the other, and all are resident if they are
/// not too many, because a device does not wait for the clusters of another one.
fn on_several(info: &KernelInfo<'_>, launch: &Launch, devices: usize, grid: &mut Grid<'_>) -> Result<(), Error> {
    let what = match () {
        _ if devices > MOST_DEVICES => Some("more than 16 devices"),
        _ if launch.cooperative => Some("a cooperative launch"),
        _ if !info.global_image.is_empty() => Some("`.global` variables, which each device has its own of"),
        _ => None,
    };
    if let Some(what) = what {
        let problem = LaunchError::SeveralDevices { what };
        return Err(Error::Launch { kernel: info.name.to_owned(), problem });
    }
    grid.devices = devices as u32;
    grid.starts_in_order = true;
    grid.residents = launch.residents(info, config::MOST_COOPERATIVE as usize);
    Ok(())
}

/// Devices of a launch.
const MOST_DEVICES: usize = 16;

/// What the machine reads of a launch on a host, without its arguments.
pub(crate) fn grid<'l>(info: &'l KernelInfo<'l>, launch: &Launch, options: &'l Options) -> Grid<'l> {
    Grid {
        info,
        grid: launch.grid,
        block: launch.block_dims(info),
        cluster: launch.cluster_dims(info),
        is_cluster_launch: launch.cluster.is_some(),
        devices: 1,
        dynamic_shared: launch.dynamic_shared,
        is_cooperative: launch.cooperative,
        residents: launch.residents(info, options.resident),
        threads: options.threads,
        elements: Vec::new(),
        workspace: 0,
        heap: None,
        print: options.print.clone(),
        numerics: options.numerics,
        tensor: options.tensor,
        strict_shuffles: options.strict_shuffles,
        limits: Limits { steps: launch.step_limit, cancel: launch.cancel.clone(), listener: launch.listener.clone() },
        schedule: &options.schedule,
        is_recorded: options.record,
        starts_in_order: options.starts_in_order,
        monitor: options.monitor.as_ref(),
        replay: options.replay_hint(),
    }
}

/// Memory that a launch has besides that of its arguments, and what it borrows of them.
struct LaunchMemory<'x> {
    /// `.global` variables.
    module: Vec<u8>,
    /// Tensor maps that parameters point to.
    maps: Vec<Vec<u8>>,
    /// The memory of tensor maps and shared memory, for each argument of all lists.
    borrowed: Vec<Option<Borrowed<'x>>>,
    /// Shared memory of multicast objects, with the list and the index of the argument that has it first.
    replicas: Vec<SharedReplica<'x>>,
}

impl<'x> LaunchMemory<'x> {
    fn of(info: &KernelInfo<'_>, lists: &[&mut [Arg<'x>]]) -> Self {
        let arguments = || lists.iter().flat_map(|args| args.iter());
        let mut replicas: Vec<SharedReplica<'x>> = Vec::new();
        for shared in arguments().flat_map(Arg::shared_replicas) {
            if replicas.iter().all(|known| args::key(known.shared) != args::key(shared)) {
                replicas.push(SharedReplica { shared, bytes: shared.borrow() });
            }
        }
        let borrowed = arguments().map(Arg::borrow).collect();
        LaunchMemory { module: info.global_image.to_vec(), maps: Vec::new(), borrowed, replicas }
    }
}

/// Checks the launch, and builds parameter memory for each list of arguments, and the segments of global memory.
fn prepare<'s>(
    info: &KernelInfo<'_>,
    launch: &Launch,
    lists: &'s mut [&mut [Arg<'_>]],
    memory: &'s mut LaunchMemory<'_>,
) -> Result<(Vec<Vec<u8>>, Vec<Segment<'s>>), Error> {
    let kernel = || info.name.to_owned();
    if let Some(&NotYet { what, why, site }) = info.not_yet.first() {
        return Err(Error::NotYet {
            kernel: kernel(),
            instruction: what.into(),
            why: why.into(),
            at: info.at(site).map(Box::new),
        });
    }
    let error = |problem| Error::Launch { kernel: kernel(), problem };
    lists.iter().try_for_each(|args| check(info, launch, args)).map_err(error)?;
    let size = info.params.iter().map(|p| p.offset as usize + p.size as usize).max().unwrap_or(0);
    let mut params = vec![vec![0; size]; lists.len()];
    let LaunchMemory { module, maps, borrowed, replicas: of_shared } = memory;
    let mut segments = vec![Segment::EMPTY, Segment::writable(module)];
    // shared memory of multicast objects has the segments after those of the arguments
    let first_replica = FIRST_BUFFER + (lists.len() * info.params.len()) as u64;
    let behind = first_replica + of_shared.len() as u64;
    let mut places: SharedPlaces = (first_replica..)
        .zip(of_shared.iter())
        .map(|(segment, replica)| (args::key(replica.shared), segment))
        .collect();
    for (device, args) in lists.iter().enumerate() {
        let first = FIRST_BUFFER + (device * info.params.len()) as u64;
        for (segment, shared) in (first..).zip(args.iter().map(Arg::as_shared)) {
            if let Some(shared) = shared {
                places.entry(args::key(shared)).or_insert(segment);
            }
        }
    }
    let mut objects = Vec::new();
    let mut rest = borrowed.iter_mut();
    for (device, args) in lists.iter_mut().enumerate() {
        let first = FIRST_BUFFER + (device * info.params.len()) as u64;
        let addresses: Addresses<'_> = (first..)
            .zip(args.iter().zip(info.params))
            .map(|(segment, (arg, p))| (p.name, arg.address(segment, &places)))
            .collect();
        for (index, ((arg, tensor), p)) in args.iter_mut().zip(rest.by_ref()).zip(info.params).enumerate() {
            let segment = first + index as u64;
            let all = first_replica..behind;
            if let Some((first, start)) = args::multicast_of_shared(index, p, arg, (&places, all)).map_err(error)? {
                let address = multimem_address(first, start);
                params[device][p.offset as usize..][..8].copy_from_slice(&address.to_le_bytes());
                segments.push(Segment::EMPTY);
                continue;
            }
            if arg.is_multicast() {
                objects.push((device, p.offset, args::replicas(index, p, arg).map_err(error)?));
                segments.push(Segment::EMPTY);
                continue;
            }
            let (mut bytes, segment) = place(index, p, arg, tensor, (segment, &addresses, &places)).map_err(error)?;
            segments.push(segment);
            if bytes.len() > p.size as usize {
                // a tensor map after a pointer lies in a segment after those of the arguments
                let behind = behind + maps.len() as u64;
                maps.push(std::mem::replace(&mut bytes, global_address(behind, 0).to_le_bytes().to_vec()));
            }
            params[device][p.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
    }
    let object = of_shared.len();
    segments.extend(of_shared.iter_mut().enumerate().map(|(i, SharedReplica { shared, bytes })| {
        let segment = bytes.as_mut().map_or(Segment::EMPTY, |bytes| Segment::writable(bytes));
        segment.from(args::start_of(*shared)).first_of(if i == 0 { object } else { 0 })
    }));
    segments.extend(maps.iter_mut().map(|map| Segment::writable(map)));
    for (device, offset, replicas) in objects {
        let address = multimem_address(segments.len() as u64, 0);
        params[device][offset as usize..][..8].copy_from_slice(&address.to_le_bytes());
        let n = replicas.len();
        segments.extend(
            replicas
                .iter_mut()
                .enumerate()
                .map(|(i, replica)| Segment::writable(replica).first_of(if i == 0 { n } else { 0 })),
        );
    }
    Ok((params, segments))
}

/// Checks the dimensions and the number of arguments.
fn check(info: &KernelInfo<'_>, launch: &Launch, args: &[Arg<'_>]) -> Result<(), LaunchError> {
    launch.check(info)?;
    if args.len() != info.params.len() {
        let names = info.params.iter().map(|p| p.name.to_owned()).collect();
        return Err(LaunchError::ArgumentCount { given: args.len(), names });
    }
    Ok(())
}

/// Makes the checks of a launch that do not depend on the device, and returns the arguments as a [`Device`](crate::Device) takes them.
///
/// # Errors
/// The dimensions or an argument do not suit the kernel.
pub fn passed<'x>(info: &KernelInfo<'_>, launch: &Launch, args: &'x mut [Arg<'_>]) -> Result<Vec<Passed<'x>>, Error> {
    let error = |problem| Error::Launch { kernel: info.name.to_owned(), problem };
    check(info, launch, args).map_err(error)?;
    passed::passed(info.params, args).map_err(error)
}
