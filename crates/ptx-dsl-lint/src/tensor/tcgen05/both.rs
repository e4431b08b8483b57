//! Operations that one thread of a CTA pair starts (Table 46 of 9.7.16.5), and both CTAs do: nothing that leads to them, and none of
//! their operands, depends on the CTA.

use crate::errors::tensor as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::accesses::value_access;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::sources::{Source, all_sources};
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Instr, Operand, VarId};
use ptx_dsl_isa::isa::sreg::Varies;
use ptx_dsl_isa::isa::{Control, Mbarrier, MemoryOp, Tensor};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// How many values that lead to one are looked at.
const MOST: usize = 256;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let one_cta = |dims: [u32; 3]| dims.iter().all(|n| *n <= 1);
    if flow.function.reqnctapercluster.is_some_and(one_cta) || flow.function.maxclusterrank == Some(1) {
        return;
    }
    for (block, at, i) in flow.walk() {
        let starts = matches!(i.entry.effects.tensor, Tensor::Mma | Tensor::Copy) && i.has(q::cta_group_2);
        if starts && reached_alike(kernel, block) && flow.ssa.uses(at).iter().all(|(_, v)| alike(kernel, *v)) {
            kernel.report(errors::both_of_a_pair(i.span, i.entry.opcode));
            return;
        }
    }
}

/// Do both CTAs take the same branches to the block?
fn reached_alike(kernel: &Kernel, block: u32) -> bool {
    let flow = kernel.flow;
    let mut at = block;
    loop {
        let up = flow.cfg.idom[at as usize];
        if up == NONE || up == at {
            return up == at;
        }
        let decided = match flow.cfg.branch(up).map(|branch| flow.guard(branch)) {
            Some(Some((p, _))) => alike(kernel, p),
            _ => false,
        };
        if !decided && !flow.cfg.post_dominates(at, up) {
            return false;
        }
        at = up;
    }
}

/// Is the value the same in both CTAs, for threads of the same number? A loaded one if it is a parameter, a constant or the address of
/// an allocation.
fn alike(kernel: &Kernel, v: Val) -> bool {
    all_sources(kernel.flow, v, MOST, &|_, value| match value {
        Value::Def { instr, .. } if !varies_between_ctas(kernel, *instr) => Source::Go,
        Value::Phi { .. } => Source::Go,
        _ => Source::No,
    })
}

/// May its result differ between the CTAs of a pair, although its operands do not?
fn varies_between_ctas(kernel: &Kernel, at: u32) -> bool {
    let i = kernel.flow.instr(at);
    let own = i.operands.iter().any(|a| match a.value {
        Operand::Sreg(register) => {
            matches!(register.row().varies, Varies::WithRank | Varies::WithCta | Varies::InTime)
        }
        _ => false,
    });
    let loads = match value_access(i) {
        MemoryOp::None => false,
        MemoryOp::Load => !(i.has(q::param) || i.has(q::_const) || is_allocation(kernel, at, i)),
        _ => true,
    };
    own || loads
        || i.entry.effects.control == Control::Call
        || matches!(i.opcode, op::mapa | op::getctarank | op::clusterlaunchcontrol_query_cancel)
        || i.entry.effects.tensor != Tensor::None
        || i.entry.effects.mbarrier != Mbarrier::None
}

/// Does it load what `tcgen05.alloc` has stored? Both CTAs of a pair get the same address.
fn is_allocation(kernel: &Kernel, at: u32, i: &Instr) -> bool {
    let variable = |at: u32, name: &str| -> Option<VarId> {
        match kernel.region_of(at, name, 4)?.base {
            AddressBase::Var(v) => Some(v),
            _ => None,
        }
    };
    let Some(from) = i.address().and_then(|arg| kernel.region(at, arg, 4)) else { return false };
    let AddressBase::Var(from) = from.base else { return false };
    let allocates =
        |(_, at, i): (u32, u32, &Instr)| i.entry.effects.tensor == Tensor::Alloc && variable(at, "dst") == Some(from);
    kernel.flow.walk().any(allocates)
}
