//! Stages that are not freed: the copies of a ring wait for arrivals of those that read a stage (PTX ISA 9.7.13.15). A loop that goes through
//! the stages and arrives for none of them ends in a deadlock once the ring is through.

use crate::errors::rings as errors;
use crate::kernel::Kernel;
use crate::sync::rings::uses::{OpKind, RingOp, Rings};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::induction::Induction;
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_analysis::threads::{Set, THREADS, has_thread, union_with};
use ptx_dsl_isa::hir::{Base, Operand};

pub(crate) fn check(kernel: &Kernel, rings: &Rings) {
    let flow = kernel.flow;
    for wait in rings.uses.iter().filter(|u| u.kind == OpKind::Wait && !u.any) {
        let copies = copies(rings, wait);
        let Some(header) = loop_of(flow, rings, wait) else { continue };
        let Some(first) = copies.first() else { continue };
        let Some(frees) = freed_by(flow, rings, first, wait) else { continue };
        let inside = |u: &RingOp| rings.loops.contains(header, u.site.block);
        let frees_stage = |u: &&RingOp| matches!(u.kind, OpKind::Arrive(_)) && shares_objects(u, frees);
        let arrivals: Vec<&RingOp> = rings.of(frees.var).filter(frees_stage).collect();
        if arrivals.is_empty() || copies.iter().any(|c| inside(c)) || arrivals.iter().any(|a| inside(a)) {
            continue;
        }
        if goes_round(flow, rings, header, wait) && needed(kernel, rings, frees, &arrivals, wait) {
            let [span, empty, arrival] =
                [wait.site.at, frees.site.at, arrivals[0].site.at].map(|at| flow.instr(at).span);
            let names = [wait.var, frees.var].map(|var| flow.variable_name(var));
            kernel.report(errors::stages_not_freed(span, names, empty, arrival));
            return;
        }
    }
}

/// The copies that complete on the objects of a wait.
pub(crate) fn copies<'r>(rings: &'r Rings, wait: &RingOp) -> Vec<&'r RingOp> {
    if !rings.own(wait.var) {
        return Vec::new();
    }
    rings.of(wait.var).filter(|u| u.kind == OpKind::Copy && shares_objects(u, wait)).collect()
}

/// Have the two an object in common?
pub(crate) fn shares_objects(a: &RingOp, b: &RingOp) -> bool {
    a.var == b.var && a.objects.iter().any(|o| b.objects.contains(o))
}

/// The innermost loop that executes a wait again after it has succeeded.
fn loop_of(flow: &Flow, rings: &Rings, wait: &RingOp) -> Option<u32> {
    let behind = rings.success(flow, wait)?;
    let mut header = rings.loops.innermost(wait.site.block);
    while let Some(h) = header.filter(|h| !rings.loops.contains(*h, behind)) {
        header = rings.loops.parent(h);
    }
    header
}

/// The wait for a free stage that stands before a copy: for as many objects as the other wait, but others.
pub(crate) fn freed_by<'r>(flow: &Flow, rings: &'r Rings, copy: &RingOp, wait: &RingOp) -> Option<&'r RingOp> {
    let other = |u: &&RingOp| {
        u.kind == OpKind::Wait
            && rings.own(u.var)
            && u.objects.len() == wait.objects.len()
            && !shares_objects(u, wait)
            && rings.success(flow, u).is_some_and(|behind| flow.cfg.dominates(behind, copy.site.block))
    };
    rings.uses.iter().find(other)
}

/// Does the loop go through the stages, and more than once through all of them, as far as is known?
fn goes_round(flow: &Flow, rings: &Rings, header: u32, wait: &RingOp) -> bool {
    let i = flow.instr(wait.site.at);
    let registers = ["addr", "phaseParity"].into_iter().filter_map(|name| match i.value(name)? {
        Operand::Address(Base::Reg(r), _) => Some(flow.ssa.read(wait.site.at, *r, 0)),
        Operand::Reg(r, lane) => Some(flow.ssa.read(wait.site.at, *r, *lane)),
        _ => None,
    });
    let values: Vec<Val> = registers.collect();
    if Induction::depends_on_counter(flow, header, &values) != Some(true) {
        return false;
    }
    let Some(mut iterations) = Induction::new(flow, &rings.loops, header, &[], None) else { return false };
    for _ in 0..=wait.objects.len() {
        if iterations.ends() {
            return false;
        }
        iterations.next();
    }
    true
}

/// Do the objects need arrivals of the threads that are in the loop?
fn needed(kernel: &Kernel, rings: &Rings, frees: &RingOp, arrivals: &[&RingOp], wait: &RingOp) -> bool {
    let Some(n) = kernel.lanes.cta_size.exact else { return false };
    let here = kernel.threads_at(wait.site.block, wait.site.at);
    let mut others: Set = [0; THREADS / 64];
    for arrival in arrivals {
        if arrival.kind != OpKind::Arrive(Some(1)) {
            return false;
        }
        union_with(&mut others, &kernel.threads_at(arrival.site.block, arrival.site.at).set);
    }
    let outside = (0..n).filter(|t| has_thread(&others, *t) && !has_thread(&here.set, *t)).count() as u64;
    let count = |offset: i64| {
        let mut inits = rings.of(frees.var).filter(|u| u.kind == OpKind::Init && u.objects.contains(&offset));
        inits.next().and_then(|init| init.first(offset)?.number)
    };
    frees.objects.iter().all(|o| count(*o).is_some_and(|count| outside < count))
}
