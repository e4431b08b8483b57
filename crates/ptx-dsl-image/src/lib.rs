//! This crate makes what the host machine runs of a kernel, from a typed module: its regions, its image for the interpreter, and facts for a launch.
//! It makes no tokens of Rust, so a program that loads kernels at run time builds neither `quote` nor `syn`.
//!
//! Stages, each of which reads only what those before it made: `rewrite` (what the engines do not know), `region` (the region graph),
//! `image` and `info`. Compiled code (`ptx-dsl-codegen`) begins with the region graph.

mod cluster_address;
pub mod frames;
mod image;
mod info;
pub mod instr;
pub mod kernel;
mod origins;
pub mod region;
mod rewrite;
mod rust_constants;
pub mod rust_types;
mod sites;
pub mod stack;
mod system_calls;
mod video;
pub mod wgmma;

use frames::Frames;
use kernel::Kernel;
use ptx_dsl_isa::hir::{FuncId, Function, Module};
use ptx_dsl_isa::span::Span;
use region::graph::Program;
use std::collections::BTreeSet;

pub use info::{Info, Parameter};
pub use origins::Origins;
pub use ptx_dsl_isa::image::Image;
pub use rewrite::for_engines;
pub use sites::{Line, Printed, Site, Sites};

/// A kernel with its regions and its image.
pub struct Prepared<'m> {
    /// The region graph.
    pub program: Program<'m>,
    /// The statements that faults name.
    pub sites: Sites<'m>,
    /// The code of the kernel for the interpreter.
    pub image: Image,
    /// Facts about it.
    pub info: Info,
}

/// The entry function with its live ranges split. `None` if that changes nothing.
pub fn split(module: &Module, entry: FuncId) -> Option<Function> {
    ptx_dsl_analysis::live_ranges::split(&module.functions[entry.0 as usize])
}

/// The kernel, and what all engines need of it.
pub fn prepare<'m>(
    module: &'m Module,
    entry: FuncId,
    function: &'m Function,
    mut sites: Sites<'m>,
) -> (Kernel<'m>, Prepared<'m>) {
    let program = region::build::program(module, entry, function);
    let recursive = program.recursive.clone();
    let frames = Frames::new(module, &recursive, program.local_size(module));
    let kernel = Kernel { module, entry, function, recursive, frames };
    let image = image::image(&kernel, &program, &mut sites);
    let info = Info::new(&kernel, &program, &mut sites);
    (kernel, Prepared { program, sites, image, info })
}

/// A kernel without code, which stands in for one with errors.
pub fn stub<'m>(
    module: &'m Module,
    entry: FuncId,
    function: &'m Function,
    mut sites: Sites<'m>,
) -> (Kernel<'m>, Prepared<'m>) {
    let frames = Frames::new(module, &BTreeSet::new(), 0);
    let kernel = Kernel { module, entry, function, recursive: BTreeSet::new(), frames };
    let program = Program::empty(entry);
    let info = Info::new(&kernel, &program, &mut sites);
    (kernel, Prepared { program, sites, image: Image::default(), info })
}

/// A kernel for the interpreter.
#[derive(Debug, Clone)]
pub struct Interpreted {
    /// Facts about it.
    pub info: Info,
    /// The statements that faults name, by number.
    pub sites: Vec<Site>,
    /// The places in source files that they come from.
    pub origins: Origins,
    /// The code of the kernel.
    pub image: Image,
}

/// An entry of a module from [`for_engines`], for the interpreter. `line` gives the line of a place in the source.
pub fn interpreted(module: &Module, entry: FuncId, line: &dyn Fn(Span) -> Line, text: &Printed<'_>) -> Interpreted {
    let split = split(module, entry);
    let function = split.as_ref().unwrap_or(&module.functions[entry.0 as usize]);
    let (_, Prepared { sites, image, info, .. }) = prepare(module, entry, function, Sites::new(module, line, text));
    let (sites, origins) = sites.into_parts();
    Interpreted { info, sites, origins, image }
}
