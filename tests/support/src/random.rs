//! Pseudo-random numbers from a seed.
//!
//! Every test, bench and oracle draws from this generator. The operands of `tests/hardware`, whose results are those of a GPU, are drawn
//! from it too: another sequence would make these results useless.

/// A type of integers that a generator draws, none of them negative.
pub trait Number: Copy {
    /// The number as 64 bits.
    fn to_u64(self) -> u64;
    /// A number that the type has.
    fn from_u64(number: u64) -> Self;
}

macro_rules! numbers {
    ($($ty:ty)*) => {
        $(impl Number for $ty {
            fn to_u64(self) -> u64 {
                self as u64
            }
            fn from_u64(number: u64) -> Self {
                number as $ty
            }
        })*
    };
}

numbers!(u32 u64 usize i32 i64);

/// A SplitMix64 generator (Steele, Lea and Flood).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed. Streams of neighbouring seeds have nothing in common.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66_D1CE_4E5B)
    }

    /// Starts from a state, as the published algorithm does.
    pub fn from_state(state: u64) -> Random {
        Random(state)
    }

    /// The next number: all 64 bits are random.
    #[allow(clippy::should_implement_trait, reason = "the stream never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number of 32 bits.
    pub fn word(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    /// A number from 0 below `end`; 0 if `end` is 0.
    pub fn below<N: Number>(&mut self, end: N) -> N {
        let end = end.to_u64();
        N::from_u64(if end == 0 { 0 } else { self.next() % end })
    }

    /// Is it one case in `n`?
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// An element of a list; none if the list is empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }

    /// A copy of an element of a list.
    ///
    /// # Panics
    /// When the list is empty.
    pub fn choose<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Puts a list in random order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        (1..list.len()).rev().for_each(|i| list.swap(i, self.below(i + 1)));
    }

    /// Keeps `keep` elements of a list, chosen evenly, in their order.
    pub fn thin<T>(&mut self, list: &mut Vec<T>, keep: usize) {
        let (mut left, mut wanted) = (list.len(), keep);
        list.retain(|_| {
            let take = self.below(left) < wanted;
            left -= 1;
            wanted -= usize::from(take);
            take
        });
    }
}
