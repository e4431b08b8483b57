//! The parts of writable global memory that have changed since the start of a launch. A large launch changes more and more of them, which
//! an endless loop soon no longer does.
//!
//! Memory is compared seldom, when a launch has run for long. It is divided into parts, and the first bytes of each part are compared with
//! their values at the last look.

use crate::memory::global::Global;

/// The bytes of a part that are compared.
const BYTES: usize = 64;
/// The most parts of a segment.
const PARTS: usize = 1 << 18;

/// A segment at the last look.
#[derive(Debug, Default)]
struct Segment {
    /// The first bytes of each part.
    bytes: Vec<u8>,
    /// Whether each part has changed so far.
    changed: Vec<bool>,
}

/// The contents of writable memory at the last look; empty before the first.
#[derive(Debug, Default)]
pub(crate) struct Written(Vec<Segment>);

impl Written {
    /// Looks at memory. Has a part changed that had not changed before? True at the first look, which has nothing to compare with, and false
    /// where several host threads write.
    pub fn is_new(&mut self, global: &Global<'_>) -> bool {
        if global.is_concurrent() {
            return false;
        }
        let is_first = self.0.is_empty();
        self.0.resize_with(global.segments(), Segment::default);
        let segments = self.0.iter_mut().enumerate().map(|(n, segment)| segment.look(global.writable(n)));
        segments.fold(false, |any, new| any | new) || is_first
    }
}

impl Segment {
    fn look(&mut self, memory: &[u8]) -> bool {
        let size = memory.len().div_ceil(PARTS).next_power_of_two().max(BYTES);
        let parts = memory.chunks(size).map(|part| &part[..part.len().min(BYTES)]);
        if self.changed.is_empty() {
            self.bytes = parts.flatten().copied().collect();
            self.changed = vec![false; memory.len().div_ceil(size)];
            return false;
        }
        let mut new = false;
        for ((part, before), changed) in parts.zip(self.bytes.chunks_mut(BYTES)).zip(&mut self.changed) {
            if !*changed && part != &*before {
                (*changed, new) = (true, true);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_part_is_new_once() {
        let mut memory = vec![0; 1000];
        let mut segment = Segment::default();
        assert!(!segment.look(&memory));
        memory[999] = 1;
        assert!(segment.look(&memory) && !segment.look(&memory));
        memory[990] = 2;
        assert!(!segment.look(&memory), "the same part");
        memory[0] = 1;
        assert!(segment.look(&memory));
        let (mut large, mut segment) = (vec![0; 100 << 20], Segment::default());
        assert!(!segment.look(&large) && segment.bytes.len() <= PARTS * BYTES);
        large[50 << 20..51 << 20].fill(1);
        assert!(segment.look(&large) && !segment.look(&large));
    }
}
