//! Bytes of shared and global memory that hold undefined values, which statements have stored there.

use super::Checked;
use super::shadow::ShadowedMemory;
use crate::memory::address::Place;
use crate::observe::monitor::{Access, Offsets};
use rustc_hash::FxHashMap;

/// Undefined bytes, by line of 64: those that have a number, a bit each.
#[derive(Debug, Default)]
pub(super) struct Undefined {
    lines: FxHashMap<(ShadowedMemory, u64), Vec<(u64, u32)>>,
    /// The number of lines of each memory that have undefined bytes.
    memories: FxHashMap<ShadowedMemory, usize>,
}

/// The memory of an access, if it is shared or global, and where.
pub(super) fn memory_of(a: &Access) -> Option<(ShadowedMemory, u64)> {
    match a.place {
        Place::Shared { rank, offset } => Some((ShadowedMemory::Shared { slot: a.who.slot, rank }, offset.into())),
        Place::Global { segment, offset } => Some((ShadowedMemory::Global { segment }, offset)),
        _ => None,
    }
}

/// The lines of bytes, with those in each, a bit each.
fn lines(from: u64, bytes: u32) -> impl Iterator<Item = (u64, u64)> {
    let to = from + u64::from(bytes);
    (from / 64..to.div_ceil(64)).map(move |line| {
        let (low, high) = (from.max(line * 64) - line * 64, to.min(line * 64 + 64) - line * 64);
        (line, (u64::MAX >> (64 - (high - low))) << low)
    })
}

impl Undefined {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// A cluster starts in this slot: its shared memory is new.
    pub fn start(&mut self, slot: u32) {
        if !self.is_empty() {
            let stays =
                |memory: &ShadowedMemory| !matches!(memory, ShadowedMemory::Shared { slot: of, .. } if *of == slot);
            self.lines.retain(|(memory, _), _| stays(memory));
            self.memories.retain(|memory, _| stays(memory));
        }
    }

    /// Records that these bytes hold an undefined value with this number.
    pub fn store(&mut self, memory: ShadowedMemory, from: u64, bytes: u32, origin: u32) {
        self.overwrite(memory, from, bytes);
        for (line, bits) in lines(from, bytes) {
            let all = self.lines.entry((memory, line)).or_insert_with(|| {
                *self.memories.entry(memory).or_default() += 1;
                Vec::new()
            });
            match all.iter_mut().find(|(_, of)| *of == origin) {
                Some((known, _)) => *known |= bits,
                None => all.push((bits, origin)),
            }
        }
    }

    /// Records that these bytes get a defined value.
    #[cold]
    pub fn overwrite(&mut self, memory: ShadowedMemory, from: u64, bytes: u32) {
        if !self.memories.contains_key(&memory) {
            return;
        }
        for (line, bits) in lines(from, bytes) {
            let Some(all) = self.lines.get_mut(&(memory, line)) else { continue };
            all.iter_mut().for_each(|(known, _)| *known &= !bits);
            all.retain(|(known, _)| *known != 0);
            if all.is_empty() {
                self.lines.remove(&(memory, line));
                let count = self.memories.entry(memory).or_default();
                *count -= 1;
                if *count == 0 {
                    self.memories.remove(&memory);
                }
            }
        }
    }

    /// The undefined bytes of a range, a bit each, and the number of one of them. Of more than 64 bytes, all of them or none.
    #[cold]
    pub fn of(&self, memory: ShadowedMemory, from: u64, bytes: u32) -> Option<(u64, u32)> {
        if !self.memories.contains_key(&memory) {
            return None;
        }
        let (mut found, mut origin, mut is_whole) = (0, None, true);
        for (line, bits) in lines(from, bytes) {
            let all = self.lines.get(&(memory, line)).map_or(&[][..], Vec::as_slice);
            let undefined = all.iter().fold(0, |all, (known, _)| all | known) & bits;
            is_whole &= undefined == bits;
            origin = origin.or_else(|| all.iter().find(|(known, _)| known & bits != 0).map(|(_, of)| *of));
            found |= match (line * 64).checked_sub(from) {
                Some(after) => undefined.checked_shl(after as u32).unwrap_or(0),
                None => undefined >> (from - line * 64),
            };
        }
        let found = if is_whole { u64::MAX } else { found };
        origin.filter(|_| bytes <= 64 || is_whole).map(|origin| (found, origin))
    }

    /// Does an access of lanes, the first of which is at a place, meet such bytes?
    #[cold]
    pub fn meets(&self, a: &Access, (memory, first): (ShadowedMemory, u64), offsets: Offsets<'_>) -> bool {
        let mut lanes = offsets.each(a.who.lanes, first);
        self.memories.contains_key(&memory) && lanes.any(|(_, at)| self.of(memory, at, a.bytes).is_some())
    }
}

impl Checked {
    /// Does the memory of an access have undefined values?
    #[inline]
    pub(super) fn may_be_undefined(&self, a: &Access) -> bool {
        !self.undefined.is_empty()
            && memory_of(a).is_some_and(|(memory, _)| self.undefined.memories.contains_key(&memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_undefined_until_they_are_overwritten() {
        let (shared, global) = (ShadowedMemory::Shared { slot: 1, rank: 0 }, ShadowedMemory::Global { segment: 3 });
        let mut all = Undefined::default();
        all.store(shared, 60, 8, 5);
        assert_eq!(all.of(shared, 60, 8), Some((u64::MAX, 5)));
        assert_eq!(all.of(shared, 56, 8), Some((0xf0, 5)));
        assert_eq!(all.of(shared, 64, 16), Some((0xf, 5)));
        assert_eq!((all.of(shared, 68, 4), all.of(global, 60, 8)), (None, None));
        assert_eq!(all.of(shared, 0, 200), None, "not all of them");
        all.store(shared, 62, 1, 6);
        all.overwrite(shared, 60, 2);
        assert_eq!(all.of(shared, 60, 4), Some((0b1100, 5)));
        all.overwrite(shared, 0, 63);
        assert_eq!(all.of(shared, 60, 4), Some((0b1000, 5)));
        all.store(global, 0, 256, 7);
        assert_eq!(all.of(global, 16, 128), Some((u64::MAX, 7)));
        all.start(1);
        assert!(!all.is_empty() && all.of(shared, 64, 4).is_none());
        all.overwrite(global, 0, 256);
        assert!(all.is_empty() && all.memories.is_empty());
    }
}
