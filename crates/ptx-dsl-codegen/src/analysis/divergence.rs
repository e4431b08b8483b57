//! Registers that fragments of a diverged warp could see each other change: those that are defined on one path from a divergent branch
//! and mentioned on another. Bit vectors are propagated backward for all branches at once, 64 registers at a time.

use ptx_dsl_analysis::liveness::{Liveness, Sparse};
use ptx_dsl_analysis::use_def::RegKey;
use ptx_dsl_image::instr::cta_barrier;
use ptx_dsl_image::region::graph::Program;
use std::collections::BTreeSet;

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

/// The CTA barriers that reconverge a warp.
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

    /// The registers that are defined on one path from one of these branches and mentioned on another, up to `stops`.
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
            // after the barrier each lane reads what its own path has left
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
