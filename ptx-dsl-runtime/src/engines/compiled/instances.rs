//! Instantiates the generic functions that kernels call on the plain host. rustc reuses an upstream instance of a function that
//! is never inlined, so crates with kernels need not compile them again.

use super::emitted::{read_param, write_param};
use super::stretches::{called_heads, called_rows, slow_rows, slow_stretch};
use crate::engines::warp_access::*;
use crate::machine::Ctx;
use crate::machine::ctx::parts::{LoadUnit, StoreUnit};
use crate::numerics::lanes::expand;

/// The instances. Never called.
#[doc(hidden)]
pub fn instances() -> Vec<*const ()> {
    let mut all: Vec<*const ()> =
        Vec::from([Ctx::flow as *const (), read_param as *const (), write_param as *const ()]);
    macro_rules! of {
        ($($t:ident $bytes:literal $row:literal $half:literal),*) => {$(
            all.extend([
                load::<$t, 1> as *const (),
                load::<$t, 2> as *const (),
                load::<$t, 4> as *const (),
                load_near::<$t> as *const (),
                store::<$t, 1> as *const (),
                store::<$t, 2> as *const (),
                store::<$t, 4> as *const (),
                slow_load::<$t, 1> as *const (),
                slow_store::<$t, 1> as *const (),
                slow_stretch::<$t, 1, $bytes> as *const (),
                slow_rows::<$t, 1, $bytes> as *const (),
                slow_stretch::<$t, 1, $row> as *const (),
                slow_rows::<$t, 1, $row> as *const (),
                slow_stretch::<$t, 2, $bytes> as *const (),
                slow_rows::<$t, 2, $bytes> as *const (),
                slow_stretch::<$t, 2, $half> as *const (),
                slow_rows::<$t, 2, $half> as *const (),
                slow_add::<$t> as *const (),
                slow_load_one::<$t, 1> as *const (),
                slow_store_one::<$t, 1> as *const (),
                slow_add_one::<$t> as *const (),
                expand::<$t, 1> as *const (),
                expand::<$t, 2> as *const (),
                expand::<$t, 4> as *const (),
                called_heads::<$t, 1> as *const (),
                called_heads::<$t, 2> as *const (),
                called_heads::<$t, 4> as *const (),
                called_rows::<$t, 1> as *const (),
                called_rows::<$t, 2> as *const (),
                called_rows::<$t, 4> as *const (),
                LoadUnit::stretch_call::<$t, 1, $bytes> as *const (),
                LoadUnit::stretch_call::<$t, 1, $row> as *const (),
                LoadUnit::stretch_call::<$t, 2, $half> as *const (),
                StoreUnit::store_rows_call::<$t, 1> as *const (),
                StoreUnit::store_rows_call::<$t, 2> as *const (),
                StoreUnit::store_rows_concurrent::<$t, 1> as *const (),
                StoreUnit::store_rows_concurrent::<$t, 2> as *const (),
            ]);
        )*};
    }
    of!(u8 1 32 16, u16 2 64 32, u32 4 128 64, u64 8 256 128);
    all
}
