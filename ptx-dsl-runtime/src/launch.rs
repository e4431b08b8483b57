//! Launches a kernel: checks dimensions and arguments, builds parameter and global memory, runs the machine.

mod args;
pub(crate) mod config;
mod error;

pub use args::{Arg, IntoBuffer, IntoU64, scalar, slice, slice_mut};
pub use config::{CancelHandle, DEFAULT_STEP_LIMIT, Dim3, Launch, Progress};
pub use error::{Error, LaunchError};

use crate::host::{Engine, Host, Report};
use crate::interpreter;
use crate::kernel::{Kernel, KernelInfo};
use crate::machine::{self, Code, Program};
use crate::mem::address::FIRST_BUFFER;
use crate::mem::segment::Segment;
use crate::monitor::Monitor;
use args::place;
use ptx_dsl_isa::image::Image;
use std::sync::Arc;

/// Runs a kernel on the host. Results are in the caller's buffers.
pub fn launch<K: Kernel, M: Monitor>(host: &Host<M>, launch: Launch, args: &mut [Arg<'_>]) -> Result<Report, Error> {
    run(K::INFO, Code::of::<K>(), host, launch, args)
}

/// Runs a kernel that has no Rust type: `image` is its code, and `info.image` is not read.
///
/// # Errors
/// As [`launch`], and if the host asks for the compiled engine.
#[inline(never)]
pub fn launch_image<M: Monitor>(
    info: &KernelInfo<'_>,
    image: &Arc<Image>,
    host: &Host<M>,
    launch: Launch,
    args: &mut [Arg<'_>],
) -> Result<Report, Error> {
    if host.asked_engine() == Some(Engine::Compiled) {
        let why = "it was loaded at run time";
        return Err(Error::Engine { kernel: info.name.to_owned(), engine: Engine::Compiled, why });
    }
    start(&Program { info, code: Code::Interpreted(image.clone()) }, host, launch, args)
}

/// The same for all kernels. Not inlined, so that `instances` compiles it in this crate.
#[inline(never)]
pub(crate) fn run<M: Monitor>(
    info: &'static KernelInfo<'static>,
    compiled: Code<M>,
    host: &Host<M>,
    launch: Launch,
    args: &mut [Arg<'_>],
) -> Result<Report, Error> {
    let code = match host.wanted_engine().unwrap_or(Engine::Compiled) {
        Engine::Compiled => compiled,
        engine => {
            let why = "the crate of the kernel was built with another version of ptx-dsl";
            let error = || Error::Engine { kernel: info.name.to_owned(), engine, why };
            Code::Interpreted(interpreter::decoded(info.image).ok_or_else(error)?)
        }
    };
    start(&Program { info, code }, host, launch, args)
}

fn start<M: Monitor>(
    program: &Program<'_, M>,
    host: &Host<M>,
    launch: Launch,
    args: &mut [Arg<'_>],
) -> Result<Report, Error> {
    let mut module = program.info.global_image.to_vec();
    let (params, segments) = prepare(program.info, &launch, args, &mut module)?;
    machine::run(program, host, &launch, params, segments).map_err(Error::Fault)
}

/// Checks the launch, and builds parameter memory and the segments of global memory.
fn prepare<'s>(
    info: &KernelInfo<'_>,
    launch: &Launch,
    args: &'s mut [Arg<'_>],
    module: &'s mut [u8],
) -> Result<(Vec<u8>, Vec<Segment<'s>>), Error> {
    let kernel = || info.name.to_owned();
    if let Some(&(instruction, site)) = info.not_yet.first() {
        let (text, line) = info.sites.get(site as usize).map_or(("", 0), |s| (s.text, s.line));
        return Err(Error::NotYet { kernel: kernel(), instruction: instruction.into(), text: text.into(), line });
    }
    let error = |problem| Error::Launch { kernel: kernel(), problem };
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
