//! Matrices in shared memory: swizzling, and the canonical layouts (PTX ISA 9.7.15.5.1, 9.7.16.3).

/// A swizzle mode: how the 16-byte (or 32-byte) pieces of a swizzle atom are permuted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// No swizzling.
    None,
    /// 32 bytes.
    B32,
    /// 64 bytes.
    B64,
    /// 128 bytes.
    B128,
    /// 128 bytes with 32-byte atomicity.
    B128Atom32,
}

impl Swizzle {
    /// Bytes of an atom's row; without swizzling an atom is 16 bytes wide.
    pub const fn width(self) -> u32 {
        match self {
            Swizzle::None => 16,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            Swizzle::B128 | Swizzle::B128Atom32 => 128,
        }
    }

    /// The swizzled address of the byte at `address`: the piece's number within its row is XORed with the low bits of the number of
    /// the 128-byte row. `phase` is the number, modulo 8, of the 128-byte row where the pattern starts: the base offset.
    #[inline(always)]
    pub const fn apply(self, address: u32, phase: u32) -> u32 {
        let row = (address >> 7).wrapping_sub(phase);
        address
            ^ match self {
                Swizzle::None => 0,
                Swizzle::B32 => (row & 1) << 4,
                Swizzle::B64 => (row & 3) << 4,
                Swizzle::B128 => (row & 7) << 4,
                Swizzle::B128Atom32 => (row & 3) << 5,
            }
    }
}

/// The contiguous dimension of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Major {
    /// K: not transposed.
    K,
    /// M of A, or N of B: transposed.
    Mn,
}

/// A shared-memory descriptor: the location of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shared {
    /// Offset of the matrix in shared memory, in bytes.
    pub start: u32,
    /// Leading dimension byte offset.
    pub leading: u32,
    /// Stride dimension byte offset.
    pub stride: u32,
    /// Base offset: (start of the swizzling pattern / 128) modulo 8; zero for patterns at their natural alignment.
    pub base: u32,
    /// Swizzling mode.
    pub swizzle: Swizzle,
    /// The leading dimension byte offset is an address: where the part of a row lies that the swizzle atom of the start
    /// has no room for.
    pub absolute: bool,
    /// The half of the compressed row that `.decompress::lut::b` reads.
    pub half: u32,
}

impl Shared {
    /// The offset of the 16-byte piece that holds an element, by the canonical layouts (9.7.16.3): `line` counts along the
    /// dimension that is not contiguous (rows of a K-major A, columns of a K-major B, k of a transposed matrix), `piece` counts
    /// 16-byte pieces along the contiguous one. An atom has 8 lines (4 with 32-byte atomicity when transposed).
    ///
    /// | | next 8 lines | next 16 bytes | next atom width |
    /// |---|---|---|---|
    /// | K-major, no swizzling | stride | leading | |
    /// | K-major | stride | in the atom | leading |
    /// | transposed, no swizzling | leading | stride | |
    /// | transposed | stride | in the atom | leading |
    #[inline(always)]
    pub const fn piece(&self, major: Major, line: u32, piece: u32) -> u32 {
        self.swizzle.apply(self.linear(major, line, piece), self.base)
    }

    /// The offset of a piece before swizzling.
    #[inline(always)]
    pub const fn linear(&self, major: Major, line: u32, piece: u32) -> u32 {
        if self.absolute {
            return self.absolute_linear(line, piece);
        }
        let lines = if matches!((self.swizzle, major), (Swizzle::B128Atom32, Major::Mn)) { 4 } else { 8 };
        let width = self.swizzle.width() / 16;
        let (groups, atoms) = match (self.swizzle, major) {
            (Swizzle::None, Major::Mn) => (self.leading, self.stride),
            _ => (self.stride, self.leading),
        };
        self.start
            .wrapping_add((line % lines * width + piece % width) << 4)
            .wrapping_add((line / lines).wrapping_mul(groups))
            .wrapping_add((piece / width).wrapping_mul(atoms))
    }

    /// The offset of a piece of a K-major matrix with 128-byte swizzling and an absolute leading address (9.7.16.3.1.2): the row
    /// continues at that address when it reaches the end of the 128 bytes that it starts in.
    const fn absolute_linear(&self, line: u32, piece: u32) -> u32 {
        let within = self.start % 128 + 16 * piece;
        let row = if within < 128 { self.start + 16 * piece } else { self.leading.wrapping_add(within - 128) };
        row.wrapping_add(line % 8 * 128).wrapping_add((line / 8).wrapping_mul(self.stride))
    }
}
