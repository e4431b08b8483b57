//! Scopes that are wider than what they order, in loops: a release or an acquire beyond the CTA empties queues and caches of the whole
//! GPU, each time.

use crate::errors::performance as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::accesses::value_access;
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::{Group, Mbarrier, MemoryOp, Proxy, Step};
use ptx_dsl_isa::meaning::order::Scope;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.calls || !flow.cfg.any(&is_wide) {
        return;
    }
    let loops = Loops::new(&flow.cfg);
    if loops.irreducible() {
        return;
    }
    for (block, _, i) in flow.walk() {
        let Some(header) = loops.innermost(block).filter(|_| is_wide(i)) else { continue };
        let (mut products, mut accesses) = (false, false);
        for (_, _, other) in flow.walk().filter(|(b, _, _)| loops.contains(header, *b)) {
            products |= other.entry.effects.group == Group::Wgmma(Step::Start);
            accesses |= orders(other);
        }
        if products && !accesses {
            kernel.report(errors::wide_scope(i.span, i.entry.effects.mbarrier == Mbarrier::Wait));
        }
    }
}

/// Is it an arrival or a wait whose text says a scope beyond the CTA?
fn is_wide(i: &Instr) -> bool {
    let order = i.order();
    matches!(i.entry.effects.mbarrier, Mbarrier::Arrive | Mbarrier::Wait)
        && order.scope_is_written
        && order.scope != Scope::Cta
        && (order.acquires() || order.releases())
}

/// Does the thread itself access memory, so that a release or an acquire has something to order?
fn orders(i: &Instr) -> bool {
    let effects = &i.entry.effects;
    effects.mbarrier == Mbarrier::None
        && effects.group != Group::Wgmma(Step::Start)
        && (value_access(i) != MemoryOp::None || effects.memory != MemoryOp::None || effects.proxy != Proxy::Generic)
}
