//! The places of the pieces of a box in shared memory.

use crate::memory::tensor_map::Fields;
use crate::memory::tensor_map::Swizzle;

/// The form of a box in shared memory.
#[derive(Debug, Clone, Copy)]
pub struct BoxLayout {
    pub swizzle: Swizzle,
    /// Bytes of a row, without padding.
    pub row: u32,
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// Bytes that stay together, and the bytes from one such piece to the next.
    pub piece: u32,
    pub step: u32,
}

impl BoxLayout {
    pub fn of(map: &Fields) -> Self {
        let unit = map.element.unit();
        let (piece, step) = match map.swizzle {
            _ if map.element.is_padded() => (unit.global, unit.shared),
            Swizzle::B128Atom32Flip8 => (8, 8),
            _ => (16, 16),
        };
        if let Some(slice) = map.interleave.slice() {
            return BoxLayout { swizzle: map.swizzle, row: slice, pitch: slice, piece, step };
        }
        let row = map.inner() / unit.elements * unit.global;
        BoxLayout { swizzle: map.swizzle, row, pitch: map.row_bytes().max(map.swizzle.span()), piece, step }
    }

    /// Are rows contiguous in shared memory?
    pub fn is_plain(&self) -> bool {
        self.swizzle == Swizzle::None && self.piece == self.step
    }

    /// The offset in shared memory for an offset without swizzle.
    #[inline(always)]
    pub fn place(&self, at: u32) -> u32 {
        permute(self.swizzle, at)
    }

    /// Each piece of a row whose first byte is at `start`: its offset in the row and in shared memory.
    #[inline(always)]
    pub fn pieces(self, start: u32) -> impl Iterator<Item = (u32, u32)> {
        (0..self.row / self.piece).map(move |i| (i * self.piece, self.place(start + i * self.step)))
    }
}

/// Exchanges pieces of 16 (or 32, 64) bytes, as bits of the line of 128 bytes say.
#[inline(always)]
pub fn permute(swizzle: Swizzle, at: u32) -> u32 {
    match swizzle {
        Swizzle::None => at,
        Swizzle::B32 => at ^ (at >> 3 & 0x10),
        Swizzle::B64 => at ^ (at >> 3 & 0x30),
        Swizzle::B128 => at ^ (at >> 3 & 0x70),
        Swizzle::B128Atom32 => at ^ (at >> 2 & 0x60),
        Swizzle::B128Atom32Flip8 => at ^ (at >> 2 & 0x60) ^ (at >> 4 & 8),
        Swizzle::B128Atom64 => at ^ (at >> 1 & 0x40),
    }
}
