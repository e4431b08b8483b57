//! Asynchronous operations that every lane of a warp starts with the same operands (PTX ISA 9.7.9.25.4, 9.7.13.17).

use crate::errors::rings as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::lanes::Uniformity;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::Proxy;
use ptx_dsl_isa::qualifier::q;

pub(crate) fn check(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    if !flow.function.entry || !lanes.cta_size.several_per_warp() {
        return;
    }
    for (block, at, i) in flow.walk() {
        if !for_one(i) {
            continue;
        }
        let present = kernel.threads_at(block, at);
        if kernel.every_lane(&present, block, at)
            && alike(kernel, at)
            && !(present.warps(lanes.cta_size).len() > 1 && fixed(kernel, at))
        {
            kernel.report(errors::copied_by_all(i.span, i.entry.opcode, i.entry.section));
            return;
        }
    }
}

/// Is it an operation of one thread whose effect adds up when several threads start it: a bulk copy that completes on an mbarrier, a
/// bulk reduction, a request for a cluster?
fn for_one(i: &Instr) -> bool {
    let copies = i.operand("dstMem").is_some() && i.has(q::mbarrier_complete_tx_bytes);
    let effects = i.entry.effects;
    copies || (effects.proxy == Proxy::Async && effects.memory.stores())
}

/// Do all lanes of a warp have the same operands?
fn alike(kernel: &Kernel, at: u32) -> bool {
    kernel.flow.ssa.uses(at).iter().all(|(_, v)| kernel.lanes.uniformity(*v) >= Uniformity::Warp)
}

/// Is the destination a constant address? `elected` reports several warps that write there.
fn fixed(kernel: &Kernel, at: u32) -> bool {
    let flow = kernel.flow;
    let name = if flow.instr(at).operand("dstMem").is_some() { "dstMem" } else { "addr" };
    matches!(kernel.region_of(at, name, 1), Some(r) if matches!(r.base, AddressBase::Var(_)) && r.bytes.is_some())
}
