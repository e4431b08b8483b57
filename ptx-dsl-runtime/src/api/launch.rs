//! Launches a kernel: checks dimensions and arguments, builds parameter and global memory, runs the machine.

mod args;
pub(crate) mod config;
mod error;
mod in_flight;
mod unoptimised;

pub use crate::machine::limits::{CancelHandle, DEFAULT_STEP_LIMIT, Progress};
pub use args::{Arg, GlobalBytes, IntoBuffer, IntoMap, IntoU64, Passed, by_value, scalar, slice, slice_mut};
pub use config::{Dim3, Launch, LaunchShape};
pub use error::{Dimensions, Error, LaunchError};
pub use in_flight::{AllInFlight, InFlight};

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
use args::{Addresses, place};
use std::sync::Arc;
use std::time::Instant;

/// Runs a kernel of the program on the host. Results are in the caller's buffers.
pub(super) fn kernel(
    info: &'static KernelInfo<'static>,
    compiled: Option<Compiled>,
    options: &Options,
    launch: Launch,
    args: &mut [Arg<'_>],
) -> Result<Report, Error> {
    run(info, &*code(info, compiled, options)?, options, launch, args)
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

/// Runs a kernel that was loaded at run time: `image` is its code, and `info.image` is not read.
pub(super) fn loaded(
    info: &KernelInfo<'_>,
    image: &Executable,
    options: &Options,
    launch: Launch,
    args: &mut [Arg<'_>],
) -> Result<Report, Error> {
    if options.engine == Some(Engine::Compiled) {
        let problem = EngineError::LoadedAtRunTime;
        return Err(Error::Engine { kernel: info.name.to_owned(), engine: Engine::Compiled, problem });
    }
    run(info, image, options, launch, args)
}

/// Runs a kernel that a test writes by hand, with any monitor.
#[cfg(test)]
pub(crate) fn launch_compiled<K: Kernel + crate::engines::compiled::CompiledKernel, M>(
    host: &Host<M>,
    launch: Launch,
    args: &mut [Arg<'_>],
) -> Result<Report, Error> {
    run(K::INFO, &Compiled::of::<K>(), host.options(), launch, args)
}

/// Checks a launch, and gives it to the machine.
fn run(
    info: &KernelInfo<'_>,
    code: &dyn Code,
    options: &Options,
    launch: Launch,
    args: &mut [Arg<'_>],
) -> Result<Report, Error> {
    let began = Instant::now();
    let mut grid = grid(info, &launch, options);
    grid.elements = args.iter().map(Arg::element).collect();
    let mut module = info.global_image.to_vec();
    let mut maps = Vec::new();
    let mut tensors: Vec<_> = args.iter().map(Arg::borrow).collect();
    let mut workspace = [0; 64];
    let mut heap;
    let (params, mut segments) = prepare(info, &launch, args, &mut tensors, (&mut module, &mut maps))?;
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

/// What the machine reads of a launch on a host, without its arguments.
pub(crate) fn grid<'l>(info: &'l KernelInfo<'l>, launch: &Launch, options: &'l Options) -> Grid<'l> {
    Grid {
        info,
        grid: launch.grid,
        block: launch.block_dims(info),
        cluster: launch.cluster_dims(info),
        is_cluster_launch: launch.cluster.is_some(),
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

/// Checks the launch, and builds parameter memory and the segments of global memory.
fn prepare<'s>(
    info: &KernelInfo<'_>,
    launch: &Launch,
    args: &'s mut [Arg<'_>],
    tensors: &'s mut [Option<Borrowed<'_>>],
    (module, maps): (&'s mut [u8], &'s mut Vec<Vec<u8>>),
) -> Result<(Vec<u8>, Vec<Segment<'s>>), Error> {
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
    check(info, launch, args).map_err(error)?;
    let mut params = vec![0; info.params.iter().map(|p| p.offset as usize + p.size as usize).max().unwrap_or(0)];
    let mut segments = vec![Segment::EMPTY, Segment::writable(module)];
    let addresses: Addresses<'_> = (FIRST_BUFFER..)
        .zip(args.iter().zip(info.params))
        .map(|(segment, (arg, p))| (p.name, arg.address(segment)))
        .collect();
    let mut objects = Vec::new();
    for (index, ((arg, tensor), p)) in args.iter_mut().zip(tensors).zip(info.params).enumerate() {
        let segment = FIRST_BUFFER + index as u64;
        if arg.is_multicast() {
            objects.push((p.offset, args::replicas(index, p, arg).map_err(error)?));
            segments.push(Segment::EMPTY);
            continue;
        }
        let (mut bytes, segment) = place(index, p, arg, tensor, (segment, &addresses)).map_err(error)?;
        segments.push(segment);
        if bytes.len() > p.size as usize {
            // a tensor map after a pointer lies in a segment after those of the arguments
            let behind = FIRST_BUFFER + (info.params.len() + maps.len()) as u64;
            maps.push(std::mem::replace(&mut bytes, global_address(behind, 0).to_le_bytes().to_vec()));
        }
        params[p.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
    }
    segments.extend(maps.iter_mut().map(|map| Segment::writable(map)));
    for (offset, replicas) in objects {
        let address = multimem_address(segments.len() as u64, 0);
        params[offset as usize..][..8].copy_from_slice(&address.to_le_bytes());
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
    args::passed(info.params, args).map_err(error)
}
