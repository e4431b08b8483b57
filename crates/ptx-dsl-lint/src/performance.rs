//! Performance: what is right, and slower than it need be (PTX0701 to PTX0708). These rules run only if a level asks for them.
//!
//! A rule reports what it can prove from the text: the first warp is evaluated for several samples of what a launch decides, and a
//! finding holds for all of them.

use crate::kernel::Kernel;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Host, MemoryOp};

mod accesses;
mod barriers;
mod divisions;
mod doubles;
mod local_arrays;
mod mma_waits;
mod scopes;

/// Does the instruction only compute results from its operands?
fn computes(i: &Instr) -> bool {
    let effects = &i.entry.effects;
    effects.pure || i.entry.host == Host::Lane && effects.memory == MemoryOp::None
}

pub(crate) fn check(kernel: &Kernel) {
    accesses::check(kernel);
    local_arrays::check(kernel);
    doubles::check(kernel);
    divisions::check(kernel);
    barriers::check(kernel);
    scopes::check(kernel);
    mma_waits::check(kernel);
}
