//! Tensor Memory and the matrix instructions `wgmma` and `tcgen05`.

use crate::kernel::Kernel;

pub(crate) mod descriptors;
mod loads;
mod obligations;
mod steps;
mod tcgen05;
mod wgmma;

pub(crate) fn check(kernel: &Kernel) {
    obligations::check(kernel);
    loads::check(kernel);
    wgmma::check(kernel);
    steps::check(kernel);
    tcgen05::check(kernel);
}
