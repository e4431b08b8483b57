//! Sets of lines of a small memory.

/// Lines, a bit each.
#[derive(Debug, Default)]
pub(super) struct Lines(Vec<u64>);

impl Lines {
    /// The words of a range, with their bits.
    #[inline]
    fn words((from, to): (u64, u64)) -> impl Iterator<Item = (usize, u64)> {
        let words = if from < to { from / 64..to.div_ceil(64) } else { 0..0 };
        words.map(move |word| {
            let (low, high) = (from.max(word * 64) - word * 64, to.min(word * 64 + 64) - word * 64);
            (word as usize, u64::MAX >> (64 - (high - low)) << low)
        })
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub fn has_all(&self, range: (u64, u64)) -> bool {
        Lines::words(range).all(|(word, bits)| self.0.get(word).is_some_and(|has| has & bits == bits))
    }

    #[inline]
    pub fn has_any(&self, range: (u64, u64)) -> bool {
        Lines::words(range).any(|(word, bits)| self.0.get(word).is_some_and(|has| has & bits != 0))
    }

    #[inline]
    pub fn insert(&mut self, range: (u64, u64)) {
        if range.0 >= range.1 {
            return;
        }
        let words = range.1.div_ceil(64) as usize;
        if self.0.len() < words {
            self.0.resize(words, 0);
        }
        Lines::words(range).for_each(|(word, bits)| self.0[word] |= bits);
    }

    #[inline]
    pub fn remove(&mut self, range: (u64, u64)) {
        for (word, bits) in Lines::words(range) {
            if let Some(has) = self.0.get_mut(word) {
                *has &= !bits;
            }
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn append(&mut self, other: &mut Lines) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| *to |= from);
        other.clear();
    }

    pub fn remove_all(&mut self, other: &Lines) {
        self.0.iter_mut().zip(&other.0).for_each(|(from, bits)| *from &= !bits);
    }

    /// Adds all that another one has and a third one has not.
    pub fn add_but(&mut self, other: &Lines, but: &Lines) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let but = but.0.iter().copied().chain(std::iter::repeat(0));
        self.0.iter_mut().zip(&other.0).zip(but).for_each(|((to, from), but)| *to |= from & !but);
    }

    /// Removes some lines, and adds those that were there to others.
    #[inline]
    pub fn give(&mut self, range: (u64, u64), others: &mut Lines) {
        if others.0.len() < self.0.len() {
            others.0.resize(self.0.len(), 0);
        }
        for (word, bits) in Lines::words(range) {
            if let Some((from, to)) = self.0.get_mut(word).zip(others.0.get_mut(word)) {
                *to |= *from & bits;
                *from &= !bits;
            }
        }
    }

    /// Removes them all, and adds to others those for which `f` holds.
    pub fn move_to(&mut self, others: &mut Lines, f: &mut impl FnMut(u64) -> bool) {
        if others.0.len() < self.0.len() {
            others.0.resize(self.0.len(), 0);
        }
        for ((word, from), to) in (0..).zip(&self.0).zip(&mut others.0) {
            let mut rest = *from;
            while rest != 0 {
                let bit = rest & rest.wrapping_neg();
                rest ^= bit;
                *to |= if f(word * 64 + u64::from(bit.trailing_zeros())) { bit } else { 0 };
            }
        }
        self.0.clear();
    }

    /// Calls `f` with each of them, and removes them.
    pub fn take(&mut self, mut f: impl FnMut(u64)) {
        for (word, bits) in (0..).zip(&mut self.0) {
            while *bits != 0 {
                f(word * 64 + u64::from(bits.trailing_zeros()));
                *bits &= *bits - 1;
            }
        }
        self.0.clear();
    }
}
