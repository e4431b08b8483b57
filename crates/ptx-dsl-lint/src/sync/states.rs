//! State operands of mbarrier waits (PTX ISA 9.7.13.15): they belong to this object and to its current phase. Finds the wait that a
//! branch tests.

use crate::errors::order as errors;
use crate::kernel::Kernel;
use crate::sync::objects::{ObjectKey, arrives, mbarrier_operand, object_key, object_name};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::mbarrier_wait;
use ptx_dsl_analysis::dataflow::{Bits, Meet, forward};
use ptx_dsl_analysis::region::MAX_REGIONS;
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_isa::hir::Operand;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

fn on(kernel: &Kernel, at: u32) -> Option<ObjectKey> {
    let flow = kernel.flow;
    object_key(&kernel.region_of(at, mbarrier_operand(flow.instr(at)), 8)?)
}

/// The arrival that made a state, through copies of it.
fn state_of(flow: &Flow, at: u32, o: &Operand) -> Option<u32> {
    let mut now = (at, o);
    for _ in 0..16 {
        let Operand::Reg(r, lane) = now.1 else { return None };
        let m = flow.ssa.maker(flow.ssa.read(now.0, *r, *lane))?;
        let made = flow.instr(m);
        if arrives(made) {
            return Some(m);
        }
        now = (m, &made.operand("a").filter(|_| made.opcode == op::mov)?.value);
    }
    None
}

/// Checks state operands: they belong to this object and to its current phase.
pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let mut list: Vec<Arrival> = Vec::new();
    for (_, at, i) in flow.walk() {
        if arrives(i) && matches!(i.value("state"), Some(Operand::Reg(..))) && list.len() < MAX_REGIONS {
            list.push(Arrival { at, on: on(kernel, at) });
        }
    }
    if list.is_empty() {
        return;
    }
    let mut block = |b: u32, set: &mut Bits| {
        for at in flow.cfg.range(b) {
            arrive(kernel, &list, at, set);
        }
    };
    let mut edge = |b: u32, edge_number: usize, set: &mut Bits| {
        if let Some(wait) = succeeded_wait(flow, b, edge_number) {
            wait_for(kernel, &list, wait, set);
        }
    };
    let at_start = forward(&flow.cfg, 3 * list.len(), Meet::Any, &mut block, &mut edge);
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            state(kernel, &list, at, &set);
            arrive(kernel, &list, at, &mut set);
        }
    }
}

/// An arrival whose state is kept, and the object it is for.
struct Arrival {
    at: u32,
    on: Option<ObjectKey>,
}

/// Three states of an arrival: just arrived; waited for; then another arrival came.
fn arrive(kernel: &Kernel, list: &[Arrival], at: u32, set: &mut Bits) {
    let i = kernel.flow.instr(at);
    if !arrives(i) {
        return;
    }
    let here = on(kernel, at);
    for (k, arrival) in list.iter().enumerate() {
        if arrival.at == at {
            set.set(3 * k);
            set.unset(3 * k + 1);
            set.unset(3 * k + 2);
        } else if here.is_some() && arrival.on == here && i.pred.is_none() && set.has(3 * k + 1) {
            set.unset(3 * k + 1);
            set.set(3 * k + 2);
        }
    }
}

/// The transfer function of an edge on which a wait succeeded.
fn wait_for(kernel: &Kernel, list: &[Arrival], at: u32, set: &mut Bits) {
    let flow = kernel.flow;
    let here = on(kernel, at);
    let made = match flow.instr(at).value("state") {
        Some(state) => state_of(flow, at, state),
        None => None,
    };
    for (k, arrival) in list.iter().enumerate() {
        if (made == Some(arrival.at) || (here.is_some() && arrival.on == here)) && set.has(3 * k) {
            set.unset(3 * k);
            set.set(3 * k + 1);
        }
    }
}

/// The use of a state.
fn state(kernel: &Kernel, list: &[Arrival], at: u32, set: &Bits) {
    let flow = kernel.flow;
    let i = flow.instr(at);
    let counts = i.opcode == op::mbarrier_pending_count;
    if !counts && !mbarrier_wait(i) {
        return;
    }
    let Some(arg) = i.operand("state") else { return };
    let Some(made) = state_of(flow, at, &arg.value) else { return };
    for (k, arrival) in list.iter().enumerate() {
        if arrival.at != made {
            continue;
        }
        let made = flow.instr(made);
        if counts {
            if !made.has(q::noComplete) {
                kernel.report(errors::count_of_other_state(arg.span, made.span));
            }
        } else if let (Some(ObjectKey::Place(v, o)), Some(ObjectKey::Place(w, p))) = (arrival.on, on(kernel, at))
            && (v, o) != (w, p)
        {
            kernel.report(errors::state_of_other(
                arg.span,
                &object_name(flow, (v, o)),
                &object_name(flow, (w, p)),
                made.span,
            ));
        } else if set.has(3 * k + 2) {
            let sure = !set.has(3 * k) && !set.has(3 * k + 1);
            kernel.report(errors::state_of_past(arg.span, made.span, sure));
        }
        return;
    }
}

/// The wait that a predicate tests, and the value that means success. Compilers convert it to 0 and 1 and back.
fn answer(flow: &Flow, p: Val) -> Option<(u32, bool)> {
    let (mut v, mut yes) = (p, true);
    for _ in 0..24 {
        let m = flow.ssa.maker(v)?;
        let i = flow.instr(m);
        let with = |name: &str, n: u64| i.constant(name).is_some_and(|c| c == n);
        let (next, same) = match i.opcode {
            _ if mbarrier_wait(i) => return Some((m, yes)),
            op::mov | op::cvt => ("a", true),
            op::and if with("b", 1) => ("a", true),
            op::xor if with("b", 1) => ("a", false),
            op::not if i.has(q::pred) => ("a", false),
            op::selp if with("a", 1) && with("b", 0) => ("c", true),
            op::selp if with("a", 0) && with("b", 1) => ("c", false),
            op::setp if i.operands.len() == 3 && (with("b", 0) || with("b", 1)) && (i.has(q::eq) || i.has(q::ne)) => {
                ("a", i.has(q::eq) == with("b", 1))
            }
            _ => return None,
        };
        yes = yes == same;
        let Operand::Reg(r, lane) = i.operand(next)?.value else { return None };
        v = flow.ssa.read(m, r, lane);
    }
    None
}

/// The wait that succeeded on this edge.
pub(crate) fn succeeded_wait(flow: &Flow, b: u32, edge_number: usize) -> Option<u32> {
    let branch = flow.cfg.branch(b)?;
    let (p, _) = flow.guard(branch)?;
    let (wait, yes) = answer(flow, p)?;
    (flow.cfg.blocks[b as usize].succ[edge_number].when == Some(yes)).then_some(wait)
}
