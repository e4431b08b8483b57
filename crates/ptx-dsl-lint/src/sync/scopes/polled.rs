//! Polling loops without acquire (PTX ISA 8.8), and the loads after them, by the thread that polls or, behind a barrier, by any other.

use crate::errors::order as errors;
use crate::kernel::Kernel;
use crate::pending::{begin_pending, for_each_pending, is_pending, resolve};
use crate::sync::scopes::{acquires, fence};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::accesses::{mbarrier_wait, value_access};
use ptx_dsl_analysis::dataflow::Bits;
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::provenance::{AddressBase, in_space};
use ptx_dsl_analysis::region::MAX_REGIONS;
use ptx_dsl_analysis::ssa::{Val, Value};
use ptx_dsl_isa::hir::{Instr, Space};
use ptx_dsl_isa::isa::{Barrier, MemoryOp, Tensor};
use ptx_dsl_isa::meaning::order::{Scope, Sem};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::{Qualifier, SHARED, q};
use ptx_dsl_isa::span::Span;

/// A polling loop.
pub(super) struct Poll {
    /// Its blocks.
    blocks: Vec<u32>,
    pub(super) span: Span,
    pub(super) base: Option<AddressBase>,
    /// The flag is in global memory and only decides the branch: other CTAs announce data by it.
    announces: bool,
}

/// May the instruction stand in a polling loop?
fn may_poll(i: &Instr) -> bool {
    matches!(
        i.opcode,
        op::ld
            | op::setp
            | op::bra
            | op::nanosleep
            | op::and
            | op::or
            | op::xor
            | op::mov
            | op::cvt
            | op::add
            | op::sub
            | op::selp
            | op::atom
            | op::not
            | op::mbarrier_try_wait
            | op::mbarrier_test_wait
            | op::shr
            | op::shl
    )
}

/// Does the value depend on the read?
fn depends_on(flow: &Flow, p: Val, read: u32) -> bool {
    let mut stack = vec![p];
    let mut budget = 64;
    let mut seen = Vec::new();
    while let Some(v) = stack.pop() {
        budget -= 1;
        if budget == 0 || seen.contains(&v) {
            continue;
        }
        seen.push(v);
        if matches!(flow.ssa.values[v as usize], Value::Def { instr, .. } if instr == read) {
            return true;
        }
        flow.ssa.push_sources(v, &mut stack);
    }
    false
}

pub(super) fn polls(kernel: &Kernel) -> Vec<Poll> {
    let flow = kernel.flow;
    let loops = Loops::new(&flow.cfg);
    // By header: the blocks of the loop.
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); flow.cfg.blocks.len()];
    for &b in &flow.cfg.rpo {
        if let Some(h) = loops.innermost(b) {
            members[h as usize].push(b);
        }
    }
    let mut out = Vec::new();
    for blocks in members {
        if blocks.is_empty() || blocks.len() > 8 || out.len() >= MAX_REGIONS {
            continue;
        }
        let Some(at) = first_read(flow, &blocks) else { continue };
        if exits_by(flow, &blocks, at) {
            let read = flow.instr(at);
            let base = match read.address() {
                Some(arg) => kernel.region(at, arg, 4).map(|r| r.base),
                None => None,
            };
            let announces = read.order().scope > Scope::Cta && in_global(kernel, at, read) && only_compared(flow, at);
            out.push(Poll { blocks, span: read.span, base, announces });
        }
    }
    out
}

/// The first read of a flag in a loop that only waits, without acquire.
fn first_read(flow: &Flow, blocks: &[u32]) -> Option<u32> {
    let mut first = None;
    for b in blocks {
        for at in flow.cfg.range(*b) {
            let i = flow.instr(at);
            if !may_poll(i) || acquires(i) {
                return None;
            }
            if first.is_none() && reads(i) && !updates(flow, at, i) {
                first = Some(at);
            }
        }
    }
    first
}

/// Reads a flag, with no order.
fn reads(i: &Instr) -> bool {
    match value_access(i) {
        // Volatile accesses to shared memory predate the memory model and are mostly within a warp.
        MemoryOp::Load => i.order().sem == Sem::Relaxed && !(i.has(q::volatile) && i.has_any(SHARED)),
        MemoryOp::Atomic => !acquires(i),
        _ => mbarrier_wait(i) && !i.order().acquires(),
    }
}

