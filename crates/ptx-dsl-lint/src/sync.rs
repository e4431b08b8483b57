//! Barriers, mbarriers, clusters, launch control, fences and scopes: how threads wait for each other.

use crate::kernel::Kernel;
use crate::sync::objects::objects;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::isa::Mbarrier;
use ptx_dsl_isa::opcode::op;

mod arrive_drop;
mod barriers;
mod cluster;
mod cluster_barrier;
mod counts;
mod expect_tx;
mod launch_control;
mod lifetime;
mod named_barriers;
pub(crate) mod objects;
mod phases;
mod rings;
mod scopes;
mod states;

pub(crate) fn check(kernel: &Kernel, out: &mut Vec<Diagnostic>) {
    let Kernel { flow, lanes, places, from } = *kernel;
    barriers::check(flow, lanes, places, out);
    launch_control::check(flow, lanes, places, from, out);
    cluster_barrier::check(flow, lanes, from, out);
    mbarriers(kernel, out);
    named_barriers::check(flow, lanes, places, out);
    rings::check(flow, lanes, places, from, out);
    cluster::check(flow, lanes, places, from, out);
    scopes::check(flow, from, out);
    expect_tx::check(flow, from, out);
}

/// The rules about single mbarrier objects.
fn mbarriers(kernel: &Kernel, out: &mut Vec<Diagnostic>) {
    let Kernel { flow, lanes, places, from } = *kernel;
    if !flow.function.entry || flow.calls {
        return;
    }
    if flow.cfg.any(&|i| i.entry.mbarrier != Mbarrier::None) {
        let objects = objects(flow, from);
        lifetime::check(flow, lanes, places, from, &objects, out);
        states::check(flow, from, out);
        phases::check(flow, lanes, places, from, &objects, out);
        arrive_drop::check(flow, lanes, places, &objects, out);
        counts::check(flow, lanes, places, from, &objects, out);
    }
    if flow.cfg.has(op::mbarrier_init) || flow.cfg.has(op::tcgen05_alloc) {
        lifetime::unseen(flow, lanes, places, from, out);
    }
}
