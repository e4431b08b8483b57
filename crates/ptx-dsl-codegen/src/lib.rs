//! Code generation: a typed module becomes, for each kernel, a type with its PTX and its launch, and a `Kernel` whose `step` runs one
//! region for some warps. What an instruction does is the runtime's: emitted code reads operands, calls
//! `runtime::isa::<family>::<opcode>` and stores the results.
//!
//! Stages, each of which reads only what those before it made: `region` (the region graph), `analysis`, `layout` (how lanes lie),
//! `lower` (the code of a region), `step` (dispatch), `item` (the Rust items).

mod analysis;
mod emit;
mod image;
mod info;
mod instr;
mod item;
mod kernel;
mod layout;
mod lower;
mod names;
mod region;
mod source;
mod step;
#[cfg(test)]
mod tests;

use emit::Emitter;
use emit::constants::Constants;
use emit::scale::Scale;
use item::parameters::passing;
use kernel::Kernel;
use layout::scalar_op::weight;
use layout::solver::{Layout, solve};
use proc_macro2::TokenStream;
use ptx_dsl_isa::hir::{FuncId, Function, Module};
use ptx_dsl_isa::span::Span;
use region::graph::Program;
use region::if_conversion;

pub use info::{Info, Parameter, Site};
pub use names::rust_name;
pub use ptx_dsl_isa::image::Image;
pub use source::{Printed, RustType, Source, Text};

/// Rounds of if-conversion: a converted branch may make the predicate of another one divergent.
const ROUNDS: usize = 3;

/// The items of an entry: its code; and its type with `Kernel` and `launch`. A stub has no code: it stands in for a kernel with errors.
pub fn kernel(module: &Module, entry: FuncId, source: &Source<'_>, text: &Text<'_>, stub: bool) -> [TokenStream; 2] {
    let original = &module.functions[entry.0 as usize];
    let split = if stub { None } else { ptx_dsl_analysis::live_ranges::split(original) };
    let function = split.as_ref().unwrap_or(original);
    let program = if stub { Program::empty(entry) } else { region::build::program(module, entry, function) };
    let kernel = facts(module, entry, function, &program);
    let mut constants = Constants::new(source.line, &text.printed);
    let image = image::image(&kernel, &program, &mut constants);
    let info = Info::new(&kernel, &program, &mut constants);
    let (program, layout) = lay_out(&kernel, program);
    let scale = Scale::of(&kernel, &program);
    let mut e = Emitter::new(&kernel, layout, scale, constants);
    let code = step::dispatch::code(&mut e, &program);
    let parameters: Vec<_> = function.params.iter().enumerate().map(|(i, p)| passing(source, i, p)).collect();
    item::items(&mut e, &program, &code, (&info, &image), (source, text), &parameters)
}

/// A kernel for the interpreter.
#[derive(Debug, Clone)]
pub struct Interpreted {
    /// Facts about it.
    pub info: Info,
    /// The statements that faults name, by number.
    pub sites: Vec<Site>,
    /// Its code.
    pub image: Image,
}

/// An entry of a module without errors, for the interpreter. `line` gives the line of a place in the source.
pub fn interpreted(module: &Module, entry: FuncId, line: &dyn Fn(Span) -> u32, text: &Printed<'_>) -> Interpreted {
    let original = &module.functions[entry.0 as usize];
    let split = ptx_dsl_analysis::live_ranges::split(original);
    let function = split.as_ref().unwrap_or(original);
    let program = region::build::program(module, entry, function);
    let kernel = facts(module, entry, function, &program);
    let mut constants = Constants::new(line, text);
    let image = image::image(&kernel, &program, &mut constants);
    let info = Info::new(&kernel, &program, &mut constants);
    Interpreted { info, sites: constants.into_sites(), image }
}

/// `function` is the entry with its live ranges split.
fn facts<'m>(module: &'m Module, entry: FuncId, function: &'m Function, program: &Program<'_>) -> Kernel<'m> {
    let frame_size = u64::from(program.local_size(module).next_multiple_of(16));
    Kernel { module, entry, function, recursive: program.recursive.clone(), frame_size }
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