/// Is it a compare-and-swap with the value of the previous iteration? Such a loop updates data and does not wait.
fn updates(flow: &Flow, at: u32, i: &Instr) -> bool {
    i.has(q::cas) && flow.source(at, "b").is_some_and(|compared| depends_on(flow, compared, at))
}

/// Does a branch of the loop depend on the read?
fn exits_by(flow: &Flow, blocks: &[u32], read: u32) -> bool {
    for b in blocks {
        if let Some(branch) = flow.cfg.branch(*b)
            && let Some((p, _)) = flow.guard(branch)
            && depends_on(flow, p, read)
        {
            return true;
        }
    }
    false
}

/// Is the access one to global memory?
fn in_global(kernel: &Kernel, at: u32, i: &Instr) -> bool {
    let by_address = || i.address().and_then(|arg| kernel.region(at, arg, i.bytes())).map(|r| r.space);
    i.has(q::global) || (!in_space(i) && by_address() == Some(Space::Global))
}

/// Is what the instruction reads only compared, and neither stored nor computed with?
fn only_compared(flow: &Flow, read: u32) -> bool {
    let mut stack: Vec<Val> = flow.ssa.defs(read).iter().map(|(_, v)| *v).collect();
    let mut seen = Vec::new();
    while let Some(v) = stack.pop() {
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        stack.extend(flow.ssa.users(v).iter().filter(|user| made_by(flow, **user) != Some(op::setp)));
    }
    let compares = |i: &Instr| matches!(i.opcode, op::setp | op::mov | op::cvt | op::and | op::or | op::xor | op::sub);
    let reads_it = |at: u32| flow.ssa.uses(at).iter().any(|(_, v)| seen.contains(v));
    seen.len() <= 64 && flow.walk().all(|(_, at, i)| at == read || compares(i) || !reads_it(at))
}

fn made_by(flow: &Flow, v: Val) -> Option<ptx_dsl_isa::opcode::Opcode> {
    match flow.ssa.values[v as usize] {
        Value::Def { instr, .. } => Some(flow.instr(instr).opcode),
        _ => None,
    }
}

/// A loop that waits for a flag without acquire, then plain loads. A barrier of the CTA or of a warp tells its threads that the loop has
/// ended, but what other CTAs wrote before the flag is not ordered by it. Two states for each loop: without a barrier since, and with.
pub(super) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let polls = polls(kernel);
    let n = polls.len();
    let inside = |at: u32| polls.iter().position(|poll| poll.blocks.contains(&flow.cfg.block_of(at)));
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if let Some(k) = inside(at) {
            begin_pending(set, k);
            if polls[k].announces {
                begin_pending(set, n + k);
            }
        } else if orders(i) {
            let only_meets = matches!(i.entry.effects.barrier, Barrier::Cta | Barrier::Warp);
            for k in 0..if only_meets { n } else { 2 * n } {
                resolve(set, k);
            }
        }
    };
    let mut reported = false;
    for_each_pending(flow, 2 * n, &step, &mut |_, at, i, set| {
        if reported || i.opcode != op::ld || i.has_any(NOT_PLAIN) || inside(at).is_some() {
            return;
        }
        for (k, poll) in polls.iter().enumerate() {
            let met = !is_pending(set, k);
            if !met || (is_pending(set, n + k) && in_global(kernel, at, i)) {
                reported = true;
                kernel.report(errors::polled_without_acquire(i.span, poll.span, met));
                return;
            }
        }
    });
}

/// Qualifiers of loads that are ordered, or of memory that is private or constant.
const NOT_PLAIN: &[Qualifier] = &[
    q::volatile,
    q::relaxed,
    q::acquire,
    q::mmio,
    q::nc,
    q::local,
    q::param,
    q::param_entry,
    q::param_func,
    q::_const,
];

/// Does it order later accesses after earlier reads?
fn orders(i: &Instr) -> bool {
    let op = i.opcode;
    i.entry.effects.barrier != Barrier::None
        || fence(i)
        || i.entry.effects.tensor == Tensor::Fence
        || op == op::griddepcontrol
        || i.order().acquires()
}
