//! Asynchronous copies that complete on an mbarrier for which the kernel has no `expect_tx` (PTX ISA 9.7.13.15.2).

use crate::errors::rings as errors;
use crate::kernel::Kernel;
use crate::sync::objects::{expects_bytes, mbarrier_operand};
use ptx_dsl_analysis::accesses::mbarrier_wait;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::region::Region;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// Does it complete bytes on an mbarrier?
fn brings(i: &Instr) -> bool {
    i.has(q::mbarrier_complete_tx_bytes) || i.opcode == op::mbarrier_complete_tx
}

/// The object, if its variable is known.
fn object(kernel: &Kernel, at: u32) -> Option<Region> {
    let flow = kernel.flow;
    let r = kernel.region_of(at, mbarrier_operand(flow.instr(at)), 8)?;
    matches!(r.base, AddressBase::Var(_)).then_some(r)
}

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry || flow.calls || !flow.cfg.any(&brings) {
        return;
    }
    let (mut expected, mut waited) = (Vec::new(), Vec::new());
    for (_, at, i) in flow.walk() {
        if expects_bytes(i) || mbarrier_wait(i) {
            let Some(r) = object(kernel, at) else { return };
            if expects_bytes(i) { expected.push(r) } else { waited.push(r) }
        }
    }
    let mut reported: Vec<AddressBase> = Vec::new();
    for (_, at, i) in flow.walk() {
        if !brings(i) {
            continue;
        }
        let Some(r) = object(kernel, at) else { continue };
        let among = |list: &[Region]| list.iter().any(|other| other.may_overlap(&r));
        // PTX0647 reports copies that nothing waits for.
        if !reported.contains(&r.base) && !among(&expected) && among(&waited) {
            reported.push(r.base);
            let (AddressBase::Var(v), Some(arg)) = (r.base, i.operand(mbarrier_operand(i))) else { continue };
            kernel.report(errors::not_expected(arg.span, i.entry.opcode, flow.name_of_bytes(v.0, r.bytes)));
        }
    }
}
