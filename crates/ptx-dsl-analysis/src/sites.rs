//! Execution counts of sites: an instruction is executed exactly once by the threads that reach it if every branch up the dominator
//! tree has a predicate that is known for each thread.

use crate::flow::Flow;
use crate::lanes::{LaneFact, Lanes, Uniformity};
use crate::threads::disjoint;
use ptx_dsl_isa::isa::Control;

/// An instruction with its block.
#[derive(Clone, Copy)]
pub struct Site {
    /// The block of the instruction.
    pub block: u32,
    /// The number of the instruction.
    pub at: u32,
}

/// Inserts a site in text order.
pub fn insert_site(list: &mut Vec<Site>, site: Site) {
    let (Ok(k) | Err(k)) = position(list, site.at);
    list.insert(k, site);
}

/// Is the instruction one of these, which are in the order of the text?
pub fn contains_site(list: &[Site], at: u32) -> bool {
    position(list, at).is_ok()
}

fn position(list: &[Site], at: u32) -> Result<usize, usize> {
    list.binary_search_by_key(&at, |s| s.at)
}

/// Is the block on a cycle?
pub fn in_loop(flow: &Flow, block: u32) -> bool {
    flow.cfg.in_loop(block)
}

/// Is one of these in a loop?
pub fn any_in_loop(flow: &Flow, list: &[Site]) -> bool {
    list.iter().any(|s| in_loop(flow, s.block))
}

/// The guard of an instruction, by its value.
pub fn guard(flow: &Flow, at: u32) -> Option<(u32, bool)> {
    let (p, positive) = flow.guard(at)?;
    Some((flow.origin(p), positive))
}

/// Do exactly the reaching threads execute the site, once for each entry? Every branch on the way must have an exactly known
/// predicate.
pub fn executes_exactly(flow: &Flow, lanes: &Lanes, s: Site) -> bool {
    certain(flow, lanes, s, false)
}

/// Do exactly the reaching threads execute the site, once in each iteration of the loops around it?
pub fn executes_every_iteration(flow: &Flow, lanes: &Lanes, s: Site) -> bool {
    certain(flow, lanes, s, true)
}

/// Do exactly the reaching threads execute the site in each iteration, if predicates that are loop invariant count as known?
pub fn executes_invariantly(flow: &Flow, lanes: &Lanes, s: Site) -> bool {
    let steady = |p: u32| {
        let p = flow.origin(p);
        let elected =
            matches!(lanes.facts.get(p as usize), Some(LaneFact::Pred(f)) if f.elected != [crate::ssa::UNDEF; 2]);
        let before = matches!(flow.ssa.maker(p), Some(m) if !in_loop(flow, flow.cfg.block_of(m)));
        exact(flow, lanes, p) || elected || before
    };
    certain_by(flow, s, true, &steady)
}

/// Do all lanes of a warp that come to the site execute it together when they come for the first time? Those that leave a loop do so
/// behind it.
pub fn executes_by_warps_at_first(flow: &Flow, lanes: &Lanes, s: Site) -> bool {
    let of_warp = |at: u32| matches!(flow.guard(at), Some((p, _)) if lanes.uniformity(p) >= Uniformity::Warp);
    if flow.guard(s.at).is_some() && !of_warp(s.at) {
        return false;
    }
    let mut at = s.block;
    loop {
        let up = flow.cfg.idom[at as usize];
        if up == crate::cfg::NONE || up == at {
            return up == at;
        }
        if !flow.cfg.post_dominates(at, up)
            && !flow.cfg.branch(up).is_some_and(|branch| only_edge(flow, up, at, true) && of_warp(branch))
        {
            return false;
        }
        at = up;
    }
}

/// May a value that is the same in a warp, but not in the CTA, decide which warps execute it? An example is a role from shared memory.
pub fn depends_on_warp(flow: &Flow, lanes: &Lanes, s: Site) -> bool {
    let of_warp = |v: u32| lanes.uniformity(v) == Uniformity::Warp;
    let differs = |at: u32| {
        let table = flow.instr(at).entry.effects.control == Control::BranchTable;
        matches!(flow.guard(at), Some((p, _)) if of_warp(p) && !exact(flow, lanes, p))
            || table && flow.ssa.uses(at).iter().any(|(_, v)| of_warp(*v))
    };
    let mut at = s.block;
    let mut found = differs(s.at);
    while !found {
        let up = flow.cfg.idom[at as usize];
        if up == crate::cfg::NONE || up == at {
            break;
        }
        found = !flow.cfg.post_dominates(at, up) && flow.cfg.branch(up).is_some_and(differs);
        at = up;
    }
    found
}

/// Is the value of the predicate known for every thread?
pub fn exact(flow: &Flow, lanes: &Lanes, p: u32) -> bool {
    match lanes.facts.get(flow.origin(p) as usize) {
        Some(LaneFact::Pred(f)) => disjoint(&lanes.sets[usize::from(f.yes)], &lanes.sets[usize::from(f.no)]),
        _ => false,
    }
}

fn certain(flow: &Flow, lanes: &Lanes, s: Site, looped: bool) -> bool {
    certain_by(flow, s, looped, &|p| exact(flow, lanes, p))
}

fn certain_by(flow: &Flow, s: Site, looped: bool, known: &dyn Fn(u32) -> bool) -> bool {
    let known_guard = |at: u32| matches!(flow.guard(at), Some((p, _)) if known(p));
    if flow.guard(s.at).is_some() && !known_guard(s.at) {
        return false;
    }
    // Up the dominator tree. A branch whose region ends before the next block does not matter.
    let mut at = s.block;
    loop {
        let up = flow.cfg.idom[at as usize];
        if up == crate::cfg::NONE {
            return false;
        }
        if up == at {
            return true;
        }
        if !flow.cfg.post_dominates(at, up) {
            let Some(branch) = flow.cfg.branch(up) else { return false };
            if !only_edge(flow, up, at, looped) || !(known_guard(branch) || (looped && leaves(flow, up, at, s.block))) {
                return false;
            }
        }
        at = up;
    }
}

/// Is an edge from `up` the only entry of `at`, back edges aside?
fn only_edge(flow: &Flow, up: u32, at: u32, looped: bool) -> bool {
    let is_edge = flow.cfg.blocks[up as usize].succ.iter().any(|e| e.to == at);
    let enters = |p: u32| !looped || !flow.cfg.dominates(at, p);
    is_edge && flow.cfg.blocks[at as usize].pred.iter().filter(|(p, _)| enters(*p)).count() == 1
}

/// Do the other edges of a branch leave the loop, so that each iteration comes here?
fn leaves(flow: &Flow, branch: u32, at: u32, here: u32) -> bool {
    if !in_loop(flow, branch) || !reaches(flow, here, branch) {
        return false;
    }
    !flow.cfg.blocks[branch as usize].succ.iter().any(|e| e.to != at && reaches(flow, e.to, here))
}

/// Is block `b` reachable from block `a`?
pub fn reaches(flow: &Flow, a: u32, b: u32) -> bool {
    let mut seen = vec![false; flow.cfg.blocks.len()];
    let mut stack = vec![a];
    while let Some(x) = stack.pop() {
        if x == b {
            return true;
        }
        if !std::mem::replace(&mut seen[x as usize], true) {
            flow.cfg.push_successors(x, &mut stack);
        }
    }
    false
}
