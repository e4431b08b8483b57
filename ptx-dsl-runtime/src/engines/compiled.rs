//! The interface between the compiled code of a kernel and the machine. Emitted code names these items by path.

mod code;
pub mod emitted;
mod instances;
mod instruction_sets;
mod kernel;
pub mod lanes;
mod registers;
mod shuffle;
mod stretches;

pub use code::Compiled;
pub use kernel::{CompiledKernel, Kernel, Piece};
