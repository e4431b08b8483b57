//! Tensor Memory and the matrices of `wgmma` and `tcgen05`.

use crate::kernel::Kernel;
use ptx_dsl_isa::diag::Diagnostic;

mod loads;
mod obligations;
mod tcgen05;
mod wgmma;

pub(crate) fn check(kernel: &Kernel, out: &mut Vec<Diagnostic>) {
    let Kernel { flow, from, .. } = *kernel;
    obligations::check(flow, out);
    loads::check(flow, from, out);
    wgmma::check(flow, out);
    tcgen05::check(kernel, out);
}
