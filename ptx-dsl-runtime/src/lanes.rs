//! Values of 32 lanes and the warp-level operations that emitted code calls by name.

mod access;
mod active;
mod arith;
mod bits;
mod calls;
mod convert;
mod instances;
mod level;
mod operand;
mod registers;
mod stretches;
mod word;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use crate::mem::scattered::Scattered;
pub use access::{
    addresses, load, load_near, slow_add, slow_add_one, slow_load, slow_load_one, slow_store, slow_store_one, store,
};
pub use active::{ALONE, lanes};
pub use arith::{below, expand, fadd, ffma, fits, fmul, fsub, just, one_nan, shuffle, up_to};
pub(crate) use bits::{LANE, array};
pub(crate) use calls::CALLS;
pub use calls::copied;
pub use convert::*;
pub use instances::instances;
pub use level::{Base, Level};
pub use operand::{Destination, Source, put_words};
pub use registers::{Register, put};
pub use stretches::{ahead, heads, rows, slow_rows, slow_stretch};
pub use word::Word;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::Avx2;
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
pub(crate) use x86_64::Avx512;
