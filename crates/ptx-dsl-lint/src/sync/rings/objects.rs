//! The objects of a ring: they lie within their variable (PTX ISA 5.4), and some thread waits for the copies that complete on them
//! (9.7.9.25.4).

use crate::errors::{protocol, rings as errors};
use crate::kernel::Kernel;
use crate::sync::objects::object_name;
use crate::sync::rings::uses::{OpKind, RingOp, Rings, covers_two_rounds};

/// The bytes of an mbarrier.
const BYTES: i64 = 8;

pub(crate) fn check(kernel: &Kernel, rings: &Rings) {
    let flow = kernel.flow;
    let mut reported: Vec<u32> = Vec::new();
    for u in &rings.uses {
        if u.header.is_none() || reported.contains(&u.var) {
            continue;
        }
        let i = flow.instr(u.site.at);
        if u.kind == OpKind::Copy && rings.own(u.var) && rings.of(u.var).all(|other| other.kind != OpKind::Wait) {
            reported.push(u.var);
            kernel.report(protocol::nobody_waits(i.span, flow.variable_name(u.var)));
            continue;
        }
        if let Some((offset, wait)) = not_awaited(rings, u) {
            reported.push(u.var);
            let name = object_name(flow, (u.var, offset));
            kernel.report(errors::stage_not_awaited(i.span, &name, flow.instr(wait.site.at).span));
            continue;
        }
        // A loop that does not wrap may exit before it reaches the end.
        let Some(var) =
            flow.module.vars.get(u.var as usize).filter(|var| !var.is_open() && covers_two_rounds(&u.visits))
        else {
            continue;
        };
        let outside = |offset: &&i64| **offset < 0 || **offset > i64::from(var.size) - BYTES;
        if let Some(offset) = u.objects.iter().find(outside) {
            reported.push(u.var);
            kernel.report(errors::past_the_ring(i.span, &var.name, *offset, u.objects.len(), var.size));
        }
    }
}

/// An object that copies of a ring complete on and that no thread waits for, and a wait for others.
fn not_awaited<'r>(rings: &'r Rings, copy: &RingOp) -> Option<(i64, &'r RingOp)> {
    if copy.kind != OpKind::Copy || !rings.own(copy.var) || !covers_two_rounds(&copy.visits) {
        return None;
    }
    let waits: Vec<&RingOp> = rings.of(copy.var).filter(|u| u.kind == OpKind::Wait).collect();
    // The stage of an inner loop may go on where the iteration before has ended.
    let all = |u: &&RingOp| {
        !u.any && u.header.is_none_or(|h| rings.loops.parent(h).is_none() || covers_two_rounds(&u.visits))
    };
    let offset = copy.objects.iter().find(|o| !waits.iter().any(|w| w.objects.contains(o)))?;
    Some((*offset, *waits.first()?)).filter(|_| waits.iter().all(all))
}
