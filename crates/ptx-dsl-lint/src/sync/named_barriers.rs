//! Named barriers (PTX ISA 9.7.13.1): the thread count of the operand against the threads that arrive.

use crate::errors::protocol as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::sites::{Site, in_loop};
use ptx_dsl_analysis::threads::{Set, THREADS, union_with};
use ptx_dsl_isa::isa::{Barrier, Meeting};

/// The threads that a barrier counts for these lanes: 32 for each warp, once even if its lanes arrive at several sites.
fn by_warps(met: &mut Set, set: &Set, n: usize) -> u64 {
    let mut arrived = 0;
    for w in 0..n.div_ceil(32) {
        let lanes = |s: &Set| (s[w / 2] >> (32 * (w % 2))) as u32;
        let (old, new) = (lanes(met), lanes(set));
        if new != 0 && (old == 0 || old & new != 0) {
            arrived += 32;
        }
    }
    union_with(met, set);
    arrived
}

/// A named barrier.
struct Named {
    id: u64,
    count: u64,
    arrived: u64,
    /// The threads that arrive.
    set: Set,
    sure: bool,
    wait: Option<u32>,
}

/// Named barriers whose thread count does not match the threads that arrive.
pub(crate) fn check(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    if !flow.function.entry || flow.calls {
        return;
    }
    let Some(n) = lanes.cta_size.exact else { return };
    let mut list: Vec<Named> = Vec::new();
    for (block, at, i) in flow.walk() {
        if i.entry.effects.barrier != Barrier::Cta {
            continue;
        }
        let Some(id) = i.constant("a") else { return };
        let present = kernel.threads_at(block, at);
        let count = i.constant("b");
        let sure = (count.is_some() || i.operand("b").is_none())
            && kernel.executes_exactly(Site { block, at })
            && !present.elected
            && !present.not_elected
            && !in_loop(flow, block);
        let count = count.unwrap_or(0);
        let wait = if i.entry.effects.meeting == Meeting::Arrive { None } else { Some(at) };
        let x = barrier(&mut list, id, count);
        x.arrived += by_warps(&mut x.set, &present.set, n);
        x.sure &= sure && x.count == count;
        x.wait = x.wait.or(wait);
    }
    for x in &list {
        if x.sure
            && x.count > 0
            && x.arrived > 0
            && x.arrived % x.count != 0
            && let Some(at) = x.wait
        {
            let i = flow.instr(at);
            let span = if let Some(b) = i.operand("b") { b.span } else { i.span };
            kernel.report(errors::barrier_count(span, x.id, x.count, x.arrived));
        }
    }
}

/// The barrier with this number; a new one if it is the first use.
fn barrier(list: &mut Vec<Named>, id: u64, count: u64) -> &mut Named {
    let mut at = list.len();
    for (k, x) in list.iter().enumerate() {
        if x.id == id {
            at = k;
        }
    }
    if at == list.len() {
        list.push(Named { id, count, arrived: 0, set: [0; THREADS / 64], sure: true, wait: None });
    }
    &mut list[at]
}
