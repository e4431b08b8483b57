//! The objects of a ring: they lie within their variable (PTX ISA 5.4), and some thread waits for the copies that complete on them
//! (9.7.9.25.4).

use crate::errors::{protocol, rings as errors};
use crate::kernel::Kernel;
use crate::sync::rings::uses::{OpKind, Rings, covers_two_rounds};

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
