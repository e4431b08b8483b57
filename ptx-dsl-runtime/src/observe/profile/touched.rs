//! The sectors of global memory that a launch touches. Each of them moves between DRAM and the GPU at least once, whatever caches hold.

use ptx_dsl_isa::meaning::memory_pipeline::SECTOR;
use rustc_hash::FxHashMap;

/// Words of a bitmap, of 64 sectors each: a page is a MiB.
const WORDS: u64 = 512;
/// Sectors of a page.
const SECTORS: u64 = 64 * WORDS;

/// The sectors of a page that were read before anything in them was written, and those that were written.
#[derive(Debug)]
struct Page {
    read: Box<[u64; WORDS as usize]>,
    written: Box<[u64; WORDS as usize]>,
}

/// The sectors of a launch.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// The places of pages in `all`, by segment and number.
    numbers: FxHashMap<(usize, u64), usize>,
    all: Vec<Page>,
    /// The page of the last access.
    last: Option<((usize, u64), usize)>,
}

impl Touched {
    /// Bytes at this offset of a segment are read or written.
    pub fn access(&mut self, segment: usize, from: u64, bytes: u64, write: bool) {
        let (mut sector, end) = (from / SECTOR, (from + bytes).div_ceil(SECTOR));
        while sector < end {
            let word = sector % SECTORS / 64;
            let in_word = (64 - sector % 64).min(end - sector);
            let bits = u64::MAX >> (64 - in_word) << (sector % 64);
            let page = self.page(segment, sector / SECTORS);
            match write {
                true => page.written[word as usize] |= bits,
                false => page.read[word as usize] |= bits & !page.written[word as usize],
            }
            sector += in_word;
        }
    }

    fn page(&mut self, segment: usize, number: u64) -> &mut Page {
        let key = (segment, number);
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => {
                let new = self.all.len();
                let place = *self.numbers.entry(key).or_insert(new);
                if place == new {
                    self.all.push(Page { read: Box::new([0; WORDS as usize]), written: Box::new([0; WORDS as usize]) });
                }
                self.last = Some((key, place));
                place
            }
        };
        &mut self.all[place]
    }

    /// Bytes of the sectors that were read, and of those that were written.
    pub fn bytes(&self) -> [u64; 2] {
        let count = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        let (read, written) =
            self.all.iter().fold((0, 0), |(r, w), page| (r + count(&page.read[..]), w + count(&page.written[..])));
        [read * SECTOR, written * SECTOR]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sector_counts_once() {
        let mut touched = Touched::default();
        touched.access(0, 0, 4096, false);
        touched.access(0, 64, 4, false);
        // of 2 sectors one byte each
        touched.access(0, 1_000_031, 2, true);
        // what the launch itself has written is in a cache
        touched.access(0, 1_000_031, 2, false);
        touched.access(1, 0, 32, false);
        assert_eq!(touched.bytes(), [4096 + 32, 64]);
        // across pages
        let mut touched = Touched::default();
        touched.access(3, 32 * SECTORS - 48, 400_000, true);
        assert_eq!(touched.bytes(), [0, 400_032]);
    }
}
