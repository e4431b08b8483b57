//! Addresses in Tensor Memory: the lane in the upper half, the column in the lower half (9.7.16.1.1). Finds the allocation and the
//! column of an address, and whether two instructions access the same columns.

use crate::kernel::Kernel;
use crate::sync::objects::{ObjectKey, object_key};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::value_access;
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_isa::hir::{Base, Instr, Operand};
use ptx_dsl_isa::isa::{MemoryOp, Role};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// The root of an address.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Root {
    /// Loaded from the memory where `tcgen05.alloc` stored it.
    Slot(ObjectKey),
    /// Another value.
    Value(Val),
}

/// An address, but for its lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Address {
    pub root: Root,
    /// Columns past the root.
    pub column: i64,
}

/// Do two instructions work on the same columns?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overlap {
    Never,
    Perhaps,
    Certainly,
}

/// Steps that are followed back from an address.
const STEPS: usize = 24;

/// The address that the operand of this name is.
pub(crate) fn address(kernel: &Kernel, at: u32, name: &str) -> Option<Address> {
    let flow = kernel.flow;
    let (v, offset) = match flow.instr(at).value(name)? {
        Operand::Reg(r, lane) => (flow.ssa.read(at, *r, *lane), 0),
        Operand::Address(Base::Reg(r), offset) => (flow.ssa.read(at, *r, 0), *offset),
        _ => return None,
    };
    let mut v = flow.origin(v);
    let mut column = offset;
    for _ in 0..STEPS {
        let Some(maker) = flow.ssa.maker(v) else { break };
        let Some((next, more)) = step(flow, maker) else {
            let root = match loaded(kernel, maker) {
                Some(slot) => Root::Slot(slot),
                None => Root::Value(v),
            };
            return Some(Address { root, column: lower(column) });
        };
        column = column.wrapping_add(more);
        v = flow.origin(next);
    }
    Some(Address { root: Root::Value(v), column: lower(column) })
}

/// The lower half of an address, which may be counted backwards.
fn lower(address: i64) -> i64 {
    i64::from(address as i16)
}

/// The place in memory from which an instruction loads an address.
fn loaded(kernel: &Kernel, at: u32) -> Option<ObjectKey> {
    let flow = kernel.flow;
    let i = flow.instr(at);
    if value_access(i) != MemoryOp::Load {
        return None;
    }
    object_key(&kernel.region(at, i.operand("a")?, 4)?)
}

/// The value from which an instruction makes an address by adding columns, and their number, or by adding lanes.
fn step(flow: &Flow, at: u32) -> Option<(Val, i64)> {
    let i = flow.instr(at);
    if !matches!(i.types.last(), Some(ty) if ty.bits() == 32) {
        return None;
    }
    match i.opcode {
        op::mov if i.operands.len() == 2 => Some((flow.source(at, "a")?, 0)),
        // All lanes have the same address.
        op::shfl_sync if i.has(q::idx) => Some((flow.source(at, "a")?, 0)),
        op::add | op::or => {
            if let Some(n) = i.constant("b") {
                return Some((flow.source(at, "a")?, i64::from(n as i32)));
            }
            if let Some(n) = i.constant("a") {
                return Some((flow.source(at, "b")?, i64::from(n as i32)));
            }
            let (a, b) = (flow.source(at, "a")?, flow.source(at, "b")?);
            if lanes_alone(flow, b, 4) {
                Some((a, 0))
            } else if lanes_alone(flow, a, 4) {
                Some((b, 0))
            } else {
                None
            }
        }
        op::mad if !i.has(q::hi) && product_of_lanes(flow, at, 4) => Some((flow.source(at, "c")?, 0)),
        _ => None,
    }
}

/// Is the lower half of a value zero?
fn lanes_alone(flow: &Flow, v: Val, moves: u32) -> bool {
    let Some(at) = flow.ssa.maker(v) else { return false };
    let i = flow.instr(at);
    let low = |name: &str| i.constant(name).map(|n| n & 0xffff);
    let source = |name: &str| matches!(flow.source(at, name), Some(v) if moves > 0 && lanes_alone(flow, v, moves - 1));
    match i.opcode {
        op::shl => matches!(i.constant("b"), Some(n) if n >= 16) || source("a"),
        op::and => low("b") == Some(0) || source("a") || source("b"),
        op::mul if !i.has(q::hi) => product_of_lanes(flow, at, moves),
        op::mov => low("a") == Some(0) || source("a"),
        _ => false,
    }
}

/// Is the lower half of the product of `a` and `b` zero?
fn product_of_lanes(flow: &Flow, at: u32, moves: u32) -> bool {
    let one = |name: &str| match flow.instr(at).constant(name) {
        Some(n) => n & 0xffff == 0,
        None => matches!(flow.source(at, name), Some(v) if moves > 0 && lanes_alone(flow, v, moves - 1)),
    };
    one("a") || one("b")
}

/// How many columns `tcgen05.ld` or `tcgen05.st` moves, if they are side by side.
fn width(i: &Instr) -> Option<i64> {
    let shapes = [(q::_32x32b, 1), (q::_16x64b, 2), (q::_16x128b, 4), (q::_16x256b, 8)];
    let (_, one) = shapes.into_iter().find(|(shape, _)| i.has(*shape))?;
    let many = i.quals.iter().find_map(|q| q.after(".x")?.parse::<i64>().ok())?;
    let wide = if i.has(q::unpack_16b) || i.has(q::pack_16b) { 2 } else { 1 };
    Some(one * many * wide)
}

/// Does an operation work on the columns that a load or a store moves? How many it works on is in its descriptor, so that is
/// certain only if it begins there.
pub(crate) fn overlap(kernel: &Kernel, access: u32, operation: u32) -> Overlap {
    let flow = kernel.flow;
    let (Some(here), Some(width)) = (address(kernel, access, "taddr"), width(flow.instr(access))) else {
        return Overlap::Perhaps;
    };
    let mut found = Overlap::Never;
    for arg in &flow.instr(operation).operands {
        if arg.role != Role::Addr {
            continue;
        }
        match address(kernel, operation, arg.name) {
            Some(there) if there.root == here.root => {
                if (here.column..here.column + width).contains(&there.column) {
                    return Overlap::Certainly;
                }
                if there.column < here.column {
                    found = Overlap::Perhaps;
                }
            }
            _ => found = Overlap::Perhaps,
        }
    }
    found
}
