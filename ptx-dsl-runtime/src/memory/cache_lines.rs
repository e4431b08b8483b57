//! Memory aligned to cache lines, so that an aligned row of 32 elements touches as few lines as possible.

use std::ops::{Deref, DerefMut};

/// The unit of allocation.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct CacheLine(#[expect(dead_code, reason = "read as part of a slice")] [u8; 64]);

/// Bytes with cache line alignment.
#[derive(Debug, Default)]
pub(crate) struct CacheLines {
    lines: Vec<CacheLine>,
    len: usize,
}

impl CacheLines {
    /// Sets the length. The contents are then unspecified.
    pub fn resize(&mut self, len: usize) {
        self.lines.resize(len.div_ceil(size_of::<CacheLine>()), CacheLine([0; 64]));
        self.len = len;
    }
}

impl Deref for CacheLines {
    type Target = [u8];

    #[inline(always)]
    #[allow(unsafe_code)]
    fn deref(&self) -> &[u8] {
        // SAFETY: the lines have at least `len` bytes, and a line has no padding.
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
