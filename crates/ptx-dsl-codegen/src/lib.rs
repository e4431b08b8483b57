//! Code generation: a typed module becomes, for each kernel, a type with its PTX, its image for the interpreter and its launch, and
//! compiled code: a `CompiledKernel` whose `step` runs one region for some warps. What an instruction does is the runtime's: emitted
//! code reads operands, calls `runtime::semantics::<family>::<opcode>` and stores the results.
//!
//! Stages, each of which reads only what those before it made: `rewrite` (what the engines do not know), `region` (the region graph),
//! `image`; for compiled code `analysis`, `layout` (how lanes lie), `lower` (the code of a region), `step` (dispatch); `item` (the Rust
//! items).

mod analysis;
mod cluster_address;
mod emit;
mod frames;
mod image;
mod info;
mod instr;
mod item;
mod kernel;
mod layout;
mod lower;
mod names;
mod region;
mod rewrite;
mod rust_constants;
pub mod rust_types;
mod source;
mod stack;
mod step;
mod system_calls;
#[cfg(test)]
mod tests;
mod values;
mod video;
mod wgmma;

use emit::Emitter;
use emit::constants::Constants;
use emit::scale::Scale;
use frames::Frames;
use item::parameters::passing;
use kernel::Kernel;
use layout::scalar_op::weight;
use layout::solver::{Layout, solve};
use proc_macro2::TokenStream;
use ptx_dsl_isa::hir::{FuncId, Function, Module};
use ptx_dsl_isa::span::Span;
use region::graph::Program;
use region::if_conversion;
use std::collections::BTreeSet;

pub use emit::constants::Site;
pub use emit::origins::Origins;
pub use info::{Info, Parameter};
pub use item::exported;
pub use names::{primitive, rust_name, shown};
pub use ptx_dsl_isa::image::Image;
pub use rewrite::for_engines;
pub use source::{Line, Printed, Problem, RustType, Source, Text};
pub use values::{Places, Values};

/// Rounds of if-conversion: a converted branch may make the predicate of another one divergent.
const ROUNDS: usize = 3;

/// A kernel with its regions and its image.
struct Prepared<'m> {
    program: Program<'m>,
    constants: Constants<'m>,
    image: Image,
    info: Info,
}

/// The entry function with its live ranges split. `None` if that changes nothing.
fn split(module: &Module, entry: FuncId) -> Option<Function> {
    ptx_dsl_analysis::live_ranges::split(&module.functions[entry.0 as usize])
}

/// The kernel, and what all engines need of it.
fn prepare<'m>(
    module: &'m Module,
    entry: FuncId,
    function: &'m Function,
    mut constants: Constants<'m>,
) -> (Kernel<'m>, Prepared<'m>) {
    let program = region::build::program(module, entry, function);
    let recursive = program.recursive.clone();
    let frames = Frames::new(module, &recursive, program.local_size(module));
    let kernel = Kernel { module, entry, function, recursive, frames };
    let image = image::image(&kernel, &program, &mut constants);
    let info = Info::new(&kernel, &program, &mut constants);
    (kernel, Prepared { program, constants, image, info })
}

/// The type of an entry of a module from [`for_engines`], with its PTX, its image and `launch`. A stub has no code: it stands in for a kernel with errors.
/// `compiled`: the attribute under which the kernel has the code of [`compiled`].
pub fn kernel(
    module: &Module,
    entry: FuncId,
    source: &Source<'_>,
    text: &Text<'_>,
    stub: bool,
    compiled: &TokenStream,
) -> TokenStream {
    let original = &module.functions[entry.0 as usize];
    let split = if stub { None } else { split(module, entry) };
    let function = split.as_ref().unwrap_or(original);
    let mut constants = Constants::new(module, source.line, &text.printed);
    let (kernel, prepared) = if stub {
        let frames = Frames::new(module, &BTreeSet::new(), 0);
        let kernel = Kernel { module, entry, function, recursive: BTreeSet::new(), frames };
        let program = Program::empty(entry);
        let info = Info::new(&kernel, &program, &mut constants);
        (kernel, Prepared { program, constants, image: Image::default(), info })
    } else {
        prepare(module, entry, function, constants)
    };
    let stem = format!("__PtxT_{}_{}_", names::rust_name(&function.name), text.at);
    let passed = |(i, p)| passing(source, (stem.as_str(), i), p, &original.body);
    let parameters: Vec<_> = function.params.iter().enumerate().map(passed).collect();
    item::kernel_type(&kernel, &prepared, (source, text), &parameters, if stub { None } else { Some(compiled) })
}

/// The compiled code of an entry of a module from [`for_engines`].
pub fn compiled(module: &Module, entry: FuncId, source: &Source<'_>, text: &Text<'_>) -> TokenStream {
    let split = split(module, entry);
    let function = split.as_ref().unwrap_or(&module.functions[entry.0 as usize]);
    // the image numbers the sites
    let constants = Constants::new(module, source.line, &text.printed);
    let (kernel, Prepared { program, constants, .. }) = prepare(module, entry, function, constants);
    let (program, layout) = lay_out(&kernel, program);
    let scale = Scale::of(&kernel, &program);
    let mut e = Emitter::new(&kernel, layout, scale, constants);
    let code = step::dispatch::code(&mut e, &program);
    item::compiled(&e, &program, &code, (source, text))
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
    let constants = Constants::new(module, line, text);
    let (_, Prepared { constants, image, info, .. }) = prepare(module, entry, function, constants);
    let (sites, origins) = constants.into_parts();
    Interpreted { info, sites, origins, image }
}

/// Converts short branches and computes the layout of the result.
fn lay_out<'m>(kernel: &Kernel<'m>, mut program: Program<'m>) -> (Program<'m>, Layout) {
    let mut layout = solve(kernel, &program);
    for _ in 0..ROUNDS {
        let facts = if_conversion::Facts {
            is_divergent: &|r| layout.diverges_behind(r),
            is_live_in: &|r, key| layout.is_live_in(r, key),
            weight: &|i| weight(kernel, i),
        };
        if layout.has_calls || !if_conversion::convert(&mut program, &facts) {
            break;
        }
        program = region::order::normalize(program);
        layout = solve(kernel, &program);
    }
    (program, layout)
}
