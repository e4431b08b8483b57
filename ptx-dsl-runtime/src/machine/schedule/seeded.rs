//! Pseudo-random decisions from a seed.

use super::{Choice, Scheduler};

/// Pseudo-random decisions from a seed (splitmix64). With an even seed every instruction waits that may wait or not.
#[derive(Debug, Clone, Copy)]
pub struct Seeded {
    state: u64,
    blocks: bool,
    turns: Turns,
}

/// The distribution of the lengths of turns. No choice finds all bugs, so seeds differ in it.
#[derive(Debug, Clone, Copy)]
enum Turns {
    /// A uniform distribution: some threads get far ahead of others.
    Any,
    /// A geometric distribution: the shortest is chosen half of the time, the next one a quarter, and so on.
    Short,
    /// The shortest length always: a random walk.
    Shortest,
}

impl Seeded {
    /// A scheduler whose decisions follow from the seed.
    pub fn new(seed: u64) -> Self {
        let turns = match seed >> 1 & 3 {
            1 => Turns::Shortest,
            3 => Turns::Short,
            _ => Turns::Any,
        };
        Seeded { state: seed, blocks: seed.is_multiple_of(2), turns }
    }
}

impl Scheduler for Seeded {
    fn choose(&mut self, what: Choice, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let last = n.saturating_sub(1);
        if what == Choice::Block && self.blocks {
            return last;
        }
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        match (what, self.turns) {
            (Choice::Quantum, Turns::Shortest) => last,
            (Choice::Quantum, Turns::Short) => last.saturating_sub(z.trailing_zeros() as usize),
            _ => (z % n.max(1) as u64) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ_in_the_lengths_of_turns() {
        let lengths = |seed| {
            let mut random = Seeded::new(seed);
            let mut counts = [0; 8];
            (0..8000).for_each(|_| counts[random.choose(Choice::Quantum, 8)] += 1);
            counts
        };
        for seed in [0, 1, 4, 5, 8] {
            assert!(lengths(seed).iter().all(|n| (800..1200).contains(n)), "{:?}", lengths(seed));
        }
        for seed in [6, 7, 14] {
            let [longest, .., short, shortest] = lengths(seed);
            assert!((3800..4200).contains(&shortest) && (1850..2150).contains(&short), "{:?}", lengths(seed));
            assert!((20..150).contains(&longest), "{:?}", lengths(seed));
        }
        for seed in [2, 3, 10] {
            assert_eq!(lengths(seed), [0, 0, 0, 0, 0, 0, 0, 8000]);
        }
    }
}
