//! Early exits with allocated Tensor Memory (9.7.16.7.1): a branch by which the whole CTA exits before any `tcgen05.dealloc`.

use crate::errors::tensor as errors;
use crate::kernel::Kernel;
use crate::pending::ends_thread;
use crate::tensor::tcgen05::ops::has_role;
use ptx_dsl_analysis::cfg::Edge;
use ptx_dsl_analysis::ctas::conditions;
use ptx_dsl_analysis::lanes::Uniformity;
use ptx_dsl_analysis::paths::Paths;
use ptx_dsl_analysis::ssa::Val;
use ptx_dsl_isa::isa::Tensor;

/// A branch that is uniform in the CTA.
struct Fork {
    block: u32,
    at: u32,
    condition: Val,
}

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let (mut allocs, mut frees) = (Vec::new(), Vec::new());
    for (block, at, i) in flow.walk() {
        if has_role(i, Tensor::Alloc) {
            allocs.push((block, at));
        } else if has_role(i, Tensor::Dealloc) {
            frees.push((block, at));
        }
    }
    if allocs.is_empty() || frees.is_empty() {
        return;
    }
    let allocated = flow.cfg.reachable_from(allocs.iter().map(|a| a.0));
    let freed = flow.cfg.reachable_from(frees.iter().map(|f| f.0));
    let frees_later = flow.cfg.blocks_reaching(frees.iter().map(|f| f.0));
    let paths = Paths::new(flow, kernel.lanes);
    for &block in &flow.cfg.rpo {
        let Some(at) = flow.cfg.branch(block) else { continue };
        let Some((condition, _)) = flow.guard(at) else { continue };
        let within = |list: &[(u32, u32)]| list.iter().any(|s| s.0 == block);
        if kernel.lanes.uniformity(condition) != Uniformity::Cta
            || freed[block as usize]
            || within(&frees)
            || !(allocated[block as usize] || within(&allocs))
        {
            continue;
        }
        let fork = Fork { block, at, condition };
        let successors = &flow.cfg.blocks[block as usize].succ;
        let goes_on = successors.iter().any(|e| frees_later[e.to as usize]);
        let ends = successors.iter().any(|e| !frees_later[e.to as usize] && ends(kernel, e));
        if goes_on
            && ends
            && let Some((_, alloc)) = allocs.iter().find(|a| reaches(kernel, **a, &fork, &paths))
        {
            kernel.report(errors::leaves_allocated(flow.instr(at).span, flow.instr(*alloc).span));
            return;
        }
    }
}

/// Can the kernel end on this edge, other than by a `trap`?
fn ends(kernel: &Kernel, edge: &Edge) -> bool {
    let cfg = &kernel.flow.cfg;
    if edge.to == cfg.exit {
        return true;
    }
    let mut seen = vec![false; cfg.blocks.len()];
    let mut stack = vec![edge.to];
    while let Some(b) = stack.pop() {
        if std::mem::replace(&mut seen[b as usize], true) {
            continue;
        }
        if cfg.range(b).any(|at| ends_thread(kernel.flow.instr(at))) {
            return true;
        }
        cfg.push_successors(b, &mut stack);
    }
    false
}

/// Is the fork reachable from the allocation, with either outcome?
fn reaches(kernel: &Kernel, alloc: (u32, u32), fork: &Fork, paths: &Paths) -> bool {
    let flow = kernel.flow;
    let follows = alloc.0 == fork.block && alloc.1 < fork.at;
    if !follows && !flow.cfg.reachable_from([alloc.0])[fork.block as usize] {
        return false;
    }
    let common = conditions(flow, fork.block, fork.at);
    let also = |c: &(Val, bool)| c.0 != flow.origin(fork.condition) && common.contains(c);
    conditions(flow, alloc.0, alloc.1).iter().all(|c| also(c) || !paths.related(c.0, fork.condition))
}
