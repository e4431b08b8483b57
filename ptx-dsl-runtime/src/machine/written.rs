//! The parts of writable global memory that have changed since the start of a launch. A large launch changes more and more of them, which
//! an endless loop soon no longer does.
//!
//! Memory is compared seldom, when a launch has run for long. It is divided into parts, and the first bytes of each part are compared with
//! their values at the last look.

use crate::memory::atomic_bytes;
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
pub(crate) struct WrittenParts(Vec<Segment>);

impl WrittenParts {
    /// Looks at memory. Has a part changed that had not changed before? True at the first look, which has nothing to compare with.
    pub fn is_new(&mut self, global: &Global<'_>) -> bool {
        let is_first = self.0.is_empty();
        self.0.resize_with(global.segments(), Segment::default);
        let segments = self.0.iter_mut().enumerate().map(|(n, segment)| {
            let shared = global.concurrent_segment(n);
            if shared.is_empty() {
                let memory = global.writable(n);
                segment.look(memory.len(), |at, to| to.copy_from_slice(&memory[at..at + to.len()]))
            } else {
                segment.look(shared.len(), |at, to| atomic_bytes::copy_in(&shared[at..at + to.len()], to))
            }
        });
        segments.fold(false, |any, new| any | new) || is_first
    }
}

impl Segment {
    /// Looks at memory of `len` bytes, of which `read` copies those at an offset.
    fn look(&mut self, len: usize, read: impl Fn(usize, &mut [u8])) -> bool {
        let size = len.div_ceil(PARTS).next_power_of_two().max(BYTES);
        let parts = (0..len).step_by(size).map(|at| (at, (len - at).min(BYTES)));
        if self.changed.is_empty() {
            self.bytes = vec![0; parts.clone().map(|(_, len)| len).sum()];
            for ((at, _), bytes) in parts.zip(self.bytes.chunks_mut(BYTES)) {
                read(at, bytes);
            }
            self.changed = vec![false; len.div_ceil(size)];
            return false;
        }
        let mut new = false;
        for (((at, len), before), changed) in parts.zip(self.bytes.chunks(BYTES)).zip(&mut self.changed) {
            let mut part = [0; BYTES];
            read(at, &mut part[..len]);
            if !*changed && part[..len] != *before {
                (*changed, new) = (true, true);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(segment: &mut Segment, memory: &[u8]) -> bool {
        segment.look(memory.len(), |at, to| to.copy_from_slice(&memory[at..at + to.len()]))
    }

    #[test]
    fn a_change_of_a_part_is_new_once() {
        let mut memory = vec![0; 1000];
        let mut segment = Segment::default();
        assert!(!look(&mut segment, &memory));
        memory[999] = 1;
        assert!(look(&mut segment, &memory) && !look(&mut segment, &memory));
        memory[990] = 2;
        assert!(!look(&mut segment, &memory), "the same part");
        memory[0] = 1;
        assert!(look(&mut segment, &memory));
        let (mut large, mut segment) = (vec![0; 100 << 20], Segment::default());
        assert!(!look(&mut segment, &large) && segment.bytes.len() <= PARTS * BYTES);
        large[50 << 20..51 << 20].fill(1);
        assert!(look(&mut segment, &large) && !look(&mut segment, &large));
    }
}
