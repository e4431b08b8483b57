//! Liveness of registers across regions: backward data flow over bit vectors, 64 registers at a time.
//!
//! Only registers that a region reads before it writes them have a number. The sets of a region keep their nonzero words alone,
//! because a large kernel has many registers of which few are live at any one place.

use super::region_use_def::RegionUseDef;
use crate::use_def::RegKey;
use ptx_dsl_analysis::divergence::predecessors;
use std::collections::{BTreeMap, BTreeSet};

/// The bits of 64 registers by region, without regions where they are zero.
pub type Sparse = Vec<(usize, u64)>;

/// Registers that are upward exposed in some region, and which regions use and define them.
#[derive(Default)]
pub struct GlobalRegisters {
    /// By number.
    keys: Vec<RegKey>,
    numbers: BTreeMap<RegKey, u32>,
    /// By word.
    pub uses: Vec<Sparse>,
    pub defs: Vec<Sparse>,
}

impl GlobalRegisters {
    pub fn new(regions: &[RegionUseDef]) -> Self {
        let all: BTreeSet<RegKey> = regions.iter().flat_map(|r| &r.uses).copied().collect();
        let keys: Vec<RegKey> = all.into_iter().collect();
        let numbers: BTreeMap<RegKey, u32> = keys.iter().copied().zip(0..).collect();
        let uses = sparse(&numbers, regions.iter().map(|r| &r.uses));
        let defs = sparse(&numbers, regions.iter().map(|r| &r.defs));
        GlobalRegisters { keys, numbers, uses, defs }
    }

    /// How many words a bit vector has.
    pub fn words(&self) -> usize {
        self.uses.len()
    }

    /// The bits of a word whose registers satisfy the predicate.
    pub fn bits_where(&self, word: usize, holds: impl Fn(&RegKey) -> bool) -> u64 {
        let keys = self.keys[word * 64..].iter().take(64).enumerate();
        keys.fold(0, |bits, (n, k)| bits | u64::from(holds(k)) << n)
    }

    /// The registers of a word whose bits are set.
    pub fn keys_of(&self, word: usize, bits: u64) -> impl Iterator<Item = RegKey> {
        (0..64).filter(move |n| bits >> n & 1 != 0).map(move |n| self.keys[word * 64 + n])
    }
}

fn sparse<'a>(numbers: &BTreeMap<RegKey, u32>, sets: impl Iterator<Item = &'a BTreeSet<RegKey>>) -> Vec<Sparse> {
    let mut words = vec![Sparse::new(); numbers.len().div_ceil(64)];
    for (r, set) in sets.enumerate() {
        for n in set.iter().filter_map(|k| numbers.get(k)) {
            let (word, bit) = (&mut words[*n as usize / 64], 1 << (n % 64));
            match word.last_mut() {
                Some((last, bits)) if *last == r => *bits |= bit,
                _ => word.push((r, bit)),
            }
        }
    }
    words
}

/// A set of registers: its nonzero words, in order.
#[derive(Clone, Default)]
struct Words(Vec<(u32, u64)>);

impl Words {
    fn word(&self, word: u32) -> u64 {
        self.0.binary_search_by_key(&word, |w| w.0).map_or(0, |at| self.0[at].1)
    }

    fn push(&mut self, word: usize, bits: u64) {
        if bits != 0 {
            self.0.push((word as u32, bits));
        }
    }
}

/// The registers that are live into and out of each region.
#[derive(Default)]
pub struct Liveness {
    pub globals: GlobalRegisters,
    live_in: Vec<Words>,
    live_out: Vec<Words>,
}

/// One word of the sets of all regions while its fixed point is computed.
struct Solver<'a> {
    predecessors: &'a [Vec<usize>],
    defs: Vec<u64>,
    live_in: Vec<u64>,
    live_out: Vec<u64>,
}

impl Liveness {
    pub fn new(successors: &[Vec<usize>], globals: GlobalRegisters) -> Self {
        let n = successors.len();
        let (live_in, live_out) = (vec![Words::default(); n], vec![Words::default(); n]);
        let mut liveness = Liveness { globals, live_in, live_out };
        let predecessors = predecessors(successors);
        let mut solver =
            Solver { predecessors: &predecessors, defs: vec![0; n], live_in: vec![0; n], live_out: vec![0; n] };
        for word in 0..liveness.globals.words() {
            for r in solver.solve(&liveness.globals.uses[word], &liveness.globals.defs[word]) {
                liveness.live_in[r].push(word, std::mem::take(&mut solver.live_in[r]));
                liveness.live_out[r].push(word, std::mem::take(&mut solver.live_out[r]));
            }
        }
        liveness
    }

    fn contains(&self, sets: &[Words], region: usize, k: &RegKey) -> bool {
        let (Some(set), Some(n)) = (sets.get(region), self.globals.numbers.get(k)) else { return false };
        set.word(n / 64) >> (n % 64) & 1 != 0
    }

    pub fn is_live_in(&self, region: usize, k: &RegKey) -> bool {
        self.contains(&self.live_in, region, k)
    }

    pub fn is_live_out(&self, region: usize, k: &RegKey) -> bool {
        self.contains(&self.live_out, region, k)
    }

    /// A word of the registers that are live into a region.
    pub fn live_in_word(&self, region: usize, word: usize) -> u64 {
        self.live_in[region].word(word as u32)
    }

    /// The registers that are live into the first region: read before they are written.
    pub fn uninitialised(&self) -> BTreeSet<RegKey> {
        let first = self.live_in.first().into_iter().flat_map(|words| &words.0);
        first.flat_map(|(word, bits)| self.globals.keys_of(*word as usize, *bits)).collect()
    }
}

impl Solver<'_> {
    /// Solves one word. All words are zero before; returns the regions where `live_in` or `live_out` may be nonzero now.
    fn solve(&mut self, uses: &Sparse, defs: &Sparse) -> BTreeSet<usize> {
        let mut work = BTreeSet::new();
        for (r, bits) in defs {
            self.defs[*r] = *bits;
        }
        for (r, bits) in uses {
            self.live_in[*r] = *bits;
            work.insert(*r);
        }
        let mut touched = BTreeSet::new();
        // highest number first: without loops each region is visited once
        while let Some(r) = work.pop_last() {
            touched.insert(r);
            for &p in &self.predecessors[r] {
                let new = self.live_in[r] & !self.live_out[p];
                if new != 0 {
                    self.live_out[p] |= new;
                    touched.insert(p);
                    let new = new & !self.defs[p] & !self.live_in[p];
                    if new != 0 {
                        self.live_in[p] |= new;
                        work.insert(p);
                    }
                }
            }
        }
        for (r, _) in defs {
            self.defs[*r] = 0;
        }
        touched
    }
}
