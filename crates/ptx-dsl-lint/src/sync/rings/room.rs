//! The bytes that a ring expects for a stage against the room that its copies have: each ends where the next one begins, in the same stage
//! or in another. The size of a tensor copy is not known, but copies that fill more would write over each other (PTX ISA 9.7.13.15.2).
//! Products read no more than what the copies bring, so these bring at least as many bytes.

use crate::errors::rings as errors;
use crate::kernel::Kernel;
use crate::sync::objects::{expects_bytes, object_name};
use crate::sync::rings::stages::Starts;
use crate::sync::rings::uses::{OpKind, RingOp, Rings};
use crate::tensor::descriptors::Matrix;
use ptx_dsl_isa::hir::Operand;

pub(crate) fn check(kernel: &Kernel, rings: &Rings, matrices: Option<&[Matrix]>) {
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
        let ([first, ..], Some(starts)) = (&copies[..], Starts::new(kernel, &copies)) else { continue };
        let name = object_name(flow, (expect.var, expect.objects[0]));
        let copy = flow.instr(first.site.at).span;
        if let Some(room) = starts.room().filter(|room| bytes > *room) {
            kernel.report(errors::more_than_room(arg.span, &name, bytes, room, copy));
            return;
        }
        if let Some(least) = matrices.and_then(|m| starts.read(m)).filter(|least| bytes < *least) {
            kernel.report(errors::fewer_than_read(arg.span, &name, bytes, least, copy));
            return;
        }
    }
}
