//! Which registers are read later, region by region. Only those that cross the border of a region have a number; a set of them
//! is words of 64, and only words that are not 0: large kernels have many registers of which few live in any one place.

use super::classes::Key;
use crate::sorted::{Map, Set};
use ptx_dsl_table::list::List;

/// What happens to 64 registers, by region; regions where nothing does are not there.
pub type Sparse = Vec<(usize, u64)>;

/// Registers that a region reads before it writes them, with what each region does to them.
#[derive(Default)]
pub struct Crossing {
    /// By number.
    pub keys: Vec<Key>,
    numbers: Map<Key, u32>,
    /// By word: read before they are written, and written.
    pub uses: Vec<Sparse>,
    pub defs: Vec<Sparse>,
}

impl Crossing {
    /// Of what each region reads before it writes it, and what it writes.
    pub fn new(uses: &[Set<Key>], defs: &[Set<Key>]) -> Self {
        let mut all = Set::new();
        for set in uses {
            all.extend(set.iter().copied());
        }
        let keys = all.into_iter().list();
        let numbers: Map<Key, u32> = keys.iter().zip(0..).map(|(k, n)| (*k, n)).collect();
        let sparse = |sets: &[Set<Key>]| {
            let mut words: Vec<Sparse> = vec![Vec::new(); keys.len().div_ceil(64)];
            for (r, set) in sets.iter().enumerate() {
                for n in set.iter().filter_map(|k| numbers.get(k)) {
                    let word = &mut words[*n as usize / 64];
                    if word.last().is_none_or(|last| last.0 != r) {
                        word.push((r, 0));
                    }
                    if let Some((_, bits)) = word.last_mut() {
                        *bits |= 1 << (n % 64);
                    }
                }
            }
            words
        };
        let (uses, defs) = (sparse(uses), sparse(defs));
        Crossing { keys, numbers, uses, defs }
    }

    /// The registers of a word whose bits are set.
    pub fn keys_of(&self, word: usize, bits: u64) -> impl Iterator<Item = Key> {
        let keys = self.keys.iter().skip(word * 64).take(64).enumerate();
        keys.filter(move |(n, _)| bits >> n & 1 != 0).map(|(_, k)| *k)
    }

    /// Is it in the set?
    pub fn holds(&self, set: &Words, k: &Key) -> bool {
        let Some(n) = self.numbers.get(k) else { return false };
        let at = set.0.binary_search_by_key(&(n / 64), |w| w.0);
        at.is_ok_and(|at| set.0[at].1 >> (n % 64) & 1 != 0)
    }
}

/// Words that are not 0, in order.
#[derive(Clone, Default)]
pub struct Words(Vec<(u32, u64)>);

/// What is read after each region, and from each on.
#[derive(Default)]
pub struct Lives {
    pub crossing: Crossing,
    after: Vec<Words>,
    before: Vec<Words>,
}

impl Lives {
    /// `next`: where each region can go on.
    pub fn new(next: &[Vec<usize>], crossing: Crossing) -> Self {
        let n = next.len();
        let (mut after, mut before) = (vec![Words::default(); n], vec![Words::default(); n]);
        let mut behind = vec![Vec::new(); n];
        for (r, next) in next.iter().enumerate() {
            next.iter().for_each(|s| behind[*s].push(r));
        }
        let (mut defs, mut comes, mut goes) = (vec![0u64; n], vec![0u64; n], vec![0u64; n]);
        for word in 0..crossing.uses.len() {
            crossing.defs[word].iter().for_each(|(r, bits)| defs[*r] = *bits);
            crossing.uses[word].iter().for_each(|(r, bits)| comes[*r] = *bits);
            // from the last region to the first, so that what goes round in no loop is done once
            let mut todo: Set<usize> = crossing.uses[word].iter().map(|(r, _)| *r).collect();
            let mut touched = Set::new();
            while let Some(r) = todo.pop_last() {
                touched.insert(r);
                for &b in &behind[r] {
                    let new = comes[r] & !goes[b];
                    if new != 0 {
                        goes[b] |= new;
                        touched.insert(b);
                        if new & !defs[b] & !comes[b] != 0 {
                            comes[b] |= new & !defs[b];
                            todo.insert(b);
                        }
                    }
                }
            }
            for r in touched {
                for (set, bits) in [(&mut before[r], &mut comes[r]), (&mut after[r], &mut goes[r])] {
                    if *bits != 0 {
                        set.0.push((word as u32, std::mem::take(bits)));
                    }
                }
            }
            crossing.defs[word].iter().for_each(|(r, _)| defs[*r] = 0);
        }
        Lives { crossing, after, before }
    }

    /// Is it read from this region on, before it is written?
    pub fn before(&self, region: usize, k: &Key) -> bool {
        self.before.get(region).is_some_and(|set| self.crossing.holds(set, k))
    }

    /// Is it read behind this region?
    pub fn after(&self, region: usize, k: &Key) -> bool {
        self.after.get(region).is_some_and(|set| self.crossing.holds(set, k))
    }

    /// The same for all registers of a word.
    pub fn word_before(&self, region: usize, word: usize) -> u64 {
        let Some(Words(words)) = self.before.get(region) else { return 0 };
        words.binary_search_by_key(&(word as u32), |w| w.0).map_or(0, |at| words[at].1)
    }

    /// The registers that are read from this region on.
    pub fn all_before(&self, region: usize) -> Set<Key> {
        let words = self.before.get(region).into_iter().flat_map(|set| &set.0);
        words.flat_map(|(word, bits)| self.crossing.keys_of(*word as usize, *bits)).collect()
    }
}
