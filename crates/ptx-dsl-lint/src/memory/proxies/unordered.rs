//! Stores of several warps, then a bulk copy of the same bytes by one thread, with no barrier in between: a proxy fence orders only the
//! accesses of its own thread (PTX ISA 8.7, 9.7.13.4).

use super::{Writes, source};
use crate::errors::races as errors;
use crate::kernel::Kernel;
use crate::may_synchronise::{may_synchronise, waits_for_threads};
use crate::memory::parts::Parts;
use crate::pending::{begin_pending, for_each_pending, is_pending, resolve};
use ptx_dsl_analysis::dataflow::Bits;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_isa::hir::{Instr, Space};
use ptx_dsl_isa::isa::{Fence, Group};

/// May it order what other warps have stored before what follows?
fn orders(i: &Instr) -> bool {
    let effects = i.entry.effects;
    let own = effects.fence != Fence::None || matches!(effects.group, Group::Bulk(_));
    waits_for_threads(i) || may_synchronise(i) && !own
}

pub(super) fn check(kernel: &Kernel, writes: &Writes, parts: Option<&Parts>) {
    let Kernel { flow, lanes, .. } = *kernel;
    if writes.space != Space::Shared || !flow.function.entry || lanes.cta_size.exact.is_none_or(|n| n <= 32) {
        return;
    }
    let warps = |at: u32| {
        let present = kernel.threads_at(flow.cfg.block_of(at), at);
        present.warps(lanes.cta_size).iter().map(|(warp, _)| *warp).collect::<Vec<_>>()
    };
    let by: Vec<Vec<usize>> = writes.list.iter().map(|(at, _)| warps(*at)).collect();
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        let writes_here = writes.list.iter().position(|(write, _)| *write == at);
        match writes_here {
            Some(k) => begin_pending(set, k),
            None if orders(i) => (0..writes.list.len()).for_each(|k| resolve(set, k)),
            None => {}
        }
    };
    let mut reported = false;
    for_each_pending(flow, writes.list.len(), &step, &mut |_, at, i, set| {
        let Some(arg) = i.operand("srcMem").filter(|_| !reported && source(i) == Some(Space::Shared)) else { return };
        let Some(here) = kernel.region(at, arg, i.constant("size").unwrap_or(0)) else { return };
        let own = warps(at);
        let others = |k: usize| is_pending(set, k) && by[k].iter().any(|warp| !own.contains(warp));
        let write =
            writes.of_source(flow, &here, &others).or_else(|| writes.of_part(kernel, parts?, (at, arg), &others));
        if let (Some(k), AddressBase::Var(var)) = (write, here.base) {
            reported = true;
            let stored = flow.instr(writes.list[k].0).span;
            kernel.report(errors::between_warps(
                i.span,
                stored,
                flow.name_of_bytes(var.0, here.bytes),
                [true, false],
                false,
            ));
        }
    });
}
