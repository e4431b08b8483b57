//! Where lanes part and where their ways meet again, and which registers that makes lanes. All of it takes time in proportion to
//! the kernel: what lies behind each region is known for all partings at once, for 64 registers at a time.

use super::classes::whole_barrier;
use super::lives::{Lives, Sparse, reversed};
use super::mentions::Key;
use super::native::Shape;
use super::regions::{End, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Reverse postorder from the end, the last of the regions, against the direction of the code.
fn from_the_end(behind: &[Vec<usize>]) -> Vec<usize> {
    let end = behind.len() - 1;
    let mut seen = vec![false; behind.len()];
    let (mut order, mut stack) = (Vec::new(), vec![(end, 0)]);
    seen[end] = true;
    while let Some((r, i)) = stack.last_mut() {
        match behind[*r].get(*i) {
            Some(b) => {
                *i += 1;
                if !seen[*b] {
                    seen[*b] = true;
                    stack.push((*b, 0));
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

/// The region that all ways from each to an end pass next: another, `next.len()` for the end itself, or itself if no way ends.
/// And how many regions all ways pass from there on.
fn meetings(next: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
    let n = next.len();
    let mut behind = reversed(next);
    behind.push((0..n).filter(|r| next[*r].is_empty()).collect::<Vec<_>>());
    let order = from_the_end(&behind);
    let (mut meets, mut depth) = (vec![usize::MAX; n + 1], vec![0; n + 1]);
    meet(next, &order, &mut meets);
    for r in order.iter().skip(1) {
        depth[*r] = depth[meets[*r]] + 1;
    }
    for (r, meet) in meets.iter_mut().enumerate() {
        if *meet == usize::MAX {
            *meet = r;
        }
    }
    (meets, depth)
}

/// Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.
fn meet(next: &[Vec<usize>], order: &[usize], meets: &mut [usize]) {
    let n = next.len();
    let mut place = vec![usize::MAX; n + 1];
    let place = place.as_mut_slice();
    for (i, r) in order.iter().enumerate() {
        place[*r] = i;
    }
    meets[n] = n;
    let mut changed = true;
    while changed {
        changed = false;
        for &r in &order[1..] {
            let ways = if next[r].is_empty() { &[n] } else { next[r].as_slice() };
            let mut new = usize::MAX;
            for &s in ways {
                if meets[s] == usize::MAX {
                    continue;
                }
                let mut other = s;
                if new == usize::MAX {
                    new = s;
                }
                while new != other {
                    if place[new] > place[other] { new = meets[new] } else { other = meets[other] }
                }
            }
            changed |= meets[r] != new;
            meets[r] = new;
        }
    }
}

/// The regions from each parting to where its ways meet.
pub fn zones(next: &[Vec<usize>], parting: &[usize]) -> Vec<bool> {
    let mut inside = vec![false; next.len()];
    if parting.is_empty() {
        return inside;
    }
    let (meets, depth) = meetings(next);
    // Those that meet nearest to the end come first: what another comes by, and more, is then done already.
    let mut order = BTreeSet::new();
    for &b in parting {
        inside[b] = true;
        if meets[b] != b {
            order.insert((depth[meets[b]], b));
        }
    }
    let mut seen = vec![false; next.len()];
    for (_, b) in &order {
        let mut todo = next[*b].clone();
        while let Some(r) = todo.pop() {
            if r != meets[*b] && !seen[r] {
                seen[r] = true;
                inside[r] = true;
                todo.extend_from_slice(&next[r]);
            }
        }
    }
    inside
}

/// Sets at regions that all have what those behind them have, but for what lies behind `stops`: `sets` are those of the
/// regions themselves.
fn behind<S: Copy + PartialEq>(next: &[Vec<usize>], stops: Option<&[bool]>, sets: &mut [S], join: fn(S, S) -> S) {
    let mut back = false;
    let mut changed = true;
    while changed {
        changed = false;
        for r in (0..next.len()).rev() {
            if matches!(stops, Some(stops) if stops[r]) {
                continue;
            }
            let mut set = sets[r];
            for &s in &next[r] {
                set = join(set, sets[s]);
                back |= s < r;
            }
            changed |= set != sets[r];
            sets[r] = set;
        }
        // what lies ahead was done before
        changed &= back;
    }
}

/// The barriers of the whole CTA that come first on the ways from a region.
#[derive(Clone, Copy, PartialEq)]
enum First {
    None,
    One(usize),
    Many,
}

impl First {
    fn and(self, other: First) -> First {
        match (self, other) {
            (First::None, one) | (one, First::None) => one,
            (a, b) if a == b => a,
            _ => First::Many,
        }
    }
}

/// What the regions of a program are for registers that cross their borders where lanes part.
pub struct Partings {
    /// Is the region a barrier of the whole CTA?
    barriers: Vec<bool>,
    first: Vec<First>,
}

impl Partings {
    pub fn new(p: &Program<'_>, next: &[Vec<usize>]) -> Self {
        let (mut barriers, mut first) = (Vec::new(), Vec::new());
        for (n, r) in p.regions.iter().enumerate() {
            let barrier = matches!(&r.end, End::Block { instr, .. } if whole_barrier(instr).is_some());
            barriers.push(barrier);
            first.push(if barrier { First::One(n) } else { First::None });
        }
        behind(next, Some(&barriers), &mut first, First::and);
        Partings { barriers, first }
    }

    /// Do all ways from here come to one barrier first?
    fn one(&self, next: &[usize]) -> bool {
        let mut first = First::None;
        for s in next {
            first = first.and(self.first[*s]);
        }
        first != First::Many
    }

    /// Registers that are defined on one way from one of these partings and mentioned on another, of those that are `rows`.
    pub fn lanes(
        &self,
        next: &[Vec<usize>],
        parting: &[usize],
        lives: &Lives,
        rows: &BTreeMap<Key, Shape>,
    ) -> BTreeSet<Key> {
        // Where all ways come to one barrier first, they end there. As no way comes to another, they may end at any.
        let (mut short, mut long) = (Vec::new(), Vec::new());
        for &r in parting {
            if self.one(&next[r]) { short.push(r) } else { long.push(r) }
        }
        let mut lanes = BTreeSet::new();
        for word in 0..lives.crossing.uses.len() {
            let kept = lives.crossing.bits_in(word, rows);
            if kept != 0 {
                let w = Word { next, lives, word, kept };
                let found = w.on_two_ways(&short, Some(&self.barriers)) | w.on_two_ways(&long, None);
                lives.crossing.keys_of(word, found, &mut lanes);
            }
        }
        lanes
    }
}

/// 64 registers, of which those that are kept count.
struct Word<'a> {
    next: &'a [Vec<usize>],
    lives: &'a Lives,
    word: usize,
    kept: u64,
}

impl Word<'_> {
    fn mark(&self, sets: &mut [u64], sparse: &[Sparse]) {
        for (r, bits) in &sparse[self.word] {
            sets[*r] |= bits & self.kept;
        }
    }

    /// What is defined on one way from one of these partings and mentioned on another, up to `stops`.
    fn on_two_ways(&self, parting: &[usize], stops: Option<&[bool]>) -> u64 {
        if parting.is_empty() {
            return 0;
        }
        let n = self.next.len();
        let (mut defined, mut mentioned) = (vec![0; n], vec![0; n]);
        let (defined, mentioned) = (defined.as_mut_slice(), mentioned.as_mut_slice());
        self.mark(defined, &self.lives.crossing.defs);
        self.mark(mentioned, &self.lives.crossing.defs);
        self.mark(mentioned, &self.lives.crossing.uses);
        if let Some(stops) = stops {
            for r in 0..n {
                // behind the barrier each lane reads what its own way has left
                if stops[r] {
                    mentioned[r] |= self.lives.word_before(r, self.word) & self.kept;
                }
            }
        }
        behind(self.next, stops, defined, |a, b| a | b);
        behind(self.next, stops, mentioned, |a, b| a | b);
        let mut found = 0;
        for &r in parting {
            // what is defined on a way is mentioned there
            let (mut defs, mut once, mut twice) = (0, 0, 0);
            for &s in &self.next[r] {
                defs |= defined[s];
                twice |= once & mentioned[s];
                once |= mentioned[s];
            }
            found |= defs & twice;
        }
        found
    }
}
