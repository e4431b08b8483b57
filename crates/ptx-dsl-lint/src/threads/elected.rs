//! `elect.sync` elects one lane of each warp, not one thread of the CTA (PTX ISA 9.7.13.14).

use crate::errors::completion as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::accesses::value_access;
use ptx_dsl_analysis::lanes::Uniformity;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::reaching::only_elected;
use ptx_dsl_analysis::region::Region;
use ptx_dsl_analysis::sites::{Site, depends_on_warp};
use ptx_dsl_analysis::sources::{Source, all_sources};
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Instr, Operand};
use ptx_dsl_isa::isa::sreg::Varies;
use ptx_dsl_isa::isa::{Control, Issue, MemoryOp, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

pub(crate) fn check(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    let Some(n) = lanes.cta_size.exact else { return };
    if n <= 32 || !flow.function.entry || flow.calls {
        return;
    }
    let mut reported = false;
    for (block, at, i) in flow.walk() {
        if reported || !single_issue(i) {
            continue;
        }
        let present = kernel.threads_at(block, at);
        let elected = present.elected && only_elected(flow, lanes, block, at);
        let every = kernel.every_lane(&present, block, at) && i.entry.effects.tensor == Tensor::None;
        if present.warps(lanes.cta_size).len() < 2
            || !(elected || every)
            || !same_operands(kernel, at, i)
            || depends_on_warp(flow, lanes, Site { block, at })
        {
            continue;
        }
        reported = true;
        let warps = n.div_ceil(32).min(present.warps(lanes.cta_size).len());
        kernel.report(errors::once_for_each_warp(i.span, i.entry.opcode, warps, elected));
    }
}

/// Should one thread of the CTA execute it, if all its operands are uniform?
fn single_issue(i: &Instr) -> bool {
    let op = i.opcode;
    let into_shared = i.operand("dstMem").is_some() && !i.has(q::bulk_group) && i.operand("mbar").is_some();
    into_shared
        || op == op::clusterlaunchcontrol_try_cancel
        || (i.entry.effects.tensor == Tensor::Mma && i.has(q::cta_group_1))
}

/// Are the operands the same in all warps of the CTA?
fn same_operands(kernel: &Kernel, at: u32, i: &Instr) -> bool {
    let flow = kernel.flow;
    let place = match i.operand("dstMem") {
        None => i.operand("addr"),
        place => place,
    };
    if let Some(arg) = place {
        match kernel.region(at, arg, 1) {
            Some(Region { base: AddressBase::Var(_), bytes: Some(_), mapped: false, .. }) => {}
            _ => return false,
        }
    }
    for (_, v) in flow.ssa.uses(at) {
        let guard = matches!(flow.guard(at), Some((p, _)) if p == *v);
        if !guard && !same_in_all_warps(kernel, *v) {
            return false;
        }
    }
    true
}

/// Is the value the same in all warps?
fn same_in_all_warps(kernel: &Kernel, v: Val) -> bool {
    all_sources(kernel.flow, v, 64, &|v, value| match value {
        _ if kernel.lanes.uniformity(v) == Uniformity::Cta => Source::Fits,
        Value::Def { instr, old: None, .. } if !varies_between_warps(kernel.flow.instr(*instr)) => Source::Go,
        Value::Phi { .. } => Source::Go,
        _ => Source::No,
    })
}

/// May its result vary between warps?
fn varies_between_warps(i: &Instr) -> bool {
    for a in &i.operands {
        if let Operand::Sreg(register) = a.value
            && matches!(register.row().varies, Varies::WithThread | Varies::WithWarp | Varies::InTime)
        {
            return true;
        }
    }
    i.entry.effects.control == Control::Call
        || value_access(i) == MemoryOp::Atomic
        || i.entry.effects.issue == Issue::Lanes
        || matches!(i.opcode, op::shfl | op::vote | op::activemask)
}
