//! State spaces, proxies, asynchronous copies and races: when a write becomes visible.

use crate::kernel::Kernel;

mod bounds;
mod completion;
mod conflicts;
mod copied_by_all;
mod copies;
mod grids;
mod parameters;
pub(crate) mod parts;
mod proxies;
mod races;
mod refills;
mod rewrites;
mod spaces;
mod tensormaps;
mod tiles;
pub(crate) mod turns;

pub(crate) fn check(kernel: &Kernel) {
    spaces::check(kernel);
    bounds::check(kernel);
    parameters::check(kernel);
    copies::check(kernel);
    tiles::check(kernel);
    proxies::check(kernel);
    tensormaps::check(kernel);
    completion::check(kernel);
    refills::check(kernel);
    copied_by_all::check(kernel);
    grids::check(kernel);
    if !races::check(kernel) {
        conflicts::check(kernel);
    }
}
