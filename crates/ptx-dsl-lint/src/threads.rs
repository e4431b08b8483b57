//! Which threads execute an instruction: convergence, election, undefined registers, dead code.

use crate::kernel::Kernel;

mod absent;
mod beyond_cluster;
mod convergence;
pub(crate) mod dead_code;
mod elected;
mod shuffles;
pub(crate) mod unwritten;

pub(crate) fn check(kernel: &Kernel) {
    convergence::check(kernel);
    beyond_cluster::check(kernel);
    elected::check(kernel);
}
