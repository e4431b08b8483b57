//! Kernels of a Rust file. Nobody compiles it; some are wrong.

mod inner {
    use ptx_dsl::prelude::*;

    ptx! {
        <sm_90, ptx 8.0>
        /* right /* and a comment in a comment */ */
        .visible .entry right(.param .u64 .ptr .global .align 4 x: &mut [f32]) { ret; }
    }

    fn second() {
        ptx! {
          <sm_90, ptx 8.0>
            .visible .entry wrong(.param .u32 n)
            {
            .reg .b32 %r<2>;   // registers
              mov.u64   %r1, 0;      // of 64 bits
            top:
                bra top;
            }
        }
        let k = ptx_dsl::ptx!(<sm_90, ptx 8.0> |x: &[f32], n: u32| .maxntid 256 {
               .reg .b32 %r;
            ld.param.u32 %r,[n];
            ret;
        });
    }
}

macro_rules! kernel {
    ($name:ident) => {
        ptx! { <sm_90, ptx 8.0> .visible .entry $name() { ret; } }
    };
}

fn closures() {
    let wrong = ptx!(<sm_90, ptx 8.0> |x: &mut [half::f16], n: u64| {
        .reg .b32 %r;
        ld.param.u32 %r, [n];
        mov.b64 %r, 0;
        ret;
    });
    let unread = ptx!(<sm_90, ptx 8.0> |pair: (u8, u8)| { ret; });
}
