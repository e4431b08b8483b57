//! Rust constants, const parameters and repetitions.

use ptx_dsl::prelude::*;

const TILE: u32 = 16;
const N: u32 = 8;

mod sizes {
    use super::*;
    ptx! {
        <sm_90, ptx 8.0>
        const TILE: u32 = crate::TILE;
        .visible .entry k() .reqntid TILE { ret; }
    }
}

mod registers {
    use super::*;
    ptx! {
        <sm_90, ptx 8.0>
        const N: u32 = 4;
        .visible .entry k() {
            .reg .b32 %r<N>;
            @for I in 0..N { mov.u32 %r{I}, I; }
            ret;
        }
    }
}

mod repetition {
    use super::*;
    ptx! {
        <sm_90, ptx 8.0>
        .visible .entry k() { @for I in 0..4 { bar.sync I; } ret; }
    }
}

mod elements {
    use super::*;
    ptx! {
        <sm_90, ptx 8.0, deny(PTX0158)>
        .visible .entry k(.param .u64 .ptr .global .align 8 x: &mut [f64]) {
            .reg .f64 %d;
            .reg .b64 %x;
            ld.param.u64 %x, [x];
            ld.global.f64 %d, [%x + 8];
            st.global.f64 [%x], %d;
            ret;
        }
    }
}

/// Constants whose names are those of the Rust around, in a macro of the user.
macro_rules! kernel {
    ($name:ident, $size:expr) => {
        ptx! {
            <sm_90, ptx 8.0>
            const SIZE: usize = $size;
            .visible .entry $name() { .shared .b8 x[SIZE]; st.shared.b8 [x + SIZE - 1], 1; ret; }
        }
    };
}

kernel!(small, 4 * N as usize);

fn main() {
    assert!(sizes::k::PTX.contains(".reqntid 16"));
    assert!(registers::k::PTX.contains("%r<4>") && registers::k::PTX.contains("mov.u32 %r3, 3;"));
    assert!(repetition::k::PTX.contains("bar.sync 3;"));
    assert_eq!(elements::k::NAME, "k");
    small.launch(&Host::new(), Launch::grid(1).block(1), ()).unwrap();
    assert!(small::PTX.contains("x[32]") && small::PTX.contains("[x+31]"));
}
