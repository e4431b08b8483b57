//! Elements at indices of 32 bits. An index beyond the last one counts as that, so that accesses need no bounds checks; the caller
//! has compared the indices that matter with the last one.

#![allow(unsafe_code)]

use crate::numerics::lanes::Word;
use crate::numerics::lanes::lanes;
use std::marker::PhantomData;

/// The elements of a memory that begin at multiples of a distance.
#[derive(Clone, Copy)]
struct Spacing {
    distance: usize,
    last: u32,
}

impl Spacing {
    /// The spacing of elements in this many bytes. `None` if there are none, or if they are not aligned.
    #[inline(always)]
    fn new<T: Word>(len: usize, distance: u32) -> Option<Self> {
        let distance = distance as usize;
        if distance == 0 || !distance.is_multiple_of(T::BYTES) {
            return None;
        }
        let last = len.checked_sub(T::BYTES)?;
        let last = if distance == T::BYTES { last / T::BYTES } else { last / distance };
        // so that it may be extended in any way
        Some(Spacing { distance, last: last.min(i32::MAX as usize) as u32 })
    }

    /// The offset of an element, which is at most `T::BYTES` before the end, because the last element is.
    #[inline(always)]
    fn at(&self, index: u32, distance: usize) -> usize {
        index.min(self.last).cast_signed() as usize * distance
    }
}

/// Elements to load.
pub(crate) struct IndexedElements<'a, T> {
    memory: &'a [u8],
    spacing: Spacing,
    of: PhantomData<T>,
}

impl<'a, T: Word> IndexedElements<'a, T> {
    /// The elements of `memory` at this distance. `None` if there are none, or if they are not aligned.
    #[inline(always)]
    pub fn new(memory: &'a [u8], distance: u32) -> Option<Self> {
        Some(IndexedElements { memory, spacing: Spacing::new::<T>(memory.len(), distance)?, of: PhantomData })
    }

    /// The last index.
    #[inline(always)]
    pub fn last(&self) -> u32 {
        self.spacing.last
    }

    #[inline(always)]
    fn at(&self, at: usize) -> T {
        // SAFETY: only called with what `Spacing::at` returns for the length of this memory.
        T::load(unsafe { self.memory.get_unchecked(at..at.wrapping_add(T::BYTES)) })
    }

    /// Loads one.
    #[inline(always)]
    pub fn load(&self, index: u32) -> T {
        self.at(self.spacing.at(index, self.spacing.distance))
    }

    /// Loads one for each lane.
    #[inline(always)]
    pub fn load_row(&self, index: &[u32; 32], out: &mut [T; 32]) {
        // a loop for the usual distance, by which gathers can multiply
        if self.spacing.distance == T::BYTES {
            for (out, index) in out.iter_mut().zip(index) {
                *out = self.at(self.spacing.at(*index, T::BYTES));
            }
        } else {
            for (out, index) in out.iter_mut().zip(index) {
                *out = self.load(*index);
            }
        }
    }
}

/// Elements to change.
pub(crate) struct ElementsMut<'a, T> {
    memory: &'a mut [u8],
    spacing: Spacing,
    of: PhantomData<T>,
}

impl<'a, T: Word> ElementsMut<'a, T> {
    /// The elements of `memory` at this distance. `None` if there are none, or if they are not aligned.
    #[inline(always)]
    pub fn new(memory: &'a mut [u8], distance: u32) -> Option<Self> {
        let spacing = Spacing::new::<T>(memory.len(), distance)?;
        Some(ElementsMut { memory, spacing, of: PhantomData })
    }

    /// The last index.
    #[inline(always)]
    pub fn last(&self) -> u32 {
        self.spacing.last
    }

    #[inline(always)]
    fn change_at(&mut self, at: usize, change: impl FnOnce(T) -> T) {
        // SAFETY: as in `IndexedElements::at`.
        let s = unsafe { self.memory.get_unchecked_mut(at..at.wrapping_add(T::BYTES)) };
        change(T::load(s)).store(s);
    }

    /// Changes one.
    #[inline(always)]
    pub fn change(&mut self, index: u32, change: impl FnOnce(T) -> T) {
        self.change_at(self.spacing.at(index, self.spacing.distance), change);
    }

    /// Changes one for each lane of `m`, in order.
    #[inline(always)]
    pub fn change_row(&mut self, index: &[u32; 32], m: u32, mut change: impl FnMut(usize, T) -> T) {
        let Spacing { distance, last } = self.spacing;
        // the usual distance, by which addressing modes can multiply
        if distance == T::BYTES {
            lanes(m, |l| self.change_at(index[l].min(last) as usize * T::BYTES, |was| change(l, was)));
        } else {
            lanes(m, |l| self.change_at(index[l].min(last) as usize * distance, |was| change(l, was)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_beyond_the_last_count_as_the_last() {
        let mut memory: Vec<u8> = (0..64).collect();
        let word = |at: u32| u32::from_le_bytes([0, 1, 2, 3].map(|i| (at + i) as u8));
        for (len, distance, last) in
            [(64, 4, 15), (63, 4, 14), (4, 4, 0), (64, 12, 5), (63, 12, 4), (64, 60, 1), (64, 64, 0)]
        {
            let elements = IndexedElements::<u32>::new(&memory[..len], distance).expect("some");
            assert_eq!(elements.last(), last);
            let index: [u32; 32] = std::array::from_fn(|l| [l as u32, u32::MAX, 1 << 31, last, last + 1][l % 5]);
            let wanted = index.map(|index| word(index.min(last) * distance));
            let mut out = [0; 32];
            elements.load_row(&index, &mut out);
            assert_eq!(out, wanted, "{len} {distance}");
            assert_eq!(index.map(|index| elements.load(index)), wanted, "{len} {distance}");
        }
        for (len, distance) in [(3, 4), (0, 4), (64, 0), (64, 2), (64, 6)] {
            assert!(IndexedElements::<u32>::new(&memory[..len], distance).is_none(), "{len} {distance}");
        }
        let mut elements = ElementsMut::<u16>::new(&mut memory, 2).expect("some");
        elements.change(3, |was| was + 1);
        elements.change(u32::MAX, |_| 0x0102);
        assert_eq!((memory[6], memory[7], &memory[62..]), (7, 7, &[2, 1][..]));
        for distance in [2, 4] {
            let mut memory = vec![0; 64];
            let mut elements = ElementsMut::<u16>::new(&mut memory, distance).expect("some");
            let mut index = [1; 32];
            (index[4], index[30], index[31]) = (0, u32::MAX, 100);
            elements.change_row(&index, 0xc000_0013, |l, was| was * 3 + l as u16 + 1);
            let word = |at: usize| u16::from_le_bytes([memory[at], memory[at + 1]]);
            let last = 64 - distance as usize;
            // lanes 0 and 1; 4; 30 and 31
            assert_eq!([word(distance as usize), word(0), word(last)], [5, 5, 31 * 3 + 32], "{distance}");
        }
    }
}
