//! The cells of lines, kept together: most lines have none, and those of a launch go all at once.

use super::packed::Cell;

/// Cells of a line.
pub(super) const CELLS: usize = 16;

/// So many lines have their cells in one piece of memory, which is never moved: there may be hundreds of megabytes of them.
const CHUNK: usize = 256;

type Chunk = Box<[[Cell; CELLS]; CHUNK]>;

#[cold]
fn new_chunk() -> Chunk {
    // on the heap from the start
    let cells = vec![Default::default(); CHUNK].into_boxed_slice();
    cells.try_into().unwrap_or_else(|_| Box::new([Default::default(); CHUNK]))
}

/// The cells of lines, by number from 1 on.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    chunks: Vec<Chunk>,
    /// Numbers so far.
    count: usize,
    /// Numbers without a line.
    free: Vec<u32>,
}

impl Blocks {
    /// Cells without accesses: their number.
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

    /// The cells of a line that has some.
    #[inline]
    pub fn get(&mut self, number: u32) -> &mut [Cell; CELLS] {
        let at = number as usize - 1;
        &mut self.chunks[at / CHUNK][at % CHUNK]
    }

    /// The cells of a line, if it has some.
    #[inline]
    pub fn known(&self, number: u32) -> Option<&[Cell; CELLS]> {
        let at = (number as usize).wrapping_sub(1);
        self.chunks.get(at / CHUNK).map(|chunk| &chunk[at % CHUNK])
    }

    /// The line has no cells any more.
    pub fn remove(&mut self, number: u32) {
        if number != 0 {
            *self.get(number) = Default::default();
            self.free.push(number);
        }
    }

    /// Calls `f` with the numbers of all events.
    pub fn visit(&mut self, f: &mut dyn FnMut(&mut u32)) {
        let all = self.chunks.iter_mut().flat_map(|chunk| chunk.as_flattened_mut());
        all.take(self.count * CELLS).for_each(|cell| cell.visit(f));
    }

    pub fn bytes(&self) -> usize {
        self.chunks.len() * size_of::<[[Cell; CELLS]; CHUNK]>()
    }

    pub fn clear(&mut self) {
        self.count = 0;
        self.free.clear();
    }
}
