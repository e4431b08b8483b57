//! Liveness of registers in a graph of blocks or regions: backward data flow over bit vectors, 64 registers at a time.
//!
//! Only registers that a node reads before it writes them have a number. The sets of a node keep their nonzero words alone,
//! because a large kernel has many registers of which few are live at any one place.

use crate::divergence::predecessors;
use crate::use_def::RegKey;
use std::collections::{BTreeMap, BTreeSet};

/// The registers that a node of the graph reads and writes.
#[derive(Default)]
pub struct NodeUseDef {
    /// Upward-exposed uses: what it reads before it writes it.
    pub uses: BTreeSet<RegKey>,
    /// The registers that the node writes in all lanes.
    pub defs: BTreeSet<RegKey>,
}

/// The bits of 64 registers by node, without nodes where they are zero.
pub type Sparse = Vec<(usize, u64)>;

/// Registers that are upward exposed in some node, and which nodes use and define them.
#[derive(Default)]
pub struct GlobalRegisters {
    /// By number.
    keys: Vec<RegKey>,
    numbers: BTreeMap<RegKey, u32>,
    /// The uses of all nodes, by word.
    pub uses: Vec<Sparse>,
    /// The definitions, by word.
    pub defs: Vec<Sparse>,
}

impl GlobalRegisters {
    /// Numbers the registers that some node reads before it writes them.
    pub fn new(nodes: &[NodeUseDef]) -> Self {
        let all: BTreeSet<RegKey> = nodes.iter().flat_map(|r| &r.uses).copied().collect();
        let keys: Vec<RegKey> = all.into_iter().collect();
        let numbers: BTreeMap<RegKey, u32> = keys.iter().copied().zip(0..).collect();
        let uses = sparse(&numbers, nodes.iter().map(|r| &r.uses));
        let defs = sparse(&numbers, nodes.iter().map(|r| &r.defs));
        GlobalRegisters { keys, numbers, uses, defs }
    }

    /// The number of words of a bit vector.
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

/// The registers that are live into and out of each node.
#[derive(Default)]
pub struct Liveness {
    /// The registers that have a number.
    pub globals: GlobalRegisters,
    live_in: Vec<Words>,
    live_out: Vec<Words>,
}

/// One word of the sets of all nodes while its fixed point is computed.
struct Solver<'a> {
    predecessors: &'a [Vec<usize>],
    defs: Vec<u64>,
    live_in: Vec<u64>,
    live_out: Vec<u64>,
}

impl Liveness {
    /// Solves for the sets of all nodes.
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

    fn contains(&self, sets: &[Words], node: usize, k: &RegKey) -> bool {
        let (Some(set), Some(n)) = (sets.get(node), self.globals.numbers.get(k)) else { return false };
        set.word(n / 64) >> (n % 64) & 1 != 0
    }

    /// Is the register live where the node begins?
    pub fn is_live_in(&self, node: usize, k: &RegKey) -> bool {
        self.contains(&self.live_in, node, k)
    }

    /// Is the register live where the node ends?
    pub fn is_live_out(&self, node: usize, k: &RegKey) -> bool {
        self.contains(&self.live_out, node, k)
    }

    /// A word of the registers that are live into a node.
    pub fn live_in_word(&self, node: usize, word: usize) -> u64 {
        self.live_in[node].word(word as u32)
    }

    /// The registers that are live into the first node: read before they are written.
    pub fn uninitialised(&self) -> BTreeSet<RegKey> {
        let first = self.live_in.first().into_iter().flat_map(|words| &words.0);
        first.flat_map(|(word, bits)| self.globals.keys_of(*word as usize, *bits)).collect()
    }
}

impl Solver<'_> {
    /// Solves one word. All words are zero before; returns the nodes where `live_in` or `live_out` may be nonzero now.
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
        // highest number first: without loops each node is visited once
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
