//! Tensor maps (PTX ISA 9.7.9.26, 9.7.13.4): a copy reads its map through the tensormap proxy, so a change needs a release by the
//! writer and an acquire by the reader.

use crate::errors::protocol as errors;
use crate::kernel::Kernel;
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::dataflow::{Bits, for_each_instr};
use ptx_dsl_analysis::region::{MAX_REGIONS, Region};
use ptx_dsl_isa::hir::{Instr, Space};
use ptx_dsl_isa::meaning::access::plain_access;
use ptx_dsl_isa::opcode::op;
use ptx_dsl_isa::qualifier::q;

/// The state of a change: not released; released; acquired.
const CHANGED: usize = 0;
const RELEASED: usize = 1;
const SEEN: usize = 2;

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let mut used: Vec<Region> = Vec::new();
    for (_, at, _) in flow.walk() {
        if let Some(r) = kernel.region_of(at, "tensorMap", 128)
            && used.len() < MAX_REGIONS
        {
            used.push(r);
        }
    }
    if used.is_empty() {
        return;
    }
    let mut changed: Vec<(u32, Region)> = Vec::new();
    for (_, at, i) in flow.walk() {
        let target = match i.opcode {
            op::tensormap_replace => kernel.region_of(at, "addr", 128),
            op::tensormap_cp_fenceproxy => kernel.region_of(at, "dst", 128),
            _ => match plain_access(i) {
                Some((arg, true)) => kernel.region(at, arg, i.bytes()),
                _ => None,
            },
        };
        if let Some(r) = target
            && r.space == Space::Global
            && changed.len() < MAX_REGIONS
            && first_hit(flow, &used, &r).is_some()
        {
            changed.push((at, r));
        }
    }
    uses(kernel, &changed);
}

/// The first region that has certainly a byte in common with this one.
fn first_hit(flow: &Flow, list: &[Region], here: &Region) -> Option<usize> {
    for (k, r) in list.iter().enumerate() {
        if r.overlaps(flow, here) {
            return Some(k);
        }
    }
    None
}

/// Uses of a map that was changed.
fn uses(kernel: &Kernel, changed: &[(u32, Region)]) {
    let flow = kernel.flow;
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        for (k, (change, _)) in changed.iter().enumerate() {
            if *change == at {
                let replaced = i.opcode == op::tensormap_cp_fenceproxy;
                set.set_state(3 * k, 3, if replaced { RELEASED } else { CHANGED });
                return;
            }
        }
        if i.opcode == op::call {
            for k in 0..changed.len() {
                set.transition(3 * k + CHANGED, 3 * k + SEEN);
                set.transition(3 * k + RELEASED, 3 * k + SEEN);
            }
        } else if i.has_any(&[q::tensormap_generic]) {
            let of = kernel.region_of(at, "addr", 128);
            for (k, (_, map)) in changed.iter().enumerate() {
                if i.has(q::release) {
                    set.transition(3 * k + CHANGED, 3 * k + RELEASED);
                } else if !matches!(&of, Some(r) if !r.may_overlap(map)) {
                    set.transition(3 * k + RELEASED, 3 * k + SEEN);
                }
            }
        }
    };
    let mut reported = false;
    for_each_instr(&flow.cfg, 3 * changed.len(), &step, &mut |_, at, i, set| {
        let Some(arg) = i.operand("tensorMap") else { return };
        let Some(here) = kernel.region(at, arg, 128) else { return };
        for (k, (change, map)) in changed.iter().enumerate() {
            let fresh = set.has(3 * k + CHANGED);
            let open = (fresh || set.has(3 * k + RELEASED)) && !set.has(3 * k + SEEN);
            if !reported && open && map.overlaps(flow, &here) {
                reported = true;
                kernel.report(errors::map_without_fence(arg.span, flow.instr(*change).span, !fresh));
            }
        }
    });
}
