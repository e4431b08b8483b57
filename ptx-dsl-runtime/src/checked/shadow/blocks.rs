//! The cells of lines, kept together: most lines have none, and those of a launch go all at once.

use super::packed::Cell;

/// Cells of a line.
pub(super) const CELLS: usize = 16;

/// The cells of lines, by number from 1 on.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    all: Vec<[Cell; CELLS]>,
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
        self.all.push(Default::default());
        self.all.len() as u32
    }

    /// The cells of a line that has some.
    #[inline]
    pub fn get(&mut self, number: u32) -> &mut [Cell; CELLS] {
        &mut self.all[number as usize - 1]
    }

    /// The cells of a line, if it has some.
    #[inline]
    pub fn known(&self, number: u32) -> Option<&[Cell; CELLS]> {
        self.all.get((number as usize).wrapping_sub(1))
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
        self.all.as_flattened_mut().iter_mut().for_each(|cell| cell.visit(f));
    }

    pub fn clear(&mut self) {
        self.all.clear();
        self.free.clear();
    }
}
