use super::{Choice, Scheduler};

/// Pseudo-random decisions from a seed (splitmix64).
#[derive(Debug, Clone, Copy)]
pub struct Seeded(u64);

impl Seeded {
    /// The same seed gives the same decisions.
    pub fn new(seed: u64) -> Self {
        Seeded(seed)
    }
}

impl Scheduler for Seeded {
    fn choose(&mut self, _: Choice, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % n.max(1) as u64) as usize
    }
}
