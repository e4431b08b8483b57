//! The parts of global memory that asynchronous copies have read since the start of a launch. A large launch reads more and more of them,
//! which an endless loop soon no longer does.

use std::cell::{Cell, RefCell};

/// The least bytes of a part.
const PART: usize = 4096;
/// The most parts of a segment.
const PARTS: usize = 1 << 18;

/// The parts that have been read.
#[derive(Debug, Default)]
pub(crate) struct Visited {
    /// A bit for each part of each segment; empty before the first read.
    segments: RefCell<Vec<Vec<u64>>>,
    /// Whether a part has been read for the first time since the last question.
    new: Cell<bool>,
}

impl Visited {
    /// A copy reads at an offset of a segment of this size.
    #[inline]
    pub fn visit(&self, segment: usize, offset: usize, size: usize) {
        let mut segments = self.segments.borrow_mut();
        if segments.len() <= segment {
            segments.resize_with(segment + 1, Vec::new);
        }
        let (parts, part) = (&mut segments[segment], size.div_ceil(PARTS).next_power_of_two().max(PART));
        if parts.is_empty() {
            parts.resize(size.div_ceil(part).div_ceil(64), 0);
        }
        let number = offset / part;
        if let Some(word) = parts.get_mut(number / 64)
            && *word >> (number % 64) & 1 == 0
        {
            *word |= 1 << (number % 64);
            self.new.set(true);
        }
    }

    /// Whether copies have read a part for the first time since the last question.
    pub fn take_new(&self) -> bool {
        self.new.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_new_once() {
        let visited = Visited::default();
        assert!(!visited.take_new());
        visited.visit(1, 5000, 20_000);
        assert!(visited.take_new() && !visited.take_new());
        visited.visit(1, 8191, 20_000);
        assert!(!visited.take_new(), "the same part");
        visited.visit(1, 8192, 20_000);
        visited.visit(0, 8192, 20_000);
        assert!(visited.take_new());
        // outside, and parts of a large segment
        visited.visit(1, 1 << 40, 20_000);
        visited.visit(2, 1 << 30, 1 << 40);
        assert!(visited.take_new());
        visited.visit(2, (1 << 30) + (1 << 21), 1 << 40);
        assert!(!visited.take_new());
    }
}
