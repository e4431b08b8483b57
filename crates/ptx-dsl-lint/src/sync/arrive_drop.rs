//! `mbarrier.arrive_drop` (PTX ISA 9.7.13.15.14): arrivals after the expected count has become 0.

use crate::errors::rings as errors;
use crate::kernel::Kernel;
use crate::sync::objects::{Object, Objects, arrivals_of, object_name};
use crate::sync::states::succeeded_wait;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::reaching::max_threads;
use ptx_dsl_analysis::sites::{Site, in_loop};
use ptx_dsl_isa::isa::Mbarrier;

pub(crate) fn check(kernel: &Kernel, objects: &Objects) {
    if objects.incomplete {
        return;
    }
    for o in &objects.list {
        after_all(kernel, o);
    }
}

fn drops(flow: &Flow, s: &Site) -> bool {
    flow.instr(s.at).entry.effects.mbarrier == Mbarrier::Drop
}

/// Arrivals that drop the whole count, a wait for their phase, and then another arrival.
fn after_all(kernel: &Kernel, o: &Object) {
    let Kernel { flow, lanes, .. } = *kernel;
    let (Some(threads), [init]) = (lanes.cta_size.exact, o.inits.as_slice()) else { return };
    let Some(count) = flow.instr(init.at).constant("count") else { return };
    let mut dropped = 0u64;
    let mut last = None;
    for s in o.arrives.iter().filter(|s| drops(flow, s)) {
        let Some(each) = arrivals_of(flow.instr(s.at)) else { return };
        let present = kernel.threads_at(s.block, s.at);
        if in_loop(flow, s.block) || present.elected || present.not_elected || !kernel.executes_exactly(*s) {
            return;
        }
        dropped = dropped.saturating_add(each.saturating_mul(max_threads(&present, lanes, threads)));
        last = Some(s);
        if dropped >= count {
            break;
        }
    }
    let (Some(last), true) = (last, dropped == count) else { return };
    // An arrival before that wait may take the place of a drop that comes later.
    let behind = |s: &Site| o.waits.iter().any(|w| before(flow, last, w) && over(flow, w, s));
    let mut first = None;
    for s in &o.arrives {
        if s.at <= last.at && drops(flow, s) {
            continue;
        }
        if !behind(s) {
            return;
        }
        first = first.or(Some(s));
    }
    if let Some(s) = first {
        let [at, drop, init] = [s.at, last.at, init.at].map(|at| flow.instr(at).span);
        kernel.report(errors::none_expected(at, &object_name(flow, o.place), drop, init));
    }
}

/// Does the first dominate the second?
fn before(flow: &Flow, a: &Site, b: &Site) -> bool {
    if a.block == b.block { a.at < b.at } else { flow.cfg.dominates(a.block, b.block) }
}

/// Is the place reached only after the wait has succeeded?
fn over(flow: &Flow, wait: &Site, s: &Site) -> bool {
    for (n, e) in flow.cfg.blocks[wait.block as usize].succ.iter().enumerate() {
        if succeeded_wait(flow, wait.block, n) == Some(wait.at) {
            return flow.cfg.dominates(e.to, s.block);
        }
    }
    false
}
