//! `tcgen05.commit` makes an mbarrier track the earlier asynchronous operations of its thread (9.7.16.12.1), not later ones.

use crate::errors::tensor as errors;
use crate::kernel::Kernel;
use crate::tensor::tcgen05::ops::{fences_before, has_role};
use ptx_dsl_analysis::Flow;
use ptx_dsl_analysis::cfg::NONE;
use ptx_dsl_analysis::lanes::LaneFact;
use ptx_dsl_analysis::paths::{Paths, Step};
use ptx_dsl_analysis::ssa::UNDEF;
use ptx_dsl_isa::hir::Instr;
use ptx_dsl_isa::isa::Tensor;

type Site = (u32, u32);

pub(crate) fn check(kernel: &Kernel) {
    let flow = kernel.flow;
    let (mut commits, mut operations): (Vec<Site>, Vec<Site>) = (Vec::new(), Vec::new());
    for (block, at, i) in flow.walk() {
        if has_role(i, Tensor::Commit) {
            commits.push((block, at));
        } else if i.entry.effects.tensor.is_operation() {
            operations.push((block, at));
        }
    }
    // Excerpts without any are not checked.
    if commits.is_empty() || operations.is_empty() {
        return;
    }
    if !untracked(kernel, &commits, &operations) {
        nothing_to_track(kernel, &commits, &operations);
    }
}

/// Can `site` run after `from`?
fn follows(flow: &Flow, from: Site, site: Site) -> bool {
    (site.0 == from.0 && site.1 > from.1) || flow.cfg.reachable_from([from.0])[site.0 as usize]
}

/// The sites that instructions of one kind can follow.
struct Reachability {
    /// By block: the last of them in it.
    last: Vec<u32>,
    /// By block: one of them is in it or reachable from it.
    leads: Vec<bool>,
}

impl Reachability {
    fn new(flow: &Flow, of: &dyn Fn(&Instr) -> bool) -> Reachability {
        let mut last = vec![NONE; flow.cfg.blocks.len()];
        for (block, at, i) in flow.walk() {
            if of(i) {
                last[block as usize] = at;
            }
        }
        let leads = flow.cfg.blocks_reaching(flow.cfg.rpo.iter().copied().filter(|b| last[*b as usize] != NONE));
        Reachability { last, leads }
    }

    /// Can one of them run after the site?
    fn can_follow(&self, flow: &Flow, (block, at): Site) -> bool {
        let last = self.last[block as usize];
        let successors = &flow.cfg.blocks[block as usize].succ;
        (last != NONE && last > at) || successors.iter().any(|e| self.leads[e.to as usize])
    }
}

/// Reports an operation without a later commit. Another thread may commit it after fences.
fn untracked(kernel: &Kernel, commits: &[Site], operations: &[Site]) -> bool {
    let flow = kernel.flow;
    let commit = Reachability::new(flow, &|i| has_role(i, Tensor::Commit));
    let fence = Reachability::new(flow, &fences_before);
    let tracked = operations.iter().any(|o| commit.can_follow(flow, *o));
    for &site in operations {
        let tracked_later = commit.can_follow(flow, site) || (tracked && fence.can_follow(flow, site));
        if !tracked_later {
            let early = commits.iter().copied().find(|c| follows(flow, *c, site));
            let operation = flow.instr(site.1);
            kernel.report(errors::untracked(
                operation.span,
                operation.entry.opcode,
                early.map(|c| flow.instr(c.1).span),
            ));
            return true;
        }
    }
    false
}

/// Reports a commit that precedes all operations of each iteration: the first time there is nothing to track.
fn nothing_to_track(kernel: &Kernel, commits: &[Site], operations: &[Site]) {
    let flow = kernel.flow;
    let before = preceded_by(flow, operations);
    for &commit in commits {
        let earlier = before[commit.0 as usize] || operations.iter().any(|o| o.0 == commit.0 && o.1 < commit.1);
        if earlier {
            continue;
        }
        let after = preceded_by(flow, &[commit]);
        let operation = operations.iter().find(|o| after[o.0 as usize] || (o.0 == commit.0 && o.1 > commit.1));
        let Some(&(_, operation)) = operation else { continue };
        if comes_first(kernel, commit, operations) || first_round(kernel, commit.1) {
            kernel.report(errors::nothing_to_track(flow.instr(commit.1).span, flow.instr(operation).span));
            return;
        }
    }
}

/// Does the commit dominate all operations?
fn comes_first(kernel: &Kernel, commit: Site, operations: &[Site]) -> bool {
    let flow = kernel.flow;
    let runs = match flow.guard(commit.1) {
        Some((p, true)) => {
            let elected =
                matches!(kernel.lanes.facts.get(p as usize), Some(LaneFact::Pred(f)) if f.elected[0] != UNDEF);
            elected || operations.iter().all(|o| flow.guard(o.1) == flow.guard(commit.1))
        }
        guard => guard.is_none(),
    };
    let leads = |o: &Site| if o.0 == commit.0 { commit.1 < o.1 } else { flow.cfg.dominates(commit.0, o.0) };
    runs && operations.iter().all(leads)
}

/// Is there a path to the commit without any operation, with consistent conditions? There is none if the commit runs from the
/// second iteration on.
fn first_round(kernel: &Kernel, commit: u32) -> bool {
    let hit = Paths::new(kernel.flow, kernel.lanes).from_entry(&mut |at, i| {
        if at == commit {
            Step::Found
        } else if i.entry.effects.tensor.is_operation() {
            Step::Stop
        } else {
            Step::Go
        }
    });
    hit.is_some()
}

/// By block: does one of the sites come before it, without going round a loop?
fn preceded_by(flow: &Flow, sites: &[Site]) -> Vec<bool> {
    let n = flow.cfg.blocks.len();
    let mut place = vec![NONE; n];
    for (k, &b) in flow.cfg.rpo.iter().enumerate() {
        place[b as usize] = k as u32;
    }
    let mut out = vec![false; n];
    for &b in &flow.cfg.rpo {
        if !out[b as usize] && !sites.iter().any(|s| s.0 == b) {
            continue;
        }
        for e in &flow.cfg.blocks[b as usize].succ {
            if place[e.to as usize] > place[b as usize] {
                out[e.to as usize] = true;
            }
        }
    }
    out
}
