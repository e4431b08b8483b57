//! Synchronisation: barriers, mbarriers, clusters, launch control, fences and scopes.

use crate::kernel::Kernel;
use crate::sync::objects::objects;
use ptx_dsl_isa::isa::Mbarrier;
use ptx_dsl_isa::opcode::op;

mod arrive_drop;
mod barriers;
mod cluster;
mod cluster_barrier;
mod counts;
mod expect_tx;
mod ignored_waits;
mod launch_control;
mod lifetime;
mod named_barriers;
pub(crate) mod objects;
mod phases;
pub(crate) mod rings;
mod scopes;
mod states;

pub(crate) fn check(kernel: &Kernel) {
    barriers::check(kernel);
    launch_control::check(kernel);
    cluster_barrier::check(kernel);
    mbarriers(kernel);
    named_barriers::check(kernel);
    rings::check(kernel);
    cluster::check(kernel);
    scopes::check(kernel);
    expect_tx::check(kernel);
    ignored_waits::check(kernel);
}

/// The rules about single mbarrier objects.
fn mbarriers(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry || flow.calls {
        return;
    }
    if flow.cfg.any(&|i| i.entry.effects.mbarrier != Mbarrier::None) {
        let objects = objects(kernel);
        lifetime::check(kernel, &objects);
        states::check(kernel);
        phases::check(kernel, &objects);
        arrive_drop::check(kernel, &objects);
        counts::check(kernel, &objects);
    }
    if flow.cfg.has(op::mbarrier_init) || flow.cfg.has(op::tcgen05_alloc) {
        lifetime::visibility(kernel);
    }
}
