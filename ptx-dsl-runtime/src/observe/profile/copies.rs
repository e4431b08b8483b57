//! Asynchronous copies into shared memory: the bytes that they read, those that they fill with zeros, and those that multicast spares.

use super::counters::Counters;
use crate::memory::address::Place;
use crate::observe::monitor::{Access, Who};
use ptx_dsl_isa::meaning::memory_pipeline::SECTOR;

/// A copy whose accesses the machine tells one by one.
#[derive(Debug, Clone, Copy)]
struct Copy {
    number: u64,
    who: Who,
    /// The first place that it reads in global memory.
    from: Option<Place>,
    global_read: u64,
    sectors: u64,
    shared_read: u64,
    written: u64,
    /// The CTA to which it copies.
    rank: u32,
}

/// The copy of which the last access was, and the one before it.
#[derive(Debug, Default)]
pub(super) struct Copies {
    current: Option<Copy>,
    before: Option<Copy>,
}

impl Copies {
    /// Takes an access of the copy with this number. Returns the copy before it, if that is whole now.
    pub fn access(&mut self, number: u64, a: &Access, is_multicast: bool) -> Option<(u32, Counters)> {
        let ended = match &self.current {
            Some(copy) if copy.number == number => None,
            _ => self.end(is_multicast),
        };
        let copy = self.current.get_or_insert(Copy {
            number,
            who: a.who,
            from: None,
            global_read: 0,
            sectors: 0,
            shared_read: 0,
            written: 0,
            rank: 0,
        });
        let bytes = u64::from(a.bytes);
        match (a.place, a.write) {
            (Place::Global { offset, .. }, false) => {
                copy.from.get_or_insert(a.place);
                copy.global_read += bytes;
                copy.sectors += (offset + bytes).div_ceil(SECTOR) - offset / SECTOR;
            }
            (Place::Shared { .. }, false) => copy.shared_read += bytes,
            (Place::Shared { rank, .. }, true) => {
                copy.rank = rank;
                copy.written += bytes;
            }
            _ => {}
        }
        ended
    }

    /// The last copy has ended: its statement, and what it did. A multicast copy is one copy for each CTA.
    pub fn end(&mut self, is_multicast: bool) -> Option<(u32, Counters)> {
        let copy = self.current.take()?;
        let repeats = |before: &Copy| {
            is_multicast
                && before.number + 1 == copy.number
                && (before.who, before.from) == (copy.who, copy.from)
                && before.rank < copy.rank
        };
        let again = self.before.as_ref().is_some_and(repeats);
        self.before = Some(copy);
        let mut c = Counters {
            async_shared_read_bytes: copy.shared_read,
            async_shared_written_bytes: copy.written,
            ..Counters::default()
        };
        if again {
            c.copy_multicast_bytes = copy.global_read;
        } else {
            c.async_global_read_bytes = copy.global_read;
            c.async_global_read_sectors = copy.sectors;
        }
        if copy.shared_read == 0 {
            c.copy_padded_bytes = copy.written.saturating_sub(copy.global_read);
        }
        Some((copy.who.site, c))
    }
}
