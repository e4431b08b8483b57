//! Parts of modules: from this module, from another one, and from another crate. Expected values are computed by plain Rust.

use ptx_dsl::Engine;
use ptx_dsl::prelude::*;

mod elsewhere {
    use ptx_dsl::prelude::*;

    ptx! {
        <sm_80, ptx 7.0>
        pub(crate) part reduce {
            /// Adds up the values of a warp.
            .inline warp_sum(.reg .b32 %sum) {
                .reg .b32 %other;
                @for I in 0..5 {
                    shfl.sync.bfly.b32 %other, %sum, 1 << I, 31, 0xffffffff;
                    add.u32 %sum, %sum, %other;
                }
            }
            .inline unless_first(.b32 index, label skip) {
                .reg .pred %p;
                setp.ne.u32 %p, index, 0;
                @%p bra skip;
            }
        }
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    use elsewhere::reduce as sums_of_warps;
    use ptx_dsl_shared_parts::{counts, numbers::primes};

    .inline lane_address(.reg .b64 %to, .reg .b64 %base, const BYTES: u32) {
        .reg .b32 %other;
        mov.u32 %other, %tid.x;
        mad.wide.u32 %to, %other, BYTES, %base;
    }

    .visible .entry sums(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 32 {
        .reg .b32 %other, %p, %n;
        .reg .b64 %x, %at;
        ld.param.u64 %x, [x];
        lane_address!(%at, %x, 4);
        // the pieces declare registers of these names
        ld.global.u32 %other, [%at];
        sums_of_warps::warp_sum!(%other);
        mov.u32 %p, %tid.x;
        reduce::unless_first!(%p, done);
        counts::odd!(%other);
        counts::store!(%x, %other, 0);
        counts::double_count!(%n, 6);
        counts::store!(%x, %n, 4);
        call (%n), primes_below, (3);
        counts::store!(%x, %n, 8);
      done:
        ret;
    }

    .visible .entry again(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 32 {
        .reg .b32 %n, %i;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        mov.u32 %i, %tid.x;
        reduce::unless_first!(%i, done);
        call (%n), primes_below, (100);
        counts::store!(%x, %n, 0);
        ld.const.u32 %n, [table];
        counts::store!(%x, %n, 4);
      done:
        ret;
    }
}

#[test]
fn parts_of_three_places_run() {
    for engine in [Engine::Interpreted, Engine::Compiled] {
        let host = Host::new().engine(engine);
        let mut x: Vec<u32> = (0..32).map(|i| i * i).collect();
        let sum: u32 = x.iter().sum();
        sums.launch(&host, Launch::grid(1).block(32), (&mut x,)).unwrap();
        // 2, 3 and 5 are below 6, and 2 is below 3
        assert_eq!(x[..4], [sum | 1, 6, 1, 9]);
        again.launch(&host, Launch::grid(1).block(32), (&mut x,)).unwrap();
        assert_eq!(x[..2], [4, ptx_dsl_shared_parts::FIRST]);
    }
}

#[test]
fn functions_and_variables_are_printed_once() {
    for ptx in [sums::PTX, again::PTX] {
        assert_eq!(ptx.matches(".func (.reg .b32 %n) primes_below").count(), 1, "{ptx}");
        assert_eq!(ptx.matches(".const").count(), 1 + 5, "{ptx}");
        assert!(!ptx.contains("inline") && !ptx.contains("part"), "{ptx}");
    }
}

/// A kernel that a macro of Rust makes, with tokens of its own and of its caller, and a part.
macro_rules! filler {
    ($name:ident, $value:expr, $($body:tt)*) => {
        ptx! {
            <sm_90, ptx 8.0>
            use elsewhere::reduce;
            const VALUE: u32 = $value;
            .visible .entry $name(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
                .reg .b32 %v, %i;
                .reg .b64 %x;
                ld.param.u64 %x, [x];
                mov.u32 %i, %tid.x;
                reduce::unless_first!(%i, end);
                mov.u32 %v, VALUE;
                $($body)*
                st.global.u32 [%x], %v;
              end:
                ret;
            }
        }
    };
}
filler!(three, 1 + 2,);
filler!(eight, 7, add.u32 %v, %v, 1;);

#[test]
fn macros_of_rust_make_kernels_with_parts() {
    let mut x = [0; 2];
    three.launch(&Host::new(), Launch::grid(1).block(2), (&mut x,)).unwrap();
    assert_eq!(x, [3, 0]);
    eight.launch(&Host::new(), Launch::grid(1).block(2), (&mut x,)).unwrap();
    assert_eq!(x, [8, 0]);
}

#[test]
fn the_expression_form_uses_pieces() {
    let kernel = ptx!(
        <sm_90, ptx 8.0>
        use elsewhere::reduce;
        |x: &mut [u32]| {
            .reg .b32 %v;
            .reg .b64 %x;
            mov.u32 %v, %laneid;
            reduce::warp_sum!(%v);
            ld.param.u64 %x, [x];
            st.global.u32 [%x], %v;
            ret;
        }
    );
    let mut x = [0];
    kernel.launch(&Host::new(), Launch::grid(1).block(32), (&mut x,)).unwrap();
    assert_eq!(x, [31 * 16]);
}

/// A fault in a part of another file has the line there and that of the use.
#[test]
fn faults_are_at_the_use() {
    ptx! {
        <sm_90, ptx 8.0>
        use ptx_dsl_shared_parts::counts;
        .visible .entry out_of_bounds(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
            .reg .b64 %x;
            ld.param.u64 %x, [x];
            counts::store!(%x, 1, 4096);
            ret;
        }
    }
    let line = line!() - 4;
    let found = out_of_bounds.launch(&Host::new(), Launch::grid(1).block(1), (&mut [0_u32],)).unwrap_err().to_string();
    let part = include_str!("../parts/src/lib.rs").lines().position(|line| line.contains("[to + OFFSET]")).unwrap() + 1;
    let (_, places) = found.split_once(&format!("lib.rs:{part}\n")).expect(&found);
    assert!(places.starts_with(&format!("      inlined at {}:{line}\n", file!())), "{line}: {found}");
    assert_eq!(found.matches("parts.rs").count(), 1, "{found}");
}

/// Two parts of one name, whose pieces, constants, registers and labels have the same names.
mod twins {
    pub mod left {
        ptx_dsl::ptx! {
            <sm_90, ptx 8.0>
            pub(crate) part ring {
                const STEP: u32 = 10;
                .layout stages(slots, const N: u32) { .shared .align 4 .b32 slots[N]; }
                .inline next(.reg .b32 %x, .b32 times) {
                    .reg .b32 %r;
                    .reg .pred %p;
                    mov.u32 %r, times;
                  again:
                    add.u32 %x, %x, STEP;
                    sub.u32 %r, %r, 1;
                    setp.ne.u32 %p, %r, 0;
                    @%p bra again;
                }
            }
        }
    }
    pub mod right {
        ptx_dsl::ptx! {
            <sm_90, ptx 8.0>
            pub(crate) part ring {
                const STEP: u32 = crate::host::parts::HUNDRED;
                .layout stages(slots, const N: u32) { .shared .align 8 .b64 slots[N]; }
                .inline next(.reg .b32 %x, .b32 times) {
                    .reg .b32 %r;
                    .reg .pred %p;
                    mov.u32 %r, times;
                  again:
                    add.u32 %x, %x, STEP;
                    sub.u32 %r, %r, 1;
                    setp.ne.u32 %p, %r, 0;
                    @%p bra again;
                }
            }
        }
    }
}

pub const HUNDRED: u32 = 100;

ptx! {
    <sm_90, ptx 8.0, compiled>
    use twins::left::ring;
    use twins::right::ring as other;
    .visible .entry of_twins(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b32 %r, %STEP;
        .reg .b64 %x;
        ring::stages!(narrow, 4);
        other::stages!(wide, 4);
        ld.param.u64 %x, [x];
        mov.u32 %r, 1;
        ring::next!(%r, 2);
        other::next!(%r, 3);
        bra again;
    again:
        ring::next!(%r, 1);
        st.global.u32 [%x], %r;
        mov.u32 %STEP, wide;
        st.shared.b64 [wide + 24], %x;
        st.shared.b32 [narrow + 12], %r;
        ret;
    }
}

#[test]
fn two_parts_of_one_name_stay_apart() {
    let mut x = [0];
    of_twins.launch(&Host::new(), Launch::grid(1).block(1), (&mut x,)).unwrap();
    assert_eq!(x, [1 + 2 * 10 + 3 * 100 + 10]);
    for line in [".shared .align 4 .b32 narrow[4];", ".shared .align 8 .b64 wide[4];"] {
        assert!(of_twins::PTX.contains(line), "{line}: {}", of_twins::PTX);
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    use ptx_dsl_shared_parts::tiles;
    .visible .entry transposed(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 32 {
        .reg .b32 %v;
        .shared Square square;
        @for I in 0..Square.rows { tiles::store_square!(square, I, %tid.x, %tid.x * 32 + I); }
        bar.sync 0;
        @for I in 0..32 {
            ld.shared.b32 %v, [square + Square.at(%tid.x, I)];
            st.global.b32 [x + 4 * (32 * %tid.x + I)], %v;
        }
        ret;
    }
}

/// A layout of a part is a constant of Rust beside the part, and has its name in modules that use the part.
#[test]
fn a_part_has_layouts() {
    use ptx_dsl_shared_parts::Square;
    assert_eq!((Square.rows(), Square.bytes(), Square.at(1, 0)), (32, 4096, 144));
    let wanted: Vec<u32> = (0..32 * 32).map(|i| i % 32 * 32 + i / 32).collect();
    for engine in [Engine::Interpreted, Engine::Compiled] {
        let mut x = vec![0u32; 32 * 32];
        let host = Host::new().engine(engine);
        transposed.launch(&host, Launch::grid(1), (&mut x,)).expect("a launch");
        assert_eq!(x, wanted, "{engine:?}");
    }
}
