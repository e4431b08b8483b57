//! Constants whose values name other constants of PTX, and values with operators that could end a header.

use ptx_dsl::prelude::*;

/// The text alone: the numbers that it has.
fn numbers(text: &str) -> Vec<&str> {
    let (_, body) = text.split_once('{').unwrap();
    let moves = body.lines().filter_map(|line| line.trim().strip_prefix("mov.b64 %r, "));
    moves.map(|value| value.trim_end_matches(';')).collect()
}

const A: u32 = 5;
const fn twice(x: u32) -> u32 {
    2 * x
}
struct Sizes<const N: usize>;
impl<const N: usize> Sizes<N> {
    const BYTES: usize = 4 * N;
}
trait Stages {
    const COUNT: u32;
}
impl Stages for u32 {
    const COUNT: u32 = 3;
}

ptx! {
    <sm_90, ptx 8.0>
    const A: u32 = 4;
    const B: u32 = A * 2;
    const C: u32 = twice(A) + self::A;
    const D: u64 = { let c = C; [c, A, B].len() as u64 * C as u64 };
    const E: i32 = -3;
    const F: i64 = E as i64 * D as i64;
    const TRUE: bool = true;
    const G: bool = TRUE && C > B;
    const H: f32 = 1.5;
    const I: u32 = (H * 2.0) as u32;
    .visible .entry known(.param .u32 n) {
        .reg .b64 %r;
        mov.b64 %r, B;
        mov.b64 %r, C;
        mov.b64 %r, D;
        mov.b64 %r, F;
        mov.b64 %r, G;
        mov.b64 %r, I;
        ret;
    }
}

#[test]
fn a_value_sees_the_constants_before_it() {
    // the constant of PTX and not `A` of Rust, unless a path says so
    assert_eq!(numbers(known::PTX), ["8", "13", "39", "-117", "1", "3"]);
}

mod of_rust {
    use super::*;
    ptx! {
        <sm_90, ptx 8.0>
        const A: u32 = super::A + 1;
        const B: u32 = A * 2;
        const C: u32 = B.pow(2) + A;
        .visible .entry k(.param .u32 n) {
            .reg .b64 %r;
            const D: u32 = C - 1;
            mov.b64 %r, A;
            mov.b64 %r, B;
            mov.b64 %r, C;
            mov.b64 %r, D;
            ret;
        }
    }
}

#[test]
fn a_value_sees_constants_that_rustc_knows() {
    assert_eq!(numbers(of_rust::k::PTX), ["6", "12", "150", "149"]);
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry instance<const N: u32, const WIDE: bool>(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b64 %r, %x;
        const TWICE: u32 = N * 2;
        const BYTES: u64 = if WIDE { 8 } else { 4 } * twice(TWICE) as u64;
        .shared .b8 tile[BYTES];
        ld.param.u64 %x, [x];
        mov.b64 %r, TWICE;
        mov.b64 %r, BYTES;
        st.global.u32 [%x], TWICE + BYTES;
        ret;
    }
}

#[test]
fn a_value_sees_the_parameters_of_its_kernel() {
    assert_eq!(numbers(instance::<3, true>::PTX), ["6", "96"]);
    assert_eq!(numbers(instance::<5, false>::PTX), ["10", "80"]);
    let mut x = [0];
    instance::<5, false>.launch(&Host::new(), Launch::grid(1).block(1), (&mut x,)).unwrap();
    assert_eq!(x, [90]);
}

#[test]
fn a_header_has_constants_with_any_operators() {
    macro_rules! value {
        ($($constant:tt)*) => {{
            ptx! { <sm_90, ptx 8.0, $($constant)*> .visible .entry k(.param .u32 n) { .reg .b64 %r; mov.b64 %r, W; ret; } }
            numbers(k::PTX)
        }};
    }
    assert_eq!(value!(const W: u32 = 16 >> 2), ["4"]);
    assert_eq!(value!(const W: u32 = twice(8) >> 2), ["4"]);
    assert_eq!(value!(const W: bool = 3 > 2), ["1"]);
    assert_eq!(value!(const W: bool = A >= 6), ["0"]);
    assert_eq!(value!(const W: usize = size_of::<Option<Box<u8>>>()), ["8"]);
    assert_eq!(value!(const W: u32 = <u32 as Stages>::COUNT), ["3"]);
    assert_eq!(value!(const W: usize = Sizes::<{ 3 + 4 }>::BYTES), ["28"]);
    assert_eq!(value!(const V: u32 = 1 << 4, const W: bool = V > A), ["1"]);
    assert_eq!(value!(const W: u32 = if A > 4 { 1 } else { 2 }), ["1"]);
    // what follows the header is not an operand
    let closure = ptx! { <sm_90, ptx 8.0, const W: u32 = 16 >> 2> |x: &mut [u32]| {
        .reg .b64 %x; ld.param.u64 %x, [x]; st.global.u32 [%x], W; ret;
    } };
    let mut x = [0];
    closure.launch(&Host::new(), Launch::grid(1).block(1), (&mut x,)).unwrap();
    assert_eq!(x, [4]);
}

ptx! {
    <sm_90, ptx 8.0, const STAGES: u32 = 12 >> 2, const LAST: u32 = STAGES - 1>
    .visible .entry repeated(.param .u32 n) {
        .reg .b64 %r;
        @for I in 0..STAGES {
            {
                const NEXT: u32 = (I + 1) % STAGES;
                mov.b64 %r, NEXT;
            }
        }
        @if LAST > 1 { mov.b64 %r, LAST; }
        ret;
    }
}

#[test]
fn arithmetic_sees_loop_variables() {
    assert_eq!(numbers(repeated::PTX), ["1", "2", "0", "2"]);
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    const N: u32 = twice(1);
    .visible .entry indexed(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b32 %r, %s;
        .reg .b64 %x;
        .shared .b32 tile[2 * N];
        ld.param.u64 %x, [x];
        mov.u32 %s, tile[N];
        st.shared.u32 [%s], 7;
        st.shared.u32 tile[N + 1], 80;
        ld.shared.u32 %r, tile[N];
        ld.shared.u32 %s, [tile + 12];
        add.u32 %r, %r, %s;
        st.global.u32 [%x], %r;
        ret;
    }
}

#[test]
fn an_index_counts_elements() {
    assert!(indexed::PTX.contains("mov.u32 %s, tile[2];"), "{}", indexed::PTX);
    for engine in [ptx_dsl::Engine::Interpreted, ptx_dsl::Engine::Compiled] {
        let mut x = [0];
        indexed.launch(&Host::new().engine(engine), Launch::grid(1).block(1), (&mut x,)).unwrap();
        assert_eq!(x, [87]);
    }
}
