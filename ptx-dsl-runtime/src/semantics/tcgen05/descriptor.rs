//! Shared-memory descriptors of `tcgen05.mma` and `tcgen05.cp`, and zero-column masks of `.ws` (PTX ISA 9.7.16.4).
//! [`instruction`] has the instruction descriptors.

pub mod form;
pub mod instruction;

pub use crate::numerics::matrix::shared::{Major, Shared, Swizzle};

use crate::fault::FaultKind;

/// A field that has no meaning.
pub(crate) fn wrong<T>(field: &'static str, what: impl Into<String>) -> Result<T, FaultKind> {
    Err(FaultKind::Descriptor { field, what: what.into() })
}

/// `count` bits of `x` from bit `from` on.
pub(crate) const fn bits(x: u64, from: u32, count: u32) -> u32 {
    (x >> from & ((1 << count) - 1)) as u32
}

/// A field that only some operands use.
pub(crate) const ABSOLUTE: &str = "leading dimension stride mode (bit 52) of the shared-memory descriptor";

impl Shared {
    /// Decodes the descriptor of operand `of`, for example "A". `lut`: a B that `.decompress::lut::b` decompresses.
    ///
    /// Offsets are stored in units of 16 bytes: 14 bits, 15 since PTX ISA 9.4.
    pub fn decode(x: u64, of: &str, lut: bool) -> Result<Shared, FaultKind> {
        let named = |what: String| format!("{what} in the descriptor {x:#018x} of {of}");
        for (bit, field) in [
            (15, "start address (bits 0-14) of the shared-memory descriptor"),
            (31, "leading dimension byte offset (bits 16-30) of the shared-memory descriptor"),
        ] {
            if bits(x, bit, 1) != 0 {
                return wrong(field, named(format!("bit {bit} above it is set")));
            }
        }
        if bits(x, 46, 3) != 1 {
            let what = named(format!("{:#05b}, which must be 0b001,", bits(x, 46, 3)));
            return wrong("fixed constant (bits 46-48) of the shared-memory descriptor", what);
        }
        let zeros = if lut { 54 } else { 53 };
        if bits(x, zeros, 61 - zeros) != 0 {
            let what = named(format!("{:#x}, which must be zero,", bits(x, zeros, 61 - zeros)));
            return wrong("fixed constant (bits 53-60) of the shared-memory descriptor", what);
        }
        let swizzle = match bits(x, 61, 3) {
            0 => Swizzle::None,
            1 => Swizzle::B128Atom32,
            2 => Swizzle::B128,
            4 => Swizzle::B64,
            6 => Swizzle::B32,
            n => {
                let field = "swizzling mode (bits 61-63) of the shared-memory descriptor";
                return wrong(field, named(format!("{n} is not a mode")));
            }
        };
        Ok(Shared {
            start: bits(x, 0, 15) << 4,
            leading: bits(x, 16, 15) << 4,
            stride: bits(x, 32, 14) << 4,
            base: bits(x, 49, 3),
            swizzle,
            absolute: bits(x, 52, 1) != 0,
            half: bits(x, 53, 1),
        })
    }
}

/// A zero-column mask descriptor of `.ws` (9.7.16.4.3): which columns of B count as zero, and from which one on B is
/// read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZeroColumns {
    x: u64,
    /// Columns of B to leave out at its start.
    pub shift: u32,
}

impl ZeroColumns {
    /// The descriptor in a register, for a multiplication of `m` rows whose instruction descriptor allows shifts up to
    /// `max_shift`.
    pub fn decode(x: u64, m: usize, max_shift: u32) -> Result<ZeroColumns, FaultKind> {
        if bits(x, 36, 3) != 0 || bits(x, 62, 2) != 0 {
            return wrong("reserved bits (36-38, 62-63) of the zero-column mask descriptor", "not zero");
        }
        let shift = bits(x, 56, 6);
        let most = if m == 32 { 16 } else { 32 };
        if shift > most || shift > max_shift {
            let what =
                format!("{shift}, but at most {most} with M = {m}, and the instruction descriptor allows {max_shift}");
            return wrong("column shift (bits 56-61) of the zero-column mask descriptor", what);
        }
        Ok(ZeroColumns { x, shift })
    }

    /// Is column `column` of `n` zero, in a multiplication of `m` rows?
    ///
    /// The mask has one part for M = 128, two for 64, four for 32. A part alternates runs of zero columns ("skip
    /// span") and used ones ("use span"), beginning in the middle of a run: "start count" columns of the pattern are
    /// left out. As the manual's examples have it; its table swaps the two spans.
    pub const fn is_zero(&self, column: u32, n: u32, m: u32) -> bool {
        if self.x >> 39 & 1 == 0 {
            return false;
        }
        let part_size = n / (128 / m);
        let part = column / part_size;
        let (skip, used) = (bits(self.x, 40, 8) + 1, bits(self.x, 48, 8) + 1);
        let at = (column % part_size + bits(self.x, 8 * part, 8)) % (skip + used);
        if bits(self.x, 32 + part, 1) != 0 { at < skip } else { at >= used }
    }
}

#[cfg(test)]
mod tests;
