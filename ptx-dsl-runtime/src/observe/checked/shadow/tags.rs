//! Facts about a line beside its last accesses, in four bytes, because lines are many.

/// From bit 0: all bytes are written, the line is guarded, it has words, its group has its accesses; the number of its words or of its
/// list, 0: none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tags(u32);

const FULL: u32 = 1;
const GUARDED: u32 = 2;
const WORDS: u32 = 4;
const GROUP: u32 = 8;
const NUMBER: u32 = 4;

impl Tags {
    /// The group of the line has its accesses.
    pub fn of_group() -> Tags {
        Tags(GROUP)
    }

    #[inline]
    pub fn is_of_group(self) -> bool {
        self.0 & GROUP != 0
    }

    /// Are all bytes written? Not known if it has words.
    #[inline]
    pub fn is_full(self) -> bool {
        self.0 & FULL != 0
    }

    #[inline]
    pub fn set_full(&mut self, full: bool) {
        self.0 = self.0 & !FULL | u32::from(full);
    }

    /// It has or had an mbarrier object: every access is looked at by itself.
    #[inline]
    pub fn is_guarded(self) -> bool {
        self.0 & GUARDED != 0
    }

    pub fn guard(&mut self) {
        self.0 |= GUARDED;
    }

    /// The number of its words, in place of the last accesses once the bytes are not accessed in one piece. 0: none.
    #[inline]
    pub fn words(self) -> u32 {
        if self.0 & WORDS != 0 { self.0 >> NUMBER } else { 0 }
    }

    /// It has words from now on, or none.
    #[inline]
    pub fn set_words(&mut self, number: u32) {
        self.0 = self.0 & GUARDED | if number == 0 { 0 } else { WORDS | number << NUMBER };
    }

    /// The number of a list plus 1; 0: none. It has further reads, and in their order the writes to bytes that later ones do not cover.
    #[inline]
    pub fn list(self) -> u32 {
        if self.0 & WORDS == 0 { self.0 >> NUMBER } else { 0 }
    }

    pub fn set_list(&mut self, number: u32) {
        self.0 = self.0 & (FULL | GUARDED) | number << NUMBER;
    }

    /// Are there neither words, nor a list, nor a guard?
    #[inline]
    pub fn is_plain(self) -> bool {
        self.0 & !FULL == 0
    }
}
