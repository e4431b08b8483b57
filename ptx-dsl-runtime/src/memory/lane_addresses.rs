//! The addresses of a warp's 32 lanes in a memory. One vectorised check covers all lanes; the accesses then need no bounds checks.

#![allow(unsafe_code)]

use crate::memory::bounds::aligned;
use crate::numerics::lanes::Word;
use std::marker::PhantomData;

/// An address or offset of 32 or 64 bits.
pub(crate) trait Offset: Copy + PartialEq + Into<u64> {
    const ZERO: Self;
    fn minus(self, other: Self) -> Self;
    /// Marks an offset that is greater than `last`, which is less than 2^63. Marks of several offsets can be joined by `or`.
    fn beyond(self, last: u64) -> Self;
    /// Whether the offset carries the mark of [`beyond`](Self::beyond).
    fn is_beyond(self) -> bool;
    fn or(self, other: Self) -> Self;
}

impl Offset for u32 {
    const ZERO: u32 = 0;
    #[inline(always)]
    fn minus(self, other: u32) -> u32 {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn beyond(self, last: u64) -> u32 {
        // no u32 is beyond a `last` that u32 cannot hold
        u32::from(self > u32::try_from(last).unwrap_or(u32::MAX))
    }
    #[inline(always)]
    fn is_beyond(self) -> bool {
        self != 0
    }
    #[inline(always)]
    fn or(self, other: u32) -> u32 {
        self | other
    }
}

impl Offset for u64 {
    const ZERO: u64 = 0;
    #[inline(always)]
    fn minus(self, other: u64) -> u64 {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn beyond(self, last: u64) -> u64 {
        // the top bit, without a comparison: LLVM makes 32 branches of those
        self | last.wrapping_sub(self)
    }
    #[inline(always)]
    fn is_beyond(self) -> bool {
        self >> 63 != 0
    }
    #[inline(always)]
    fn or(self, other: u64) -> u64 {
        self | other
    }
}

/// Is a `T` at each of these addresses inside a memory of `len` bytes that begins at `base`, and aligned there?
#[inline(always)]
fn fit<T: Word, O: Offset>(len: usize, base: O, addr: &[O; 32]) -> bool {
    let Some(last) = len.checked_sub(T::BYTES) else { return false };
    // two loops: LLVM does not vectorise both checks in one
    let (mut bits, mut beyond) = (O::ZERO, O::ZERO);
    for addr in addr {
        bits = bits.or(addr.minus(base));
    }
    for addr in addr {
        beyond = beyond.or(addr.minus(base).beyond(last as u64));
    }
    cfg!(ptx_dsl_unchecked) || !beyond.is_beyond() && aligned(bits.into(), T::BYTES)
}

/// 32 checked addresses for loads.
pub(crate) struct LaneAddresses<'a, T, O> {
    memory: &'a [u8],
    base: O,
    /// The addresses of all lanes, at each of which a `T` is inside: only [`LaneAddresses::check`] makes them.
    addr: &'a [O; 32],
    of: PhantomData<T>,
}

impl<'a, T: Word, O: Offset> LaneAddresses<'a, T, O> {
    /// Checks the addresses of all lanes in a memory that begins at `base`. `None` if one lane is outside or misaligned.
    #[inline(always)]
    pub fn check(memory: &'a [u8], base: O, addr: &'a [O; 32]) -> Option<Self> {
        fit::<T, O>(memory.len(), base, addr).then_some(LaneAddresses { memory, base, addr, of: PhantomData })
    }

    /// Loads an element for each lane.
    #[inline(always)]
    pub fn load(&self, out: &mut [T; 32]) {
        for (out, addr) in out.iter_mut().zip(self.addr) {
            let at = addr.minus(self.base).into() as usize;
            // SAFETY: `check` has verified that `at + T::BYTES` is at most the length.
            *out = T::load(unsafe { self.memory.get_unchecked(at..at.wrapping_add(T::BYTES)) });
        }
    }
}

/// 32 checked addresses for stores.
///
/// Each lane's offset is computed when it is used. As vectors, before all of them, they would be known late: then the processor loads
/// for a lane before it knows where the lanes before it store, and has to load again if it was the same place. Updates took 8 times as
/// long on Zen 4.
pub(crate) struct LaneAddressesMut<'a, T, O> {
    memory: &'a mut [u8],
    base: O,
    /// The addresses, as in [`LaneAddresses`].
    addr: &'a [O; 32],
    of: PhantomData<T>,
}

