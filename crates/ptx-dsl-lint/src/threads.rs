//! Which threads run an instruction: convergence, election, registers that nobody wrote, code that never runs.

use crate::kernel::Kernel;
use ptx_dsl_isa::diag::Diagnostic;

mod beyond_cluster;
mod convergence;
pub(crate) mod dead_code;
mod elected;

pub(crate) fn check(kernel: &Kernel, out: &mut Vec<Diagnostic>) {
    let Kernel { flow, lanes, places, from } = *kernel;
    convergence::check(flow, lanes, places, out);
    beyond_cluster::check(flow, out);
    elected::check(flow, lanes, places, from, out);
}
