//! Which registers are read later, region by region. Only those that cross the border of a region have a number; a set of them
//! is words of 64, and only words that are not 0: large kernels have many registers of which few live in any one place.

use super::mentions::Key;
use std::collections::{BTreeMap, BTreeSet};

/// What happens to 64 registers, by region; regions where nothing does are not there.
pub type Sparse = Vec<(usize, u64)>;

/// Registers that a region reads before it writes them, with what each region does to them.
#[derive(Default)]
pub struct Crossing {
    /// By number.
    pub keys: Vec<Key>,
    numbers: BTreeMap<Key, u32>,
    /// By word: read before they are written, and written.
    pub uses: Vec<Sparse>,
    pub defs: Vec<Sparse>,
}

impl Crossing {
    /// Of what each region reads before it writes it, and what it writes.
    pub fn new(uses: &[BTreeSet<Key>], defs: &[BTreeSet<Key>]) -> Self {
        let keys: Vec<Key> = uses.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let numbers = keys.iter().zip(0..).map(|(k, n)| (*k, n)).collect();
        let (uses, defs) = (sparse(&numbers, uses), sparse(&numbers, defs));
        Crossing { keys, numbers, uses, defs }
    }

    /// The bits of a word whose registers are in a map.
    pub fn bits_in<V>(&self, word: usize, map: &BTreeMap<Key, V>) -> u64 {
        let mut bits = 0;
        for (n, k) in self.keys[word * 64..].iter().take(64).enumerate() {
            bits |= u64::from(map.contains_key(k)) << n;
        }
        bits
    }

    /// Adds the registers of a word whose bits are set.
    pub fn keys_of(&self, word: usize, mut bits: u64, out: &mut BTreeSet<Key>) {
        while bits != 0 {
            out.insert(self.keys[word * 64 + bits.trailing_zeros() as usize]);
            bits &= bits - 1;
        }
    }

    /// Is it in the set?
    pub fn holds(&self, set: &Words, k: &Key) -> bool {
        match self.numbers.get(k) {
            Some(n) => set.word(n / 64) >> (n % 64) & 1 != 0,
            None => false,
        }
    }
}

/// Of sets by region, the registers that have a number.
fn sparse(numbers: &BTreeMap<Key, u32>, sets: &[BTreeSet<Key>]) -> Vec<Sparse> {
    let mut words = vec![Vec::new(); numbers.len().div_ceil(64)];
    for (r, set) in sets.iter().enumerate() {
        for k in set {
            if let Some(n) = numbers.get(k) {
                mark(&mut words[*n as usize / 64], r, 1 << (n % 64));
            }
        }
    }
    words
}

/// One bit more for a region, the last or one behind it.
fn mark(word: &mut Sparse, region: usize, bit: u64) {
    match word.last_mut() {
        Some((last, bits)) if *last == region => *bits |= bit,
        _ => word.push((region, bit)),
    }
}

/// Words that are not 0, in order.
#[derive(Clone, Default)]
pub struct Words(Vec<(u32, u64)>);

impl Words {
    fn word(&self, word: u32) -> u64 {
        match self.0.binary_search_by_key(&word, |w| w.0) {
            Ok(at) => self.0[at].1,
            Err(_) => 0,
        }
    }

    fn put(&mut self, word: usize, bits: u64) {
        if bits != 0 {
            self.0.push((word as u32, bits));
        }
    }
}

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
        let mut lives = Lives { crossing, after: vec![Words::default(); n], before: vec![Words::default(); n] };
        let behind = reversed(next);
        let (mut defs, mut comes, mut goes) = (vec![0; n], vec![0; n], vec![0; n]);
        for word in 0..lives.crossing.uses.len() {
            lives.word(word, &behind, [&mut defs, &mut comes, &mut goes]);
        }
        lives
    }

    /// 64 registers. What each region defines, what is read from it on, and after it: all 0 before and behind.
    fn word(&mut self, word: usize, behind: &[Vec<usize>], [defs, comes, goes]: [&mut [u64]; 3]) {
        let mut todo = BTreeSet::new();
        for (r, bits) in &self.crossing.defs[word] {
            defs[*r] = *bits;
        }
        for (r, bits) in &self.crossing.uses[word] {
            comes[*r] = *bits;
            todo.insert(*r);
        }
        let mut touched = BTreeSet::new();
        // from the last region to the first, so that what goes round in no loop is done once
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
        for r in &touched {
            self.before[*r].put(word, std::mem::take(&mut comes[*r]));
            self.after[*r].put(word, std::mem::take(&mut goes[*r]));
        }
        for (r, _) in &self.crossing.defs[word] {
            defs[*r] = 0;
        }
    }

    /// Is it read from this region on, before it is written?
    pub fn before(&self, region: usize, k: &Key) -> bool {
        region < self.before.len() && self.crossing.holds(&self.before[region], k)
    }

    /// Is it read behind this region?
    pub fn after(&self, region: usize, k: &Key) -> bool {
        region < self.after.len() && self.crossing.holds(&self.after[region], k)
    }

    /// The same for all registers of a word.
    pub fn word_before(&self, region: usize, word: usize) -> u64 {
        self.before[region].word(word as u32)
    }

    /// The registers that are read from the first region on.
    pub fn at_start(&self) -> BTreeSet<Key> {
        let mut out = BTreeSet::new();
        if let Some(Words(words)) = self.before.first() {
            for (word, bits) in words {
                self.crossing.keys_of(*word as usize, *bits, &mut out);
            }
        }
        out
    }
}

/// The regions before each region: `next` the other way.
pub fn reversed(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut behind = vec![Vec::new(); next.len()];
    for (r, next) in next.iter().enumerate() {
        for s in next {
            behind[*s].push(r);
        }
    }
    behind
}
