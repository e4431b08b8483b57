//! The lifetime of the objects of a ring: each is initialised (PTX ISA 9.7.13.15), once while it is valid (9.7.13.15.9), and its memory
//! holds no other data (9.7.13.15.10).

use crate::errors::{protocol, rings as errors};
use crate::kernel::Kernel;
use crate::sync::objects::object_name;
use crate::sync::rings::uses::{OpKind, RingOp, Rings, covers_two_rounds};
use ptx_dsl_analysis::induction::{Induction, Thread};
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::sites::{Site, in_loop, reaches};
use ptx_dsl_analysis::threads::has_thread;
use ptx_dsl_isa::hir::{Arg, Base, Operand, VarId};
use ptx_dsl_isa::isa::Mbarrier;
use ptx_dsl_isa::meaning::access::plain_access;

/// The bytes of an mbarrier.
const BYTES: i64 = 8;
/// Limits: accesses that are evaluated for each thread, and the values that this may take.
const ACCESSES: usize = 16;
const SPENT: u32 = 60_000;

pub(crate) fn check(kernel: &Kernel, rings: &Rings) {
    uninitialised(kernel, rings);
    // An `inval` of an object that is not known may end any of them.
    if !kernel.flow.cfg.any(&|i| i.entry.effects.mbarrier == Mbarrier::Inval) {
        again(kernel, rings);
        data(kernel, rings);
    }
}

/// The `init`s of a variable, if all its objects are known from them.
fn inits(rings: &Rings, var: u32) -> Option<Vec<&RingOp>> {
    let inits: Vec<&RingOp> = rings.of(var).filter(|u| u.kind == OpKind::Init).collect();
    let again = |u: &&RingOp| u.header.is_some_and(|h| rings.loops.parent(h).is_some());
    let known = rings.known(var) && !inits.is_empty() && !inits.iter().any(|u| u.any || again(u));
    known.then_some(inits)
}

/// An object of a ring that no `init` of the ring is for.
fn uninitialised(kernel: &Kernel, rings: &Rings) {
    let flow = kernel.flow;
    let mut reported: Vec<u32> = Vec::new();
    for u in &rings.uses {
        // A loop that does not wrap may exit before it reaches the end.
        if u.kind == OpKind::Init || u.any || reported.contains(&u.var) || !covers_two_rounds(&u.visits) {
            continue;
        }
        let Some(inits) = inits(rings, u.var) else { continue };
        let Some(var) = flow.module.vars.get(u.var as usize) else { continue };
        let inside = |o: i64| o >= 0 && (var.is_open() || o <= i64::from(var.size) - BYTES);
        let missing = |o: &&i64| inside(**o) && !inits.iter().any(|init| init.objects.contains(o));
        if let Some(offset) = u.objects.iter().find(missing) {
            reported.push(u.var);
            let [span, init] = [u.site.at, inits[0].site.at].map(|at| flow.instr(at).span);
            kernel.report(errors::stage_not_initialised(span, &object_name(flow, (u.var, *offset)), init));
        }
    }
}

/// An `init` that a loop executes again for the same object.
fn again(kernel: &Kernel, rings: &Rings) {
    let flow = kernel.flow;
    for u in &rings.uses {
        if u.kind != OpKind::Init || u.any || !kernel.executes_invariantly(u.site) {
            continue;
        }
        let repeats = match u.header {
            Some(h) => rings.loops.parent(h).is_some() || u.visits.len() > u.objects.len(),
            None => in_loop(flow, u.site.block),
        };
        if repeats {
            let name = object_name(flow, (u.var, u.visits[0].offset));
            kernel.report(protocol::init_in_loop(flow.instr(u.site.at).span, &name));
            return;
        }
    }
}

/// Data in the memory of an object, at an address that depends on the thread.
fn data(kernel: &Kernel, rings: &Rings) {
    let Kernel { flow, lanes, .. } = *kernel;
    let Some(n) = lanes.cta_size.exact else { return };
    let mut accesses = 0;
    for (block, at, i) in flow.walk() {
        let Some((arg, writes)) = plain_access(i) else { continue };
        let Some(r) = kernel.region(at, arg, i.bytes()) else { continue };
        let AddressBase::Var(VarId(var)) = r.base else { continue };
        let site = Site { block, at };
        if r.mapped || r.bytes.is_some() || in_loop(flow, block) || !kernel.executes_exactly(site) {
            continue;
        }
        let before = |u: &&RingOp| {
            u.kind == OpKind::Init
                && !u.any
                && kernel.executes_invariantly(u.site)
                && reaches(flow, u.site.block, block)
                && !reaches(flow, block, u.site.block)
        };
        let inits: Vec<&RingOp> = rings.of(var).filter(before).collect();
        if inits.is_empty() || accesses >= ACCESSES {
            continue;
        }
        accesses += 1;
        let Some(places) = places(kernel, rings, site, arg, n) else { continue };
        let covers = |o: &i64| places.iter().any(|p| p < &(o + BYTES) && *o < p + i.bytes() as i64);
        let hit = inits.iter().find_map(|u| Some((u, u.objects.iter().find(|o| covers(o))?)));
        if let Some((init, offset)) = hit {
            let name = object_name(flow, (var, *offset));
            kernel.report(protocol::data_on_object(arg.span, &name, flow.instr(init.site.at).span, writes));
            return;
        }
    }
}

/// The offsets in its variable that an access has in each thread that executes it.
fn places(kernel: &Kernel, rings: &Rings, Site { block, at }: Site, arg: &Arg, n: usize) -> Option<Vec<i64>> {
    let flow = kernel.flow;
    let Operand::Address(Base::Reg(r), offset) = arg.value else { return None };
    let value = flow.ssa.read(at, r, 0);
    let mut of = Induction::new(flow, &rings.loops, ptx_dsl_analysis::cfg::NONE, &[value], None)?;
    let present = kernel.threads_at(block, at);
    let mut out = Vec::new();
    for number in (0..n).filter(|t| has_thread(&present.set, *t)) {
        of.begin(Some(Thread { number, shape: flow.function.reqntid }));
        let base = of.operand(at, &Operand::Reg(r, 0))?;
        out.push(i64::from((base as i64).wrapping_add(offset) as i32));
        if of.spent() > SPENT {
            return None;
        }
    }
    Some(out)
}
