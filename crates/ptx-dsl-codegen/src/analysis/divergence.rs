//! Divergence: the regions between a divergent branch and its post-dominator, and the registers that fragments of a warp could
//! see each other change there. Everything takes time in proportion to the kernel: sets are propagated backward for all branches
//! at once, 64 registers at a time.

use super::liveness::{Liveness, Sparse, reversed};
use crate::instr::cta_barrier;
use crate::region::graph::Program;
use crate::use_def::RegKey;
use std::collections::BTreeSet;

/// The post-dominator tree. The node `n` behind the last region stands for the end of the kernel.
struct PostDominators {
    /// The immediate post-dominator of each region; the region itself if no path from it ends.
    parent: Vec<usize>,
    depth: Vec<usize>,
}

/// The reverse postorder of the reversed graph, from its last node.
fn backward_order(predecessors: &[Vec<usize>]) -> Vec<usize> {
    let end = predecessors.len() - 1;
    let mut seen = vec![false; predecessors.len()];
    let (mut order, mut stack) = (Vec::new(), vec![(end, 0)]);
    seen[end] = true;
    while let Some((r, i)) = stack.last_mut() {
        match predecessors[*r].get(*i) {
            Some(p) => {
                *i += 1;
                if !seen[*p] {
                    seen[*p] = true;
                    stack.push((*p, 0));
                }
            }
            None => {
                order.push(*r);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

impl PostDominators {
    /// Cooper, Harvey and Kennedy: A Simple, Fast Dominance Algorithm.
    fn new(successors: &[Vec<usize>]) -> Self {
        let n = successors.len();
        let mut predecessors = reversed(successors);
        predecessors.push((0..n).filter(|r| successors[*r].is_empty()).collect());
        let order = backward_order(&predecessors);
        let mut position = vec![usize::MAX; n + 1];
        for (i, r) in order.iter().enumerate() {
            position[*r] = i;
        }
        let mut parent: Vec<Option<usize>> = vec![None; n + 1];
        parent[n] = Some(n);
        let intersect = |parent: &[Option<usize>], mut a: usize, mut b: usize| {
            while a != b {
                let deeper = if position[a] > position[b] { &mut a } else { &mut b };
                *deeper = parent[*deeper].unwrap_or(n);
            }
            a
        };
        let mut changed = true;
        while changed {
            changed = false;
            for &r in &order[1..] {
                let next = if successors[r].is_empty() { &[n] } else { successors[r].as_slice() };
                let known = next.iter().copied().filter(|s| parent[*s].is_some());
                let new = known.reduce(|a, b| intersect(&parent, a, b));
                changed |= parent[r] != new;
                parent[r] = new;
            }
        }
        let mut depth = vec![0; n + 1];
        for r in order.iter().skip(1) {
            depth[*r] = depth[parent[*r].unwrap_or(n)] + 1;
        }
        PostDominators { parent: parent.into_iter().enumerate().map(|(r, p)| p.unwrap_or(r)).collect(), depth }
    }
}

/// The regions between each of these branches and its immediate post-dominator, with the regions of the branches.
pub fn divergent_regions(successors: &[Vec<usize>], branches: &[usize]) -> Vec<bool> {
    let mut inside = vec![false; successors.len()];
    if branches.is_empty() {
        return inside;
    }
    let tree = PostDominators::new(successors);
    for &b in branches {
        inside[b] = true;
    }
    // Branches that reconverge nearest to the end come first: what a later branch reaches, and more, is then done already.
    let joins = branches.iter().filter(|b| tree.parent[**b] != **b);
    let order: BTreeSet<(usize, usize)> = joins.map(|b| (tree.depth[tree.parent[*b]], *b)).collect();
    let mut seen = vec![false; successors.len()];
    for (_, b) in order {
        let join = tree.parent[b];
        let mut work = successors[b].clone();
        while let Some(r) = work.pop() {
            if r != join && !seen[r] {
                seen[r] = true;
                inside[r] = true;
                work.extend_from_slice(&successors[r]);
            }
        }
    }
    inside
}

/// Backward propagation to a fixed point: joins into the set of each region the sets of its successors. `stops` are regions that
/// take nothing from theirs.
fn propagate_backward<S: Copy + PartialEq>(
    successors: &[Vec<usize>],
    stops: Option<&[bool]>,
    mut sets: Vec<S>,
    join: fn(S, S) -> S,
) -> Vec<S> {
    let (mut has_back_edge, mut changed) = (false, true);
    while changed {
        changed = false;
        for r in (0..successors.len()).rev() {
            if stops.is_some_and(|stops| stops[r]) {
                continue;
            }
            let set = successors[r].iter().fold(sets[r], |set, s| join(set, sets[*s]));
            has_back_edge |= successors[r].iter().any(|s| *s < r);
            changed |= set != sets[r];
            sets[r] = set;
        }
        // without back edges one pass is enough
        changed &= has_back_edge;
    }
    sets
}

/// The CTA barriers that come first on the paths from a region.
#[derive(Clone, Copy, PartialEq)]
enum FirstBarrier {
    None,
    One(usize),
    Many,
}

impl FirstBarrier {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (FirstBarrier::None, one) | (one, FirstBarrier::None) => one,
            (a, b) if a == b => a,
            _ => FirstBarrier::Many,
        }
    }
}

/// Where CTA barriers reconverge a warp.
pub struct Barriers {
    is_barrier: Vec<bool>,
    first: Vec<FirstBarrier>,
}

impl Barriers {
    pub fn new(p: &Program<'_>, successors: &[Vec<usize>]) -> Self {
        let is_barrier: Vec<bool> = p.regions.iter().map(|r| r.blocking().and_then(cta_barrier).is_some()).collect();
        let own = |(r, is)| if is { FirstBarrier::One(r) } else { FirstBarrier::None };
        let first = is_barrier.iter().copied().enumerate().map(own).collect();
        let first = propagate_backward(successors, Some(&is_barrier), first, FirstBarrier::join);
        Barriers { is_barrier, first }
    }

    /// Does at most one barrier come first on all these paths?
    fn is_one(&self, next: &[usize]) -> bool {
        next.iter().map(|s| self.first[*s]).fold(FirstBarrier::None, FirstBarrier::join) != FirstBarrier::Many
    }

    /// Registers, of those that `is_kept` selects, that are defined on one path from a divergent branch and mentioned on another.
    pub fn shared_by_fragments(
        &self,
        successors: &[Vec<usize>],
        branches: &[usize],
        liveness: &Liveness,
        is_kept: impl Fn(&RegKey) -> bool,
    ) -> BTreeSet<RegKey> {
        // If all paths meet one barrier first, they end there. Since no path meets another, they may end at any.
        let (short, long): (Vec<usize>, Vec<usize>) = branches.iter().partition(|r| self.is_one(&successors[**r]));
        let mut shared = BTreeSet::new();
        for word in 0..liveness.globals.words() {
            let kept = liveness.globals.bits_where(word, &is_kept);
            if kept != 0 {
                let w = Word { successors, liveness, word, kept };
                let found = w.on_two_paths(&short, Some(&self.is_barrier)) | w.on_two_paths(&long, None);
                shared.extend(liveness.globals.keys_of(word, found));
            }
        }
        shared
    }
}

/// 64 registers, of which the `kept` ones count.
struct Word<'a> {
    successors: &'a [Vec<usize>],
    liveness: &'a Liveness,
    word: usize,
    kept: u64,
}

impl Word<'_> {
    fn mark(&self, sets: &mut [u64], sparse: &[Sparse]) {
        for (r, bits) in &sparse[self.word] {
            sets[*r] |= bits & self.kept;
        }
    }

    /// What is defined on one path from one of these branches and mentioned on another, up to `stops`.
    fn on_two_paths(&self, branches: &[usize], stops: Option<&[bool]>) -> u64 {
        if branches.is_empty() {
            return 0;
        }
        let n = self.successors.len();
        let (mut defined, mut mentioned) = (vec![0; n], vec![0; n]);
        self.mark(&mut defined, &self.liveness.globals.defs);
        self.mark(&mut mentioned, &self.liveness.globals.defs);
        self.mark(&mut mentioned, &self.liveness.globals.uses);
        for r in (0..n).filter(|r| stops.is_some_and(|stops| stops[*r])) {
            // behind the barrier each lane reads what its own path has left
            mentioned[r] |= self.liveness.live_in_word(r, self.word) & self.kept;
        }
        let defined = propagate_backward(self.successors, stops, defined, |a, b| a | b);
        let mentioned = propagate_backward(self.successors, stops, mentioned, |a, b| a | b);
        branches.iter().fold(0, |found, r| {
            // a definition is a mention on its own path
            let (mut defs, mut once, mut twice) = (0, 0, 0);
            for &s in &self.successors[*r] {
                defs |= defined[s];
                twice |= once & mentioned[s];
                once |= mentioned[s];
            }
            found | defs & twice
        })
    }
}
