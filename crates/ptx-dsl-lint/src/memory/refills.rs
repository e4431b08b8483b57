//! Buffers in rotation that a loop fills and copies out of shared memory: the wait must leave fewer groups pending than there are
//! buffers (PTX ISA 9.7.9.25.6).

use crate::errors::rings as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::induction::{Induction, Thread};
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::region::plain_access;
use ptx_dsl_isa::hir::{Arg, Base, Operand, Space};
use ptx_dsl_isa::isa::{Group, Step};
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;
use ptx_dsl_isa::span::Span;

/// Limits: iterations that are evaluated, copies.
const ITERATIONS: usize = 20;
const COPIES: usize = 32;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.calls || !flow.cfg.has(op::cp_async_bulk_wait_group) {
        return;
    }
    let loops = Loops::new(&flow.cfg);
    if loops.irreducible() {
        return;
    }
    let mut copies = 0;
    for (block, at, i) in flow.walk() {
        if !i.has(q::bulk_group) || copies >= COPIES {
            continue;
        }
        let (Some(source), Some(header)) = (i.operand("srcMem"), loops.innermost(block)) else { continue };
        copies += 1;
        let Some(ring) = Ring::new(kernel, &loops, header, at, source) else { continue };
        let Some((wait, groups_left)) = groups_left(flow, &loops, header, ring.buffers.len() as u64) else { continue };
        if let Some(store) = store(kernel, &loops, header, &ring) {
            let [copy, wait] = [at, wait].map(|at| flow.instr(at).span);
            kernel.report(errors::refilled(store, copy, wait, ring.buffers.len(), groups_left));
            return;
        }
    }
}

/// The buffers that a copy reads, one in each iteration.
struct Ring {
    base: AddressBase,
    /// Their offsets in the variable, in the order of the iterations.
    buffers: Vec<i64>,
    /// The bytes that certainly belong to each.
    size: i64,
}

impl Ring {
    fn new(kernel: &Kernel, loops: &Loops, header: u32, at: u32, source: &Arg) -> Option<Ring> {
        let flow = kernel.flow;
        let r = kernel.region(at, source, 1)?;
        if r.space != Space::Shared || r.mapped || !matches!(r.base, AddressBase::Var(_)) {
            return None;
        }
        let places = places(flow, loops, header, Access { at, address: &source.value, thread: 0 }, ITERATIONS)?;
        let mut buffers: Vec<i64> = Vec::new();
        for p in &places {
            if buffers.first() == Some(p) && buffers.len() > 1 {
                break;
            }
            if !buffers.contains(p) {
                buffers.push(*p);
            }
        }
        // They are used in a fixed cycle.
        let cyclic = places.iter().enumerate().all(|(t, p)| *p == buffers[t % buffers.len()]);
        let mut size = flow.instr(at).constant("size").map_or(1, |n| n.min(1 << 20) as i64);
        for (k, a) in buffers.iter().enumerate() {
            for b in &buffers[k + 1..] {
                size = size.min((a - b).abs());
            }
        }
        (cyclic && places.len() > buffers.len()).then_some(Ring { base: r.base, buffers, size })
    }
}

/// An access by one thread.
#[derive(Clone, Copy)]
pub(crate) struct Access<'o> {
    pub at: u32,
    pub address: &'o Operand,
    pub thread: usize,
}

/// The offsets of an address in the first iterations of a loop.
pub(crate) fn places(
    flow: &Flow,
    loops: &Loops,
    header: u32,
    Access { at, address, thread }: Access,
    iterations: usize,
) -> Option<Vec<i64>> {
    let (base, offset) = match address {
        Operand::Address(Base::Var(_), offset) => return Some(vec![*offset; iterations]),
        Operand::Address(Base::Reg(r), offset) => (Operand::Reg(*r, 0), *offset),
        _ => return None,
    };
    let Operand::Reg(r, _) = base else { return None };
    let value = flow.ssa.read(at, r, 0);
    let mut counter = Induction::new(flow, loops, header, &[value], None)?;
    counter.begin(Some(Thread { number: thread, shape: flow.function.reqntid }));
    let mut out = Vec::new();
    for _ in 0..iterations {
        out.push(i64::from((counter.operand(at, &base)? as i64).wrapping_add(offset) as i32));
        if counter.ends() {
            break;
        }
        counter.next();
    }
    Some(out)
}

/// The wait of a loop and the groups that it leaves pending, if these cover all buffers.
fn groups_left(flow: &Flow, loops: &Loops, header: u32, buffers: u64) -> Option<(u32, u64)> {
    let (mut commits, mut wait) = (0, None);
    for (block, at, i) in flow.walk() {
        if !loops.contains(header, block) {
            continue;
        }
        match i.entry.effects.group {
            Group::Bulk(Step::Commit) => commits += 1,
            Group::Bulk(Step::Wait) => {
                let n = i.constant("N")?;
                wait = match wait {
                    Some((other, least)) if least <= n => Some((other, least)),
                    _ => Some((at, n)),
                };
            }
            _ => {}
        }
    }
    wait.filter(|(_, n)| commits > 0 && *n >= buffers * commits)
}

/// A store of the loop into the buffer that the copy of the same iteration reads.
fn store(kernel: &Kernel, loops: &Loops, header: u32, ring: &Ring) -> Option<Span> {
    let flow = kernel.flow;
    for (block, at, i) in flow.walk() {
        if !loops.contains(header, block) {
            continue;
        }
        let Some((arg, true)) = plain_access(i) else { continue };
        match kernel.region(at, arg, 1) {
            Some(r) if r.base == ring.base && !r.mapped => {}
            _ => continue,
        }
        let Some(places) = places(flow, loops, header, Access { at, address: &arg.value, thread: 0 }, 2) else {
            continue;
        };
        let inside = |(t, p): (usize, &i64)| {
            let start = ring.buffers[t % ring.buffers.len()];
            (start..start + ring.size).contains(p)
        };
        if places.len() == 2 && places.iter().enumerate().all(inside) {
            return Some(arg.span);
        }
    }
    None
}
