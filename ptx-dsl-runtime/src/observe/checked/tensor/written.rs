//! The words of Tensor Memory that are written.

use crate::memory::tmem::{COLUMNS, LANES};
use std::ops::Range;

/// The words of Tensor Memory that are written since they were allocated.
#[derive(Debug, Default)]
pub(super) struct WrittenWords {
    /// A bit for each column, by lane; empty before the first write.
    columns: Vec<[u64; COLUMNS / 64]>,
}

/// The words of a lane's bits with those of a range of columns.
fn words(columns: &Range<usize>) -> impl Iterator<Item = (usize, u64)> + use<> {
    let (from, to) = (columns.start.min(COLUMNS), columns.end.min(COLUMNS));
    (from / 64..to.div_ceil(64)).map(move |word| {
        let (low, high) = (from.max(word * 64) - word * 64, to.min(word * 64 + 64) - word * 64);
        (word, if low < high { u64::MAX >> (64 - (high - low)) << low } else { 0 })
    })
}

impl WrittenWords {
    /// Marks words as written.
    pub fn mark(&mut self, lanes: &Range<usize>, columns: &Range<usize>) {
        if self.columns.is_empty() {
            self.columns = vec![[0; COLUMNS / 64]; LANES];
        }
        for lane in self.columns.get_mut(lanes.clone()).into_iter().flatten() {
            words(columns).for_each(|(word, bits)| lane[word] |= bits);
        }
    }

    /// Forgets columns, which are free.
    pub fn forget(&mut self, columns: &Range<usize>) {
        for lane in &mut self.columns {
            words(columns).for_each(|(word, bits)| lane[word] &= !bits);
        }
    }

    /// Is any of these words written? A rectangle may have gaps that nobody reads.
    pub fn has_any(&self, lanes: &Range<usize>, columns: &Range<usize>) -> bool {
        let mut lanes = self.columns.get(lanes.clone()).into_iter().flatten();
        lanes.any(|lane| words(columns).any(|(word, bits)| lane[word] & bits != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_written_until_their_columns_are_free() {
        let mut written = WrittenWords::default();
        assert!(!written.has_any(&(0..LANES), &(0..COLUMNS)));
        written.mark(&(32..64), &(60..70));
        assert!(written.has_any(&(63..65), &(69..100)) && written.has_any(&(0..LANES), &(0..61)));
        assert!(!written.has_any(&(64..LANES), &(0..COLUMNS)) && !written.has_any(&(0..LANES), &(0..60)));
        written.forget(&(32..64));
        assert!(!written.has_any(&(32..64), &(0..64)) && written.has_any(&(32..64), &(64..65)));
        // lanes that do not exist are reported elsewhere
        assert!(!written.has_any(&(100..200), &(64..65)));
    }
}
