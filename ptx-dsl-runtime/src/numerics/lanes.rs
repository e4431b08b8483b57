//! Values of 32 lanes: registers of a warp, loops over active lanes, and what the instruction sets do with them.

mod active;
mod arith;
mod bits;
mod calls;
mod convert;
mod level;
mod operand;
mod registers;
mod word;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use active::{ALONE, lanes, mask_by};
pub use arith::{below, equal_lane, expand, fadd, ffma, fits, fmul, fsub, one_nan, up_to};
pub(crate) use bits::{LANE, array};
pub(crate) use calls::CALLS;
pub use calls::copied;
pub use convert::*;
pub use level::{Base, Level};
pub use operand::{Destination, Source, put_words};
pub use registers::{Register, put};
pub use word::Word;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::Avx2;
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
pub(crate) use x86_64::Avx512;

/// A register of a warp: 32 lanes of bits, zero-extended.
pub type Lanes = [u64; 32];
/// A register of 32 bits in all lanes of a warp.
pub type Words = [u32; 32];
