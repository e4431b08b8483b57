//! Tensor Memory and the matrix instructions `wgmma` and `tcgen05`.

use crate::kernel::Kernel;

mod loads;
mod obligations;
mod tcgen05;
mod wgmma;

pub(crate) fn check(kernel: &Kernel) {
    obligations::check(kernel);
    loads::check(kernel);
    wgmma::check(kernel);
    tcgen05::check(kernel);
}
