//! Places of a warp's lanes in a memory. Whether each has room for an element is found out for all of them at once, in vectors,
//! and not asked again with each access.

#![allow(unsafe_code)]

use crate::lanes::Word;
use crate::mem::range::aligned;
use std::marker::PhantomData;

/// A place: 32 or 64 bits.
pub(crate) trait Place: Copy + PartialEq + Into<u64> {
    const ZERO: Self;
    /// Is it beyond this one? Zero if not.
    fn beyond(self, last: u64) -> Self;
    fn or(self, other: Self) -> Self;
}

macro_rules! place {
    ($($t:ident)*) => {$(
        impl Place for $t {
            const ZERO: $t = 0;
            #[inline(always)]
            fn beyond(self, last: u64) -> $t {
                // a memory that is larger than all of these is never too short
                $t::from(self > $t::try_from(last).unwrap_or($t::MAX))
            }
            #[inline(always)]
            fn or(self, other: $t) -> $t {
                self | other
            }
        }
    )*};
}
place!(u32 u64);

/// Have all of these room for a `T` in a memory of `len` bytes, and are they aligned?
#[inline(always)]
fn fit<T: Word, P: Place>(len: usize, at: &[P; 32]) -> bool {
    let Some(last) = len.checked_sub(T::BYTES) else { return false };
    // one question after the other: of both together LLVM makes no vectors
    let (mut bits, mut beyond) = (P::ZERO, P::ZERO);
    for at in at {
        bits = bits.or(*at);
    }
    for at in at {
        beyond = beyond.or(at.beyond(last as u64));
    }
    cfg!(ptx_dsl_unchecked) || beyond == P::ZERO && aligned(bits.into(), T::BYTES)
}

/// 32 places that can be read.
pub(crate) struct Places<'a, T, P> {
    memory: &'a [u8],
    /// Each has room for a `T`: only [`Places::find`] makes them.
    at: [P; 32],
    of: PhantomData<T>,
}

impl<'a, T: Word, P: Place> Places<'a, T, P> {
    /// `None` if one is outside or misaligned.
    #[inline(always)]
    pub fn find(memory: &'a [u8], at: [P; 32]) -> Option<Self> {
        fit::<T, P>(memory.len(), &at).then_some(Places { memory, at, of: PhantomData })
    }

    /// What all lanes read.
    #[inline(always)]
    pub fn load(&self, out: &mut [T; 32]) {
        for (out, at) in out.iter_mut().zip(&self.at) {
            let at = (*at).into() as usize;
            // SAFETY: `find` has seen that `at + T::BYTES` is at most the length.
            *out = T::load(unsafe { self.memory.get_unchecked(at..at.wrapping_add(T::BYTES)) });
        }
    }
}

/// 32 places that can be written.
pub(crate) struct PlacesMut<'a, T> {
    memory: &'a mut [u8],
    /// As in [`Places`].
    at: [u64; 32],
    of: PhantomData<T>,
}

impl<'a, T: Word> PlacesMut<'a, T> {
    /// `None` if one is outside or misaligned.
    #[inline(always)]
    pub fn find(memory: &'a mut [u8], at: [u64; 32]) -> Option<Self> {
        fit::<T, u64>(memory.len(), &at).then_some(PlacesMut { memory, at, of: PhantomData })
    }

    /// Changes what is at the place of each lane, one after the other.
    #[inline(always)]
    pub fn change(self, mut change: impl FnMut(usize, T) -> T) {
        for (l, at) in self.at.iter().enumerate() {
            let at = *at as usize;
            // SAFETY: `find` has seen that `at + T::BYTES` is at most the length.
            let s = unsafe { self.memory.get_unchecked_mut(at..at.wrapping_add(T::BYTES)) };
            change(l, T::load(s)).store(s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_outside_or_misaligned_is_enough() {
        let memory: Vec<u8> = (0..=255).collect();
        let near: [u32; 32] = std::array::from_fn(|l| 8 * l as u32 % 256);
        let mut out = [0u32; 32];
        Places::find(&memory, near).expect("all inside").load(&mut out);
        assert_eq!(out, near.map(|a| u32::from_le_bytes([0, 1, 2, 3].map(|i| (a + i) as u8))));
        for wrong in [253, 256, 2, 0xffff_fffc, u32::MAX] {
            for l in [0, 9, 31] {
                let mut at = near;
                at[l] = wrong;
                assert!(Places::<u32, u32>::find(&memory, at).is_none(), "{wrong}");
                assert!(Places::<u32, u64>::find(&memory, at.map(u64::from)).is_none(), "{wrong}");
                let mut copy = memory.clone();
                assert!(PlacesMut::<u32>::find(&mut copy, at.map(u64::from)).is_none(), "{wrong}");
            }
        }
        for wrong in [u64::MAX, u64::MAX - 3, 1 << 32, (1 << 32) + 4] {
            let mut at = near.map(u64::from);
            at[3] = wrong;
            assert!(Places::<u32, u64>::find(&memory, at).is_none(), "{wrong}");
        }
        assert!(Places::<u32, u32>::find(&memory[..3], [0; 32]).is_none());
        assert!(Places::<u8, u32>::find(&[], [0; 32]).is_none());
        assert!(Places::<u64, u32>::find(&memory[..8], [0; 32]).is_some());
    }

    #[test]
    fn lanes_change_one_after_the_other() {
        let mut memory = vec![1u8, 0, 0, 0];
        let mut seen = Vec::new();
        PlacesMut::find(&mut memory, [0; 32]).expect("inside").change(|l, was: u16| {
            seen.push(was);
            was + l as u16
        });
        assert_eq!(u16::from_le_bytes([memory[0], memory[1]]), 1 + 31 * 32 / 2);
        assert_eq!(seen[..4], [1, 1, 2, 4]);
    }
}
