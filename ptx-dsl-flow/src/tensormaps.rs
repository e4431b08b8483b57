//! Tensors' maps (PTX ISA 9.7.9.26, 9.7.13.4): copies read them by the tensormap proxy, which sees a change after a release by who
//! made it and an acquire by who uses it.

use super::Flow;
use super::dataflow::{Bits, Meet, simple};
use super::memory::{MOST, Region, bytes, plain, region};
use super::provenance::Provenance;
use crate::errors::protocol as errors;
use ptx_dsl_table::diag::Diagnostic;
use ptx_dsl_table::hir::{Instr, Space};

/// What became of a change: nothing; released; acquired too.
const CHANGED: usize = 0;
const RELEASED: usize = 1;
const SEEN: usize = 2;

pub(super) fn check(flow: &Flow, from: &Provenance, out: &mut Vec<Diagnostic>) {
    let mut used: Vec<Region> = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            if let Some(arg) = i.operand("tensorMap")
                && let Some(r) = region(flow, from, at, arg, 128)
                && used.len() < MOST
            {
                used.push(r);
            }
        },
    );
    if used.is_empty() {
        return;
    }
    let mut changed: Vec<(u32, Region)> = Vec::new();
    flow.walk(
        |_| {},
        |at, i| {
            let target = match i.entry.opcode {
                "tensormap.replace" => i.operand("addr").map(|a| (a, 128)),
                "tensormap.cp_fenceproxy" => i.operand("dst").map(|a| (a, 128)),
                _ => plain(i).filter(|p| p.1).map(|p| (p.0, bytes(i))),
            };
            let Some((arg, size)) = target else { return };
            if let Some(r) = region(flow, from, at, arg, size)
                && r.space == Space::Global
                && used.iter().any(|u| u.meets(flow, &r))
                && changed.len() < MOST
            {
                changed.push((at, r));
            }
        },
    );
    let step = |at: u32, i: &Instr, set: &mut Bits| {
        let become_ = |set: &mut Bits, k: usize, from: usize, to: usize| {
            if set.has(3 * k + from) {
                set.unset(3 * k + from);
                set.set(3 * k + to);
            }
        };
        let all = 0..changed.len();
        if let Some(k) = changed.iter().position(|c| c.0 == at) {
            let state = if i.entry.opcode == "tensormap.cp_fenceproxy" { RELEASED } else { CHANGED };
            (0..3).for_each(|n| set.put(3 * k + n, n == state));
        } else if i.entry.opcode == "call" {
            for k in all {
                become_(set, k, CHANGED, SEEN);
                become_(set, k, RELEASED, SEEN);
            }
        } else if i.spelling.starts_with("fence.proxy.tensormap") {
            let of = i.operand("addr").and_then(|a| region(flow, from, at, a, 128));
            for k in all {
                if i.has(".release") {
                    become_(set, k, CHANGED, RELEASED);
                } else if of.as_ref().is_none_or(|r| r.may_meet(&changed[k].1)) {
                    become_(set, k, RELEASED, SEEN);
                }
            }
        }
    };
    let at_start = simple(&flow.cfg, 3 * changed.len(), Meet::Any, &mut |at, i, s| step(at, i, s));
    for &b in &flow.cfg.rpo {
        let mut set = at_start[b as usize].clone();
        for at in flow.cfg.range(b) {
            let i = flow.cfg.instrs[at as usize];
            if let Some(arg) = i.operand("tensorMap")
                && let Some(here) = region(flow, from, at, arg, 128)
            {
                let open = |k: usize| (set.has(3 * k + CHANGED) || set.has(3 * k + RELEASED)) && !set.has(3 * k + SEEN);
                if let Some(k) = (0..changed.len()).find(|k| open(*k) && changed[*k].1.meets(flow, &here)) {
                    let released = !set.has(3 * k + CHANGED);
                    out.push(errors::map_without_fence(
                        arg.span,
                        flow.cfg.instrs[changed[k].0 as usize].span,
                        released,
                    ));
                    return;
                }
            }
            step(at, i, &mut set);
        }
    }
}
