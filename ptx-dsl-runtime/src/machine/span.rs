//! Accesses of a whole warp at once: 32 addresses of one memory, checked together.

use crate::machine::Ctx;
use crate::mem::address::{AddrSpace, Place, SEGMENT_SHIFT, SHARED_OFFSET, resolve};
use crate::{Lanes, Monitor};

/// How the addresses of the lanes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// All equal.
    Uniform,
    /// One after the other, without gaps.
    Row,
    /// Anyhow.
    Any,
}

/// Where 32 addresses lie: all in one window, aligned.
struct Span {
    place: Place,
    pattern: Pattern,
    /// Bits of an address that are its offset.
    offset: u64,
    /// The highest offset.
    last: u64,
}

/// Finds it; `None` for whatever wants a closer look, lane by lane.
#[inline(always)]
fn span(space: AddrSpace, addr: &Lanes, bytes: u32, own: u32) -> Option<Span> {
    let first = addr[0];
    let (mut differ, mut row, mut low) = (0, 0, 0);
    for (l, &a) in addr.iter().enumerate() {
        differ |= a ^ first;
        row |= a ^ first.wrapping_add(l as u64 * bytes as u64);
        low |= a;
    }
    if low & (bytes as u64 - 1) != 0 || !bytes.is_power_of_two() {
        return None;
    }
    let place = resolve(space, first, own).ok()?;
    let offset = match place {
        Place::Global { .. } => (1 << SEGMENT_SHIFT) - 1,
        Place::Shared { .. } => SHARED_OFFSET,
        // each thread has a local memory of its own
        Place::Local { .. } => return None,
        Place::Const { .. } | Place::Param { .. } => u32::MAX as u64,
    };
    if differ & !offset != 0 {
        return None;
    }
    let (pattern, last) = if differ == 0 {
        (Pattern::Uniform, first & offset)
    } else if row == 0 {
        // the lowest bits of a window's offset do not carry into the rest: they differ in the offset only
        (Pattern::Row, addr[31] & offset)
    } else {
        (Pattern::Any, addr.iter().fold(0, |m, a| m.max(a & offset)))
    };
    Some(Span { place, pattern, offset, last })
}

impl<M: Monitor> Ctx<'_, M> {
    /// The memory that all lanes load `bytes` from, and for each lane where. `None` if not all lanes are active, if a
    /// monitor wants to see them one by one, or if one of the accesses is not plainly right.
    #[inline(always)]
    pub(crate) fn whole_load(&self, space: AddrSpace, addr: &Lanes, bytes: u32) -> Option<(&[u8], u64, Pattern)> {
        if M::ON || self.mask != u32::MAX {
            return None;
        }
        let s = span(space, addr, bytes, self.cur.cta)?;
        let memory = match s.place {
            Place::Global { segment, .. } => self.global.bytes(segment),
            Place::Shared { rank, .. } => self.window(rank).ok()?,
            Place::Const { .. } => self.info.const_image,
            Place::Param { .. } => &self.params,
            Place::Local { .. } => return None,
        };
        (s.last + bytes as u64 <= memory.len() as u64).then_some((memory, s.offset, s.pattern))
    }

    /// The same for stores.
    #[inline(always)]
    pub(crate) fn whole_store(
        &mut self,
        space: AddrSpace,
        addr: &Lanes,
        bytes: u32,
    ) -> Option<(&mut [u8], u64, Pattern)> {
        if M::ON || self.mask != u32::MAX || self.probing {
            return None;
        }
        let s = span(space, addr, bytes, self.cur.cta)?;
        let memory = match s.place {
            Place::Global { segment, .. } => self.global.bytes_mut(segment)?,
            Place::Shared { rank, .. } => self.window_mut(rank).ok()?,
            _ => return None,
        };
        (s.last + bytes as u64 <= memory.len() as u64).then_some((memory, s.offset, s.pattern))
    }
}
