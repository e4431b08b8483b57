//! The bytes that a ring expects for a stage against the room that its copies have: each ends where the next one begins, in the same stage
//! or in another. The size of a tensor copy is not known, but copies that fill more would write over each other (PTX ISA 9.7.13.15.2).

use crate::errors::rings as errors;
use crate::kernel::Kernel;
use crate::sync::objects::{expects_bytes, mbarrier_operand, object_name};
use crate::sync::rings::uses::{OpKind, RingOp, Rings};
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::reachable::{Query, reachable};
use ptx_dsl_isa::hir::{Arg, Base, Operand};

pub(crate) fn check(kernel: &Kernel, rings: &Rings) {
    let flow = kernel.flow;
    let expecting: Vec<&RingOp> = rings.uses.iter().filter(|u| expects_bytes(flow.instr(u.site.at))).collect();
    for expect in &expecting {
        let i = flow.instr(expect.site.at);
        let Some(arg) = i.operand("txCount").or(i.operand("tx_count")) else { continue };
        let Operand::Imm(bytes) = arg.value else { continue };
        let meets = |u: &RingOp| u.var == expect.var && u.objects.iter().any(|o| expect.objects.contains(o));
        if expect.any || !rings.own(expect.var) || expecting.iter().filter(|u| meets(u)).count() != 1 {
            continue;
        }
        let copies: Vec<&RingOp> = rings.uses.iter().filter(|u| u.kind == OpKind::Copy && meets(u)).collect();
        let Some(room) = room(kernel, &copies) else { continue };
        if let [first, ..] = copies[..]
            && bytes > room
        {
            let name = object_name(flow, (expect.var, expect.objects[0]));
            kernel.report(errors::more_than_room(arg.span, &name, bytes, room, flow.instr(first.site.at).span));
            return;
        }
    }
}

/// A place at which a copy begins to write, and the object on which it completes.
#[derive(PartialEq)]
struct Start {
    var: u32,
    at: i64,
    object: u64,
    size: Option<u64>,
}

/// The largest number of bytes that these copies can write for one object without writing over each other, if it is known.
fn room(kernel: &Kernel, copies: &[&RingOp]) -> Option<u64> {
    let flow = kernel.flow;
    let register = |at: u32, arg: &Arg| match arg.value {
        Operand::Address(Base::Reg(r), offset) => Some((flow.ssa.read(at, r, 0), offset)),
        _ => None,
    };
    let mut queries = Vec::new();
    for copy in copies {
        let at = copy.site.at;
        let i = flow.instr(at);
        let (into, _) = register(at, i.operand("dstMem")?)?;
        let (object, _) = register(at, i.operand(mbarrier_operand(i))?)?;
        queries.push(Query::new(at, vec![into, object]));
    }
    if !reachable(flow, &mut queries) {
        return None;
    }
    let mut starts: Vec<Start> = Vec::new();
    for query in &queries {
        let i = flow.instr(query.at);
        let (into, on) = (i.operand("dstMem")?, i.operand(mbarrier_operand(i))?);
        let AddressBase::Var(var) = kernel.region(query.at, into, 0)?.base else { return None };
        for found in &query.found {
            let [Some(into_at), Some(object)] = found[..] else { return None };
            let (more, behind) = (register(query.at, into)?.1, register(query.at, on)?.1);
            let start = Start {
                var: var.0,
                at: i64::from(into_at as i32).checked_add(more)?,
                object: object.wrapping_add(behind as u64),
                size: i.constant("size"),
            };
            if !starts.contains(&start) {
                starts.push(start);
            }
        }
    }
    let gap = |s: &Start| {
        let next = starts.iter().filter(|o| o.var == s.var && o.at > s.at).map(|o| o.at - s.at).min();
        s.size.or(next.map(|gap| gap as u64))
    };
    let of = |object: u64| starts.iter().filter(move |s| s.object == object).map(gap).sum::<Option<u64>>();
    starts.iter().filter_map(|s| of(s.object)).max()
}
