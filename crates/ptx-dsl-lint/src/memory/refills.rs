//! Buffers in rotation that a loop fills and copies out of shared memory: the wait must leave fewer groups pending than there are
//! buffers (PTX ISA 9.7.9.25.6).

use crate::errors::{protocol, rings as errors};
use crate::kernel::Kernel;
use crate::may_synchronise::may_synchronise_cta;
use crate::pending::{begin_pending, for_each_pending, is_pending, resolve};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::dataflow::Bits;
use ptx_dsl_analysis::induction::{Induction, Thread};
use ptx_dsl_analysis::loops::Loops;
use ptx_dsl_analysis::provenance::AddressBase;
use ptx_dsl_analysis::reaching::max_threads;
use ptx_dsl_analysis::sites::Site;
use ptx_dsl_analysis::threads::has_thread;
use ptx_dsl_isa::diag::Diagnostic;
use ptx_dsl_isa::hir::{Arg, Base, Instr, Operand, Space};
use ptx_dsl_isa::isa::{Group, Step};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::qualifier::q;

/// Limits: iterations that are evaluated, copies.
const ITERATIONS: usize = 20;
const COPIES: usize = 32;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    if flow.calls || !flow.cfg.any(&|i| i.has(q::bulk_group)) {
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
        let Some(groups) = LoopGroups::new(flow, &loops, header) else { continue };
        let Some((stored, arg)) = store(kernel, &loops, header, &ring) else { continue };
        if let Some(finding) = refilled(kernel, &ring, &groups, (at, stored), arg) {
            kernel.report(finding);
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

/// The bulk groups of a loop.
struct LoopGroups {
    commits: u64,
    /// The wait that leaves the fewest groups pending, and how many.
    wait: Option<(Site, u64)>,
}

impl LoopGroups {
    fn new(flow: &Flow, loops: &Loops, header: u32) -> Option<LoopGroups> {
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
                        _ => Some((Site { block, at }, n)),
                    };
                }
                _ => {}
            }
        }
        Some(LoopGroups { commits, wait })
    }
}

/// Does a store of the loop write a buffer that a copy of an earlier iteration may still read? `copy` and `stored` are their
/// instructions.
fn refilled(
    kernel: &Kernel,
    ring: &Ring,
    groups: &LoopGroups,
    (copy, stored): (u32, Site),
    arg: &Arg,
) -> Option<Diagnostic> {
    let flow = kernel.flow;
    let span = flow.instr(copy).span;
    if groups.commits == 0 {
        // No wait in the loop covers its copies.
        return Some(protocol::source_rewritten(arg.span, span, true, false));
    }
    let (wait, left) = groups.wait?;
    let buffers = ring.buffers.len() as u64;
    if left >= buffers * groups.commits {
        return Some(errors::refilled(arg.span, span, flow.instr(wait.at).span, ring.buffers.len(), left));
    }
    // Threads that do not wait themselves know what the barrier of the iteration before told them.
    let behind = buffers > 1 && left >= (buffers - 1) * groups.commits;
    (behind && untold(kernel, wait, stored) && others_store(kernel, wait, stored))
        .then(|| protocol::source_rewritten_by_others(arg.span, span))
}

/// Is there no synchronisation of the CTA between a wait and a store, on any path?
fn untold(kernel: &Kernel, wait: Site, stored: Site) -> bool {
    let flow = kernel.flow;
    let up = flow.cfg.idom[wait.block as usize];
    let apart = up != NONE && up != wait.block && !flow.cfg.post_dominates(wait.block, up);
    // Threads that pass the wait by part from the others there.
    let from = if apart { flow.cfg.branch(up).unwrap_or(wait.at) } else { wait.at };
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        if at == from || at == wait.at {
            begin_pending(set, 0);
        } else if may_synchronise_cta(i) {
            resolve(set, 0);
        }
    };
    let mut between = false;
    for_each_pending(flow, 1, &step, &mut |_, at, _, set| between |= at == stored.at && is_pending(set, 0));
    between
}

/// Is there certainly a thread that stores and does not wait?
fn others_store(kernel: &Kernel, wait: Site, stored: Site) -> bool {
    let Some(n) = kernel.lanes.cta_size.exact else { return false };
    let waits = kernel.threads_at(wait.block, wait.at);
    let stores = kernel.threads_at(stored.block, stored.at);
    kernel.executes_every_iteration(stored)
        && !stores.elected
        && (waits.elected && max_threads(&stores, kernel.lanes, n) > 1
            || (0..n).any(|t| has_thread(&stores.set, t) && !has_thread(&waits.set, t)))
}

/// A store of the loop into the buffer that the copy of the same iteration reads.
fn store<'h>(kernel: &Kernel<'_, 'h>, loops: &Loops, header: u32, ring: &Ring) -> Option<(Site, &'h Arg)> {
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
            return Some((Site { block, at }, arg));
        }
    }
    None
}
