//! Where lanes part and where their ways meet again, and which registers that makes lanes.

use super::classes::{Analysis, Facts, Key, whole_barrier};
use super::regions::{End, Program};
use std::collections::HashSet;

/// The regions from each parting to where its ways meet.
pub fn zones(next: &[Vec<usize>], parting: &[usize]) -> Vec<bool> {
    let mut inside = vec![false; next.len()];
    if parting.is_empty() {
        return inside;
    }
    // what all ways from a region pass, as sets of bits
    let words = next.len().div_ceil(64);
    let mut passed = vec![vec![u64::MAX; words]; next.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for r in (0..next.len()).rev() {
            let mut set = vec![if next[r].is_empty() { 0 } else { u64::MAX }; words];
            for &s in &next[r] {
                set.iter_mut().zip(&passed[s]).for_each(|(a, b)| *a &= b);
            }
            set[r / 64] |= 1 << (r % 64);
            if set != passed[r] {
                passed[r] = set;
                changed = true;
            }
        }
    }
    for &b in parting {
        inside[b] = true;
        let meets = |r: usize| r != b && passed[b][r / 64] >> (r % 64) & 1 != 0;
        let mut seen = HashSet::new();
        let mut todo: Vec<usize> = next[b].clone();
        while let Some(r) = todo.pop() {
            if !meets(r) && seen.insert(r) {
                inside[r] = true;
                todo.extend(&next[r]);
            }
        }
    }
    inside
}

/// All of `from` that can be reached, without what lies behind `stop`.
fn reach(next: &[Vec<usize>], from: usize, stop: Option<usize>) -> HashSet<usize> {
    let mut seen = HashSet::from([from]);
    let mut todo = vec![from];
    while let Some(r) = todo.pop() {
        if Some(r) == stop {
            continue;
        }
        todo.extend(next[r].iter().copied().filter(|s| seen.insert(*s)));
    }
    seen
}

/// The barriers of the whole CTA that come first on the ways from `from`.
fn first_barriers(p: &Program<'_>, next: &[Vec<usize>], from: usize, out: &mut HashSet<usize>) {
    let mut seen = HashSet::from([from]);
    let mut todo = vec![from];
    while let Some(r) = todo.pop() {
        if let End::Block { instr, .. } = &p.regions[r].end
            && whole_barrier(instr).is_some()
        {
            out.insert(r);
            continue;
        }
        todo.extend(next[r].iter().copied().filter(|s| seen.insert(*s)));
    }
}

/// Registers that are defined on one way from a parting and mentioned on the other are no longer rows.
pub fn demote(p: &Program<'_>, next: &[Vec<usize>], facts: &Facts, r: usize, a: &mut Analysis<'_, '_>) {
    let mut barriers = HashSet::new();
    next[r].iter().for_each(|s| first_barriers(p, next, *s, &mut barriers));
    let stop = if barriers.len() == 1 { barriers.into_iter().next() } else { None };
    // Of each way.
    let (mut defined, mut mentioned): (Vec<HashSet<Key>>, Vec<HashSet<Key>>) = Default::default();
    for s in &next[r] {
        let (mut def, mut all) = (HashSet::new(), HashSet::new());
        for way in reach(next, *s, stop) {
            def.extend(&facts.defs[way]);
            all.extend(&facts.defs[way]);
            all.extend(&facts.uses[way]);
        }
        defined.push(def);
        mentioned.push(all);
    }
    for (i, defined) in defined.iter().enumerate() {
        for (_, mentioned) in mentioned.iter().enumerate().filter(|m| m.0 != i) {
            for key in defined {
                if mentioned.contains(key) && a.rows.contains_key(key) {
                    a.lanes.insert(*key);
                }
            }
        }
    }
}
