//! Data that threads store over a stage of a ring, after they have freed it and before they wait for it again: the next copy may come at any
//! time in between (PTX ISA 9.7.9.25.4).

use crate::errors::rings as errors;
use crate::kernel::Kernel;
use crate::sync::objects::object_name;
use crate::sync::rings::released::{copies, freed_by, shares_objects};
use crate::sync::rings::stages::{Start, Starts};
use crate::sync::rings::uses::{OpKind, RingOp, Rings};
use crate::tensor::descriptors::Matrix;
use ptx_dsl_analysis::accesses::mbarrier_wait;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::induction::{Induction, Thread};
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::sites::Site;
use ptx_dsl_analysis::threads::has_thread;
use ptx_dsl_isa::hir::{Arg, Base, Operand, VarId};
use ptx_dsl_isa::isa::Barrier;
use ptx_dsl_isa::meaning::access::plain_access;

/// Limits: stores that are evaluated for each thread, and the values that this may take.
const STORES: usize = 16;
const SPENT: u32 = 20_000;

pub(crate) fn check(kernel: &Kernel, rings: &Rings, matrices: Option<&[Matrix]>) {
    let flow = kernel.flow;
    let mut checked: Vec<&RingOp> = Vec::new();
    for wait in rings.uses.iter().filter(|u| u.kind == OpKind::Wait && !u.any) {
        if checked.iter().any(|other| shares_objects(other, wait)) {
            continue;
        }
        checked.push(wait);
        let copies = copies(rings, wait);
        let Some(frees) = copies.first().and_then(|copy| freed_by(flow, rings, copy, wait)) else { continue };
        if !copies.iter().all(|copy| held_by_nothing_else(kernel, rings, copy, frees)) {
            continue;
        }
        let Some(starts) = Starts::new(kernel, &copies) else { continue };
        let ring = Ring { wait, frees, outer: outermost(rings, copies[0].site.block) };
        let mut stores = 0;
        for (block, at, i) in flow.walk() {
            let Some((arg, true)) = plain_access(i) else { continue };
            let Some(r) = kernel.region(at, arg, i.bytes()) else { continue };
            let AddressBase::Var(VarId(var)) = r.base else { continue };
            let site = Site { block, at };
            if r.mapped || !starts.0.iter().any(|s| s.var == var) || !ring.stored_between(kernel, rings, site) {
                continue;
            }
            stores += 1;
            if stores > STORES {
                break;
            }
            if let Some(start) = written_stage(kernel, rings, site, (arg, var), &starts, matrices.unwrap_or(&[])) {
                let copy = flow.instr(copies[0].site.at).span;
                let name = object_name(flow, (var, start.at));
                kernel.report(errors::stage_overwritten(arg.span, &name, copy));
                return;
            }
        }
    }
}

/// The wait of readers for a stage, that of the copies for a free stage, and the outermost loop of the copies.
struct Ring<'r> {
    wait: &'r RingOp,
    frees: &'r RingOp,
    outer: Option<u32>,
}

/// The outermost loop around a block.
fn outermost(rings: &Rings, block: u32) -> Option<u32> {
    let mut header = rings.loops.innermost(block)?;
    while let Some(h) = rings.loops.parent(header) {
        header = h;
    }
    Some(header)
}

/// Do the loops of a copy wait for free stages only?
fn held_by_nothing_else(kernel: &Kernel, rings: &Rings, copy: &RingOp, frees: &RingOp) -> bool {
    let Some(outer) = outermost(rings, copy.site.block) else { return false };
    kernel.flow.walk().filter(|(block, ..)| rings.loops.contains(outer, *block)).all(|(_, at, i)| {
        let free = |u: &RingOp| u.site.at == at && shares_objects(u, frees);
        i.entry.effects.barrier == Barrier::None && (!mbarrier_wait(i) || rings.uses.iter().any(free))
    })
}

impl Ring<'_> {
    /// Is the store in a loop that waits for the stages, with no arrival that frees one between it and the next wait? Then all stages that were
    /// read before it are free.
    fn stored_between(&self, kernel: &Kernel, rings: &Rings, store: Site) -> bool {
        let flow = kernel.flow;
        let Some(outer) = outermost(rings, store.block) else { return false };
        let inside = |u: &RingOp| rings.loops.contains(outer, u.site.block);
        let frees = |u: &&RingOp| shares_objects(u, self.frees) && matches!(u.kind, OpKind::Arrive(_));
        let waits = |u: &&RingOp| shares_objects(u, self.wait) && u.kind == OpKind::Wait;
        if self.outer == Some(outer) || !rings.uses.iter().filter(frees).all(inside) {
            return false;
        }
        let mut seen = vec![false; flow.cfg.blocks.len()];
        let mut stack = vec![(store.block, store.at + 1)];
        let mut waited = false;
        while let Some((b, from)) = stack.pop() {
            let here = |u: &&RingOp| u.site.block == b && u.site.at >= from;
            let wait = rings.uses.iter().filter(waits).filter(here).map(|u| u.site.at).min();
            if rings.uses.iter().filter(frees).filter(here).any(|u| wait.is_none_or(|wait| u.site.at < wait)) {
                return false;
            }
            waited |= wait.is_some();
            if wait.is_none() {
                let next = flow.cfg.blocks[b as usize].succ.iter().filter(|e| rings.loops.contains(outer, e.to));
                for e in next {
                    if !std::mem::replace(&mut seen[e.to as usize], true) {
                        stack.push((e.to, 0));
                    }
                }
            }
        }
        waited
    }
}

/// The stage that some thread certainly stores into.
fn written_stage<'s>(
    kernel: &Kernel,
    rings: &Rings,
    Site { block, at }: Site,
    (arg, var): (&Arg, u32),
    starts: &'s Starts,
    matrices: &[Matrix],
) -> Option<&'s Start> {
    let flow = kernel.flow;
    let n = kernel.lanes.cta_size.exact?;
    let Operand::Address(Base::Reg(r), offset) = arg.value else { return None };
    let value = flow.ssa.read(at, r, 0);
    let mut of = Induction::new(flow, &rings.loops, NONE, &[value], None)?;
    let present = kernel.threads_at(block, at);
    let bytes = flow.instr(at).bytes().max(1) as i64;
    for number in (0..n).filter(|t| has_thread(&present.set, *t)) {
        of.begin(Some(Thread { number, shape: flow.function.reqntid }));
        if of.spent() > SPENT {
            return None;
        }
        let Some(base) = of.operand(at, &Operand::Reg(r, 0)) else { continue };
        let from = i64::from((base as i64).wrapping_add(offset) as i32);
        if let Some(start) = starts.overlapped(var, &(from..from + bytes), matrices) {
            return Some(start);
        }
    }
    None
}
