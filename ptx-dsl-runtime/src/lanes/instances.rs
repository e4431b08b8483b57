//! Instantiates the generic functions that kernels call on the plain host. rustc reuses an upstream instance of a function that
//! is never inlined, so crates with kernels need not compile them again.

use super::access::*;
use super::arith::expand;
use super::stretches::{called_heads, called_rows, slow_rows, slow_stretch};
use crate::{Ctx, Off};

/// The instances. Never called.
#[doc(hidden)]
pub fn instances() -> Vec<*const ()> {
    let mut all: Vec<*const ()> =
        vec![crate::launch::run::<Off> as *const (), crate::launch::run::<crate::Checked> as *const ()];
    all.extend([
        Ctx::<Off>::flow as *const (),
        crate::read_param::<Off> as *const (),
        crate::write_param::<Off> as *const (),
    ]);
    macro_rules! of {
        ($($t:ident $bytes:literal $row:literal $half:literal),*) => {$(
            all.extend([
                load::<Off, $t, 1> as *const (),
                load::<Off, $t, 2> as *const (),
                load::<Off, $t, 4> as *const (),
                load_near::<Off, $t> as *const (),
                store::<Off, $t, 1> as *const (),
                store::<Off, $t, 2> as *const (),
                store::<Off, $t, 4> as *const (),
                slow_load::<Off, $t, 1> as *const (),
                slow_store::<Off, $t, 1> as *const (),
                slow_stretch::<Off, $t, 1, $bytes> as *const (),
                slow_rows::<Off, $t, 1, $bytes> as *const (),
                slow_stretch::<Off, $t, 1, $row> as *const (),
                slow_rows::<Off, $t, 1, $row> as *const (),
                slow_stretch::<Off, $t, 2, $bytes> as *const (),
                slow_rows::<Off, $t, 2, $bytes> as *const (),
                slow_stretch::<Off, $t, 2, $half> as *const (),
                slow_rows::<Off, $t, 2, $half> as *const (),
                slow_add::<Off, $t> as *const (),
                slow_load_one::<Off, $t, 1> as *const (),
                slow_store_one::<Off, $t, 1> as *const (),
                slow_add_one::<Off, $t> as *const (),
                expand::<$t, 1> as *const (),
                expand::<$t, 2> as *const (),
                expand::<$t, 4> as *const (),
                called_heads::<$t, 1> as *const (),
                called_heads::<$t, 2> as *const (),
                called_heads::<$t, 4> as *const (),
                called_rows::<$t, 1> as *const (),
                called_rows::<$t, 2> as *const (),
                called_rows::<$t, 4> as *const (),
                Ctx::<Off>::stretch_call::<$t, 1, $bytes> as *const (),
                Ctx::<Off>::stretch_call::<$t, 1, $row> as *const (),
                Ctx::<Off>::stretch_call::<$t, 2, $half> as *const (),
                Ctx::<Off>::store_rows_call::<$t, 1> as *const (),
                Ctx::<Off>::store_rows_call::<$t, 2> as *const (),
                Ctx::<Off>::store_rows_concurrent::<$t, 1> as *const (),
                Ctx::<Off>::store_rows_concurrent::<$t, 2> as *const (),
            ]);
        )*};
    }
    of!(u8 1 32 16, u16 2 64 32, u32 4 128 64, u64 8 256 128);
    all
}
