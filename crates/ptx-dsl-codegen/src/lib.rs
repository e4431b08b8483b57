//! Code generation: a typed module becomes, for each kernel, a type with its PTX, its image for the interpreter and its launch, and
//! compiled code: a `CompiledKernel` whose `step` runs one region for some warps. What an instruction does is the runtime's: emitted
//! code reads operands, calls `runtime::semantics::<family>::<opcode>` and stores the results.
//!
//! `ptx-dsl-image` makes the region graph and the image. The stages here, each of which reads only what those before it made, are
//! `analysis`, `layout` (how lanes lie), `lower` (the code of a region) and `step` (dispatch) for compiled code; `item` makes the Rust items.

mod analysis;
mod emit;
mod item;
mod layout;
mod lower;
mod names;
mod source;
mod step;
#[cfg(test)]
mod tests;
mod values;

use emit::Emitter;
use emit::scale::Scale;
use item::parameters::passing;
use layout::scalar_op::weight;
use layout::solver::{Layout, solve};
use proc_macro2::TokenStream;
use ptx_dsl_image::kernel::Kernel;
use ptx_dsl_image::region::{self, graph::Program, if_conversion};
use ptx_dsl_image::{Prepared, Sites, prepare, split};
use ptx_dsl_isa::hir::{FuncId, Module};

pub use item::exported;
pub use names::{primitive, rust_name};
pub use source::{Problem, Source, Text};
pub use values::{Places, Values};

/// Rounds of if-conversion: a converted branch may make the predicate of another one divergent.
const ROUNDS: usize = 3;

/// The type of an entry of a module from [`for_engines`](ptx_dsl_image::for_engines), with its PTX, its image and `launch`. A stub has no code: it stands in for a kernel with errors.
/// `compiled`: the attribute under which the kernel has the code of [`compiled`], if it has any.
pub fn kernel(
    module: &Module,
    entry: FuncId,
    source: &Source<'_>,
    text: &Text<'_>,
    stub: bool,
    compiled: Option<&TokenStream>,
) -> TokenStream {
    let original = &module.functions[entry.0 as usize];
    let split = if stub { None } else { split(module, entry) };
    let function = split.as_ref().unwrap_or(original);
    let sites = Sites::new(module, source.line, &text.printed);
    let make = if stub { ptx_dsl_image::stub } else { prepare };
    let (kernel, prepared) = make(module, entry, function, sites);
    let stem = format!("__PtxT_{}_{}_", names::rust_name(&function.name), text.at);
    let passed = |(i, p)| passing(source, (stem.as_str(), i), p, &original.body);
    let parameters: Vec<_> = function.params.iter().enumerate().map(passed).collect();
    item::kernel_type(&kernel, &prepared, (source, text), &parameters, compiled.filter(|_| !stub))
}

/// The compiled code of an entry of a module from [`for_engines`](ptx_dsl_image::for_engines).
pub fn compiled(module: &Module, entry: FuncId, source: &Source<'_>, text: &Text<'_>) -> TokenStream {
    let split = split(module, entry);
    let function = split.as_ref().unwrap_or(&module.functions[entry.0 as usize]);
    // the image numbers the sites
    let sites = Sites::new(module, source.line, &text.printed);
    let (kernel, Prepared { program, sites, .. }) = prepare(module, entry, function, sites);
    let (program, layout) = lay_out(&kernel, program);
    let scale = Scale::of(&kernel, &program);
    let mut e = Emitter::new(&kernel, layout, scale, sites);
    let code = step::dispatch::code(&mut e, &program);
    item::compiled(&e, &program, &code, (source, text))
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
