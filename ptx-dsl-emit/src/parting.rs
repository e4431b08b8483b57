//! Where lanes part and where their ways meet again, and which registers that makes lanes. All of it takes time in proportion to
//! the kernel: what lies behind each region is known for all partings at once, for 64 registers at a time.

use super::classes::{Key, whole_barrier};
use super::lives::{Lives, Sparse};
use super::regions::{End, Program};
use crate::sorted::Set;
use ptx_dsl_table::list::List;

/// The region that all ways from each to an end pass next: another, `next.len()` for the end itself, or itself if no way ends.
/// And how many regions all ways pass from there on.
fn meetings(next: &[Vec<usize>]) -> (Vec<usize>, Vec<usize>) {
    let n = next.len();
    let mut behind = vec![Vec::new(); n + 1];
    for (r, next) in next.iter().enumerate() {
        next.iter().for_each(|s| behind[*s].push(r));
        if next.is_empty() {
            behind[n].push(r);
        }
    }
    // reverse postorder from the end, against the direction of the code
    let mut state = vec![false; n + 1];
    let (mut order, mut stack) = (Vec::new(), vec![(n, 0)]);
    state[n] = true;
    while let Some((r, i)) = stack.last_mut() {
        match behind[*r].get(*i) {
            Some(b) => {
                *i += 1;
                if !std::mem::replace(&mut state[*b], true) {
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
    let mut place = vec![usize::MAX; n + 1];
    order.iter().enumerate().for_each(|(i, r)| place[*r] = i);
    // Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm
    let mut meets: Vec<usize> = vec![usize::MAX; n + 1];
    meets[n] = n;
    let mut changed = true;
    while changed {
        changed = false;
        for &r in order.iter().skip(1) {
            let ways = if next[r].is_empty() { &[n][..] } else { &next[r] };
            let mut new = usize::MAX;
            for &s in ways.iter().filter(|s| meets[**s] != usize::MAX) {
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
    let mut depth = vec![0; n + 1];
    order.iter().skip(1).for_each(|r| depth[*r] = depth[meets[*r]] + 1);
    (0..n).for_each(|r| meets[r] = if meets[r] == usize::MAX { r } else { meets[r] });
    (meets, depth)
}

/// The regions from each parting to where its ways meet.
pub fn zones(next: &[Vec<usize>], parting: &[usize]) -> Vec<bool> {
    let mut inside = vec![false; next.len()];
    if parting.is_empty() {
        return inside;
    }
    let (meets, depth) = meetings(next);
    parting.iter().for_each(|b| inside[*b] = true);
    // Those that meet nearest to the end come first: what another comes by, and more, is then done already.
    let order: Set<_> = parting.iter().filter(|b| meets[**b] != **b).map(|b| (depth[meets[*b]], *b)).collect();
    let mut seen = vec![false; next.len()];
    for (_, b) in order {
        let mut todo: Vec<usize> = next[b].clone();
        while let Some(r) = todo.pop() {
            if r != meets[b] && !std::mem::replace(&mut seen[r], true) {
                inside[r] = true;
                todo.extend(&next[r]);
            }
        }
    }
    inside
}

/// Sets at regions that all have what those behind them have, but for what lies behind `stops`: `sets` are those of the
/// regions themselves.
fn behind<S: Copy + PartialEq>(
    next: &[Vec<usize>],
    stops: impl Fn(usize) -> bool,
    mut sets: Vec<S>,
    join: impl Fn(S, S) -> S,
) -> Vec<S> {
    let loops = next.iter().enumerate().any(|(r, next)| next.iter().any(|s| *s < r));
    let mut changed = true;
    while changed {
        changed = false;
        for r in (0..next.len()).rev().filter(|r| !stops(*r)) {
            let set = next[r].iter().fold(sets[r], |set, s| join(set, sets[*s]));
            changed |= loops && set != sets[r];
            sets[r] = set;
        }
    }
    sets
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
        let barrier = |end: &End<'_>| matches!(end, End::Block { instr, .. } if whole_barrier(instr).is_some());
        let barriers = p.regions.iter().map(|r| barrier(&r.end)).list();
        let own = barriers.iter().enumerate().map(|(r, b)| if *b { First::One(r) } else { First::None });
        let first = behind(next, |r| barriers[r], own.list(), First::and);
        Partings { barriers, first }
    }

    /// Registers that are defined on one way from one of these partings and mentioned on another, of those that are `rows`.
    pub fn lanes(
        &self,
        next: &[Vec<usize>],
        parting: &[usize],
        lives: &Lives,
        rows: impl Fn(&Key) -> bool,
    ) -> Vec<Key> {
        // Where all ways come to one barrier first, they end there. As no way comes to another, they may end at any.
        let one = |r: usize| next[r].iter().fold(First::None, |f, s| f.and(self.first[*s])) != First::Many;
        let (short, long): (Vec<usize>, Vec<usize>) = parting.iter().partition(|r| one(**r));
        let crossing = &lives.crossing;
        let mut lanes = Vec::new();
        for word in 0..crossing.uses.len() {
            let mut kept = 0;
            for (n, k) in crossing.keys.iter().skip(word * 64).take(64).enumerate() {
                kept |= u64::from(rows(k)) << n;
            }
            if kept == 0 {
                continue;
            }
            let dense = |lists: &[&Sparse]| {
                let mut sets = vec![0; next.len()];
                lists.iter().copied().flatten().for_each(|(r, bits)| sets[*r] |= bits & kept);
                sets
            };
            let mut found = 0;
            for (parting, stop) in [(&short, true), (&long, false)] {
                if parting.is_empty() {
                    continue;
                }
                let stops = |r: usize| stop && self.barriers[r];
                let defined = behind(next, stops, dense(&[&crossing.defs[word]]), |a, b| a | b);
                let mut mentions = dense(&[&crossing.defs[word], &crossing.uses[word]]);
                // behind the barrier each lane reads what its own way has left
                for (r, mentions) in mentions.iter_mut().enumerate().filter(|(r, _)| stops(*r)) {
                    *mentions |= lives.word_before(r, word) & kept;
                }
                let mentioned = behind(next, stops, mentions, |a, b| a | b);
                for &r in parting {
                    // what is defined on a way is mentioned there
                    let (mut defs, mut once, mut twice) = (0, 0, 0);
                    for &s in &next[r] {
                        defs |= defined[s];
                        twice |= once & mentioned[s];
                        once |= mentioned[s];
                    }
                    found |= defs & twice;
                }
            }
            lanes.extend(crossing.keys_of(word, found));
        }
        lanes
    }
}
