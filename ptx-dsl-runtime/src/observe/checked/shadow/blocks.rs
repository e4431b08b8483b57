//! The words of lines, kept together: most lines have none, and those of a launch go all at once.

use super::packed::ShadowWord;

/// Words of a line.
pub(super) const WORDS: usize = 16;

/// Lines that have their words in one piece of memory, which is never moved: there may be hundreds of megabytes of them.
const CHUNK: usize = 256;

type Chunk = Box<[[ShadowWord; WORDS]; CHUNK]>;

#[cold]
fn new_chunk() -> Chunk {
    // on the heap from the start
    let words = vec![Default::default(); CHUNK].into_boxed_slice();
    words.try_into().unwrap_or_else(|_| Box::new([Default::default(); CHUNK]))
}

/// The words of lines, by number from 1 on.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    chunks: Vec<Chunk>,
    /// Numbers so far.
    count: usize,
    /// Numbers without a line.
    free: Vec<u32>,
}

impl Blocks {
    /// Words without accesses: their number.
    #[inline]
    pub fn add(&mut self) -> u32 {
        if let Some(number) = self.free.pop() {
            return number;
        }
        if self.count == self.chunks.len() * CHUNK {
            self.chunks.push(new_chunk());
        }
        self.count += 1;
        let number = self.count as u32;
        // of an earlier launch
        *self.get(number) = Default::default();
        number
    }

    /// The words of a line that has some.
    #[inline]
    pub fn get(&mut self, number: u32) -> &mut [ShadowWord; WORDS] {
        let at = number as usize - 1;
        &mut self.chunks[at / CHUNK][at % CHUNK]
    }

    /// The words of a line, if it has some.
    #[inline]
    pub fn known(&self, number: u32) -> Option<&[ShadowWord; WORDS]> {
        let at = (number as usize).wrapping_sub(1);
        self.chunks.get(at / CHUNK).map(|chunk| &chunk[at % CHUNK])
    }

    /// The line has no words any more.
    pub fn remove(&mut self, number: u32) {
        if number != 0 {
            *self.get(number) = Default::default();
            self.free.push(number);
        }
    }

    /// Calls `f` with the numbers of all events.
    pub fn visit(&mut self, f: &mut dyn FnMut(&mut u32)) {
        let all = self.chunks.iter_mut().flat_map(|chunk| chunk.as_flattened_mut());
        all.take(self.count * WORDS).for_each(|word| word.visit(f));
    }

    pub fn bytes(&self) -> usize {
        self.chunks.len() * size_of::<[[ShadowWord; WORDS]; CHUNK]>()
    }

    pub fn clear(&mut self) {
        self.count = 0;
        self.free.clear();
    }
}