impl<'a, T: Word, O: Offset> LaneAddressesMut<'a, T, O> {
    /// Checks the addresses of all lanes in a memory that begins at `base`. `None` if one lane is outside or misaligned.
    #[inline(always)]
    pub fn check(memory: &'a mut [u8], base: O, addr: &'a [O; 32]) -> Option<Self> {
        fit::<T, O>(memory.len(), base, addr).then_some(LaneAddressesMut { memory, base, addr, of: PhantomData })
    }

    /// Updates the element of each lane, in lane order.
    #[inline(always)]
    pub fn change(mut self, mut change: impl FnMut(usize, T) -> T) {
        for l in 0..32 {
            self.change_lane(l, |was| change(l, was));
        }
    }

    /// Updates the elements of the lanes of `m`, in lane order.
    #[inline(always)]
    pub fn change_some(mut self, m: u32, change: impl Fn(T) -> T) {
        crate::numerics::lanes::lanes(m, |l| self.change_lane(l, &change));
    }

    #[inline(always)]
    fn change_lane(&mut self, l: usize, change: impl FnOnce(T) -> T) {
        let at = self.addr[l & 31].minus(self.base).into() as usize;
        // SAFETY: `check` has verified that `at + T::BYTES` is at most the length.
        let s = unsafe { self.memory.get_unchecked_mut(at..at.wrapping_add(T::BYTES)) };
        change(T::load(s)).store(s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lane_outside_or_misaligned_is_enough() {
        let memory: Vec<u8> = (0..=255).collect();
        let near: [u32; 32] = std::array::from_fn(|l| 8 * l as u32 % 256);
        let mut out = [0u32; 32];
        LaneAddresses::check(&memory, 0, &near).expect("all inside").load(&mut out);
        assert_eq!(out, near.map(|a| u32::from_le_bytes([0, 1, 2, 3].map(|i| (a + i) as u8))));
        for wrong in [253, 256, 2, 0xffff_fffc, u32::MAX] {
            for l in [0, 9, 31] {
                let mut at = near;
                at[l] = wrong;
                assert!(LaneAddresses::<u32, u32>::check(&memory, 0, &at).is_none(), "{wrong}");
                assert!(LaneAddresses::<u32, u64>::check(&memory, 0, &at.map(u64::from)).is_none(), "{wrong}");
                let mut copy = memory.clone();
                assert!(LaneAddressesMut::<u32, u64>::check(&mut copy, 0, &at.map(u64::from)).is_none(), "{wrong}");
            }
        }
        for wrong in [u64::MAX, u64::MAX - 3, 1 << 32, (1 << 32) + 4] {
            let mut at = near.map(u64::from);
            at[3] = wrong;
            assert!(LaneAddresses::<u32, u64>::check(&memory, 0, &at).is_none(), "{wrong}");
        }
        assert!(LaneAddresses::<u32, u32>::check(&memory[..3], 0, &[0; 32]).is_none());
        assert!(LaneAddresses::<u8, u32>::check(&[], 0, &[0; 32]).is_none());
        assert!(LaneAddresses::<u64, u32>::check(&memory[..8], 0, &[0; 32]).is_some());
    }

    #[test]
    fn lanes_change_one_after_the_other() {
        let mut memory = vec![1u8, 0, 0, 0];
        let mut seen = Vec::new();
        LaneAddressesMut::check(&mut memory, 0, &[0u64; 32]).expect("inside").change(|l, was: u16| {
            seen.push(was);
            was + l as u16
        });
        assert_eq!(u16::from_le_bytes([memory[0], memory[1]]), 1 + 31 * 32 / 2);
        assert_eq!(seen[..4], [1, 1, 2, 4]);
        let lanes = LaneAddressesMut::check(&mut memory, 0, &[2u32; 32]).expect("inside");
        lanes.change_some(0x8000_0103, |was: u16| was + 5);
        assert_eq!(memory[2..], [20, 0]);
    }
}
