//! State spaces, proxies, asynchronous copies and races: who sees what is written.

use crate::kernel::Kernel;
use ptx_dsl_isa::diag::Diagnostic;

mod completion;
mod conflicts;
mod copied_by_all;
mod copies;
mod proxies;
mod races;
mod refills;
mod spaces;
mod tensormaps;

pub(crate) fn check(kernel: &Kernel, out: &mut Vec<Diagnostic>) {
    let Kernel { flow, lanes, places, from } = *kernel;
    spaces::check(flow, from, out);
    copies::check(flow, lanes, places, from, out);
    proxies::check(flow, lanes, places, from, out);
    tensormaps::check(flow, from, out);
    completion::check(flow, lanes, from, out);
    refills::check(flow, from, out);
    copied_by_all::check(flow, lanes, places, from, out);
    if !races::check(flow, lanes, places, from, out) {
        conflicts::check(flow, lanes, from, out);
    }
}
