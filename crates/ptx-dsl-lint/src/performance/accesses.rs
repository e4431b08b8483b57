//! Bank conflicts in shared memory, and accesses to global memory that move sectors which the warp does not use.

use crate::errors::performance as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::first_warp::{FirstWarp, Row, SAMPLES};
use ptx_dsl_isa::hir::{Arg, Instr, Space};
use ptx_dsl_isa::isa::{Issue, MemoryOp};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::meaning::memory_pipeline::{self, Served};
use ptx_dsl_isa::qualifier::q;

/// An access takes at least this many times the units that it needs.
const TIMES: u64 = 2;

/// The memory whose pipeline an access takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Shared,
    Global,
}

pub(crate) fn check(kernel: &Kernel) {
    let Kernel { flow, lanes, .. } = *kernel;
    let mut samples: Vec<FirstWarp> = (0..SAMPLES).filter_map(|sample| FirstWarp::new(flow, lanes, sample)).collect();
    if samples.len() < SAMPLES {
        return;
    }
    for (block, at, i) in flow.walk() {
        let Some((arg, memory)) = access(kernel, at, i) else { continue };
        let served = |warp: &mut FirstWarp| {
            let executing = warp.executing(block, at)?;
            let addresses = warp.addresses(at, arg)?;
            Some((units(i, memory, &addresses, executing), addresses))
        };
        let all: Option<Vec<(Served, Row)>> = samples.iter_mut().map(served).collect();
        // A sample in which no lane executes it says nothing.
        let all = all.filter(|all| all.iter().all(|(served, _)| served.ideal > 0));
        let best =
            all.and_then(|all| all.into_iter().min_by_key(|(served, _)| served.units.saturating_sub(served.ideal)));
        let Some((served, addresses)) = best.filter(|(served, _)| served.units >= TIMES * served.ideal) else {
            continue;
        };
        let stride = stride(&addresses);
        kernel.report(match memory {
            Memory::Shared => errors::bank_conflicts(arg.span, served, stride),
            Memory::Global => errors::uncoalesced(arg.span, served, stride),
        });
    }
}

/// The address of a plain load or store, and where it goes.
fn access<'h>(kernel: &Kernel<'_, 'h>, at: u32, i: &'h Instr) -> Option<(&'h Arg, Memory)> {
    let (arg, _) = plain_access(i)?;
    let by_lane = i.entry.effects.issue == Issue::Thread && i.bytes() <= 16;
    if !matches!(i.entry.effects.ordinary(), MemoryOp::Load | MemoryOp::Store) || !by_lane && matrices(i).is_none() {
        return None;
    }
    let space = kernel.region(at, arg, i.bytes()).map(|region| region.space);
    let is = |space_of: Space, names: &[_]| space == Some(space_of) || i.has_any(names);
    if is(Space::Shared, &[q::shared, q::shared_cta]) {
        Some((arg, Memory::Shared))
    } else if is(Space::Global, &[q::global]) {
        Some((arg, Memory::Global))
    } else {
        None
    }
}

fn units(i: &Instr, memory: Memory, addresses: &Row, lanes: u32) -> Served {
    if let Some(matrices) = matrices(i) {
        let rows: Vec<u32> = addresses[..8 * matrices].iter().map(|address| *address as u32).collect();
        return memory_pipeline::rows(&rows);
    }
    let (bytes, writes) = (i.bytes() as u32, i.entry.effects.ordinary() == MemoryOp::Store);
    match memory {
        Memory::Shared => memory_pipeline::wavefronts(addresses, lanes, bytes, writes),
        Memory::Global => memory_pipeline::sectors(addresses, lanes, bytes),
    }
}

/// The matrices of eight rows that a warp accesses together, whose rows the first lanes name.
fn matrices(i: &Instr) -> Option<usize> {
    let count = [(q::x1, 1), (q::x2, 2), (q::x4, 4)].into_iter().find(|(q, _)| i.has(*q))?.1;
    (i.entry.effects.issue == Issue::FullWarp && i.has(q::m8n8)).then_some(count)
}

/// The bytes from each lane to the next one, if they are the same for all.
fn stride(addresses: &Row) -> Option<u64> {
    let step = addresses[1].wrapping_sub(addresses[0]);
    addresses.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step).then_some(step)
}
