//! Memory that starts at a cache line: a row of 32 elements is in as few lines as it can be.

use std::ops::{Deref, DerefMut};

/// What an allocation consists of.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "read as part of a slice")] [u8; 64]);

/// So many bytes, which are a slice in all but where they start.
#[derive(Debug, Default)]
pub(crate) struct CacheLines {
    lines: Vec<Line>,
    len: usize,
}

impl CacheLines {
    /// Makes it so long. What it holds is then of no use.
    pub fn resize(&mut self, len: usize) {
        self.lines.resize(len.div_ceil(size_of::<Line>()), Line([0; 64]));
        self.len = len;
    }
}

impl Deref for CacheLines {
    type Target = [u8];

    #[inline(always)]
    #[allow(unsafe_code)]
    fn deref(&self) -> &[u8] {
        // SAFETY: there are lines for `len` bytes, and a line is bytes and nothing else.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for CacheLines {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_from_a_line_on() {
        let mut memory = CacheLines::default();
        assert_eq!(*memory, []);
        for len in [1, 64, 100, 3, 4096, 0, 65] {
            memory.resize(len);
            assert_eq!(memory.len(), len);
            assert_eq!(memory.as_ptr().addr() % 64, 0);
            memory.fill(7);
            assert_eq!(*memory, vec![7; len]);
            assert_eq!(memory.get(len), None);
        }
    }
}
