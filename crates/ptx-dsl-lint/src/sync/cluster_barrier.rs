//! The cluster barrier (PTX ISA 9.7.13.3): arrivals and waits alternate. Uses of an mbarrier before its `init` (9.7.13.15.9).

use crate::errors::flow as errors;
use crate::kernel::Kernel;
use crate::may_synchronise::may_synchronise;
use crate::sync::objects::mbarrier_operand;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr, for_each_instr_some_every};
use ptx_dsl_analysis::paths::{Hit, Paths, Step};
use ptx_dsl_isa::hir::{Base, Instr, Operand};
use ptx_dsl_isa::isa::{Barrier, Mbarrier, Role};
use ptx_dsl_isa::opcode::op;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.cfg.any(&|i| i.entry.effects.barrier == Barrier::Cluster) {
        cluster_barrier(kernel);
    }
    if flow.cfg.has(op::mbarrier_init) {
        before_init(kernel);
    }
}

/// Each thread arrives once, waits once, and so on.
fn cluster_barrier(kernel: &Kernel) {
    let flow = kernel.flow;
    let step = |_: u32, i: &Instr, set: &mut Bits, every: bool| match i.opcode {
        op::barrier_cluster_arrive if !every || i.pred.is_none() => set.set(0),
        op::barrier_cluster_wait if every || i.pred.is_none() => set.unset(0),
        op::call => set.put(0, !every),
        _ => {}
    };
    let mut reported = false;
    for_each_instr_some_every(&flow.cfg, 1, &step, &mut |_, i, any, every| match i.opcode {
        op::barrier_cluster_arrive if every.has(0) && i.pred.is_none() => {
            kernel.report(errors::arrives_twice(i.span, true));
            reported = true;
        }
        op::barrier_cluster_wait if !any.has(0) && flow.function.entry => {
            kernel.report(errors::wait_without_arrive(i.span, true));
            reported = true;
        }
        _ => {}
    });
    if !reported && flow.function.entry && !flow.calls {
        out_of_step(kernel);
    }
}

/// The same on some feasible path.
fn out_of_step(kernel: &Kernel) {
    let flow = kernel.flow;
    let arrives = |i: &Instr| i.opcode == op::barrier_cluster_arrive;
    let waits = |i: &Instr| i.opcode == op::barrier_cluster_wait;
    let next = |i: &Instr, from_arrive: bool| {
        if arrives(i) {
            if from_arrive { Step::Found } else { Step::Stop }
        } else if waits(i) {
            if from_arrive { Step::Stop } else { Step::Found }
        } else {
            Step::Go
        }
    };
    let mut paths = Paths::new(flow, kernel.lanes);
    let mut reported = Vec::new();
    let mut report = |hit: Option<Hit>, arrive: bool| {
        if let Some(hit) = hit
            && !reported.contains(&hit.at)
        {
            reported.push(hit.at);
            let span = flow.instr(hit.at).span;
            kernel.report(if arrive {
                errors::arrives_twice(span, false)
            } else {
                errors::wait_without_arrive(span, false)
            });
        }
    };
    report(paths.from_entry(&mut |_, i| next(i, false)), false);
    let mut sites = 0;
    for (block, at, i) in flow.walk() {
        let arrive = arrives(i);
        if (arrive || waits(i)) && sites < 16 {
            sites += 1;
            report(paths.after(block, at, None, &mut |_, i| next(i, arrive)), arrive);
        }
    }
}

/// Uses of an mbarrier that no path precedes with its `init` or a synchronisation.
fn before_init(kernel: &Kernel) {
    let flow = kernel.flow;
    if !flow.function.entry || flow.calls {
        return;
    }
    let mut inits: Vec<(u32, i64)> = Vec::new();
    for (_, at, i) in flow.walk() {
        if i.entry.effects.mbarrier == Mbarrier::Init {
            let Some(o) = object(kernel, at, i, "addr") else { return };
            if !inits.contains(&o) && inits.len() < 64 {
                inits.push(o);
            }
        }
    }
    if !inits.is_empty() {
        uses_before(kernel, &inits);
    }
}

fn uses_before(kernel: &Kernel, inits: &[(u32, i64)]) {
    let flow = kernel.flow;
    // The number of the object that an operand names.
    let number = |at: u32, i: &Instr, name: &str| {
        let o = object(kernel, at, i, name)?;
        inits.iter().position(|x| *x == o)
    };
    let n = inits.len() + 1;
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if may_synchronise(i) {
            set.fill();
        } else if i.entry.effects.mbarrier == Mbarrier::Init
            && let Some(k) = number(at, i, "addr")
        {
            set.set(k);
        }
    };
    let mut reported = Bits::none(n);
    for_each_instr(&flow.cfg, n, &step, &mut |_, at, i, set| {
        if !matches!(i.entry.effects.mbarrier, Mbarrier::Init | Mbarrier::Inval | Mbarrier::Query)
            && let Some(k) = number(at, i, mbarrier_operand(i))
            && !set.has(k)
            && !reported.has(k)
        {
            reported.set(k);
            kernel.report(errors::before_init(i.span, flow.variable_name(inits[k].0)));
        }
    });
}

/// The object that the operand of this name is the address of: variable and offset.
fn object(kernel: &Kernel, at: u32, i: &Instr, name: &str) -> Option<(u32, i64)> {
    for a in &i.operands {
        if a.name == name && a.role == Role::Addr {
            let Operand::Address(base, offset) = &a.value else { return None };
            let (var, first) = match base {
                Base::Var(v) => (v.0, 0),
                Base::Reg(r) => kernel.provenance.variable(kernel.flow.ssa.read(at, *r, 0))?,
                Base::Abs => return None,
            };
            return Some((var, first.checked_add(*offset)?));
        }
    }
    None
}
