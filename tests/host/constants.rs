//! Rust constants in kernels, and kernels with const parameters. Expected texts are those of kernels with numbers in them, expected
//! results are computed by plain Rust.

use ptx_dsl::Engine;
use ptx_dsl::prelude::*;

/// A host for each engine.
fn hosts() -> [Host; 2] {
    [Engine::Interpreted, Engine::Compiled].map(|engine| Host::new().engine(engine))
}

/// A kernel with these constants.
macro_rules! kernel {
    ($($constants:tt)*) => {
        ptx! {
            <sm_90, ptx 8.0, compiled>
            $($constants)*
            .const .align 8 .b64 table[3] = {WIDE, 7, SMALL};
            .const .f32 factors[2] = {SCALE, 2.5};
            .global .u16 counters[2] = {SIXTEEN, 1};
            .visible .entry k(.param .u64 .ptr .global .align 8 x: &mut [u64], .param .u64 .ptr .global .align 8 f: &mut [f64])
                .reqntid THREADS, 2
            {
                .reg .pred %p;
                .reg .b16 %h;
                .reg .b32 %r, %i, %at;
                .reg .b64 %x, %f, %d, %own;
                .reg .f32 %s;
                .reg .f64 %w;
                .shared .align 4 .b32 before[3];
                .shared .align ALIGN .b8 tile[THREADS * 2][4];
                .shared .align 8 .b64 after[THREADS + 1];
                ld.param.u64 %x, [x];
                ld.param.u64 %f, [f];
                mov.u32 %i, %tid.x;
                mov.u32 %r, %tid.y;
                mad.lo.u32 %i, %r, THREADS, %i;
                // every thread stores its number, and reads that of its mirror image
                mov.u32 %at, tile;
                mad.lo.u32 %at, %i, 4, %at;
                st.shared.u32 [%at], %i;
                bar.sync 0, THREADS * 2;
                sub.u32 %r, THREADS * 2 - 1, %i;
                mov.u32 %at, tile + 0;
                mad.lo.u32 %at, %r, 4, %at;
                ld.shared.u32 %r, [%at];
                setp.ne.u32 %p, %i, 0;
                mad.wide.u32 %d, %i, 8, %x;
                cvt.u64.u32 %own, %r;
                st.global.u64 [%d], %own;
                @%p ret;
                // one thread stores the others
                ld.shared.u32 %r, [tile + THREADS * 4 + 4];
                st.global.u32 [%x + THREADS * 16], %r;
                mov.u64 %d, WIDE;
                st.global.u64 [%x + THREADS * 16 + 8], %d;
                mov.s32 %r, NEGATIVE;
                st.global.u32 [%x + (THREADS + 1) * 16], %r;
                mov.b32 %r, FLAG ? SMALL : 5;
                st.global.u32 [%x + (THREADS + 1) * 16 + 4], %r;
                mov.u32 %r, tile;
                st.global.u32 [%x + (THREADS + 1) * 16 + 8], %r;
                mov.u32 %r, after + THREADS;
                st.global.u32 [%x + (THREADS + 1) * 16 + 12], %r;
                ld.const.b64 %d, [table];
                st.global.u64 [%x + (THREADS + 2) * 16], %d;
                ld.const.b64 %d, [table + 16];
                st.global.u64 [%x + (THREADS + 2) * 16 + 8], %d;
                ld.global.u16 %h, [counters];
                cvt.u64.u16 %d, %h;
                st.global.u64 [%x + (THREADS + 3) * 16], %d;
                mov.f32 %s, SCALE;
                cvt.f64.f32 %w, %s;
                st.global.f64 [%f], %w;
                mov.f64 %w, PRECISE * 2.0 + 1.0;
                st.global.f64 [%f + 8], %w;
                mov.f32 %s, PRECISE;
                cvt.f64.f32 %w, %s;
                st.global.f64 [%f + 16], %w;
                ld.const.f32 %s, [factors];
                cvt.f64.f32 %w, %s;
                st.global.f64 [%f + 24], %w;
                ret;
            }
        }
    };
}

/// Rust that the macro cannot evaluate.
const fn next(n: u32) -> u32 {
    n + 1
}

const THREADS: usize = size_of::<[u32; 8]>() / 2;

mod rust {
    use super::*;
    kernel! {
        const THREADS: usize = THREADS;
        const ALIGN: u32 = next(63);
        const WIDE: u64 = u64::MAX - 1;
        const SMALL: u8 = { const X: u8 = 200; X + 1 };
        const NEGATIVE: i32 = -(super::THREADS as i32);
        const SIXTEEN: u16 = 1 << 15;
        const FLAG: bool = cfg!(any());
        const SCALE: f32 = 1.5 / 4.0;
        const PRECISE: f64 = 1.0 / 3.0;
    }
}

mod literal {
    use super::*;
    kernel! {
        const THREADS: usize = 16;
        const ALIGN: u32 = 0x40;
        const WIDE: u64 = 18_446_744_073_709_551_614;
        const SMALL: u8 = 201u8;
        const NEGATIVE: i32 = -16;
        const SIXTEEN: u16 = 0b1000_0000_0000_0000;
        const FLAG: bool = false;
        const SCALE: f32 = 0.375;
        const PRECISE: f64 = 3.3333333333333331e-1;
    }
}

#[test]
fn constants_of_rust_print_as_numbers() {
    // an expression of numbers is printed as written, one with a Rust constant as its value
    let values = [
        ("16 * 2;", "32;"),
        ("16 * 2-1", "31"),
        ("0 ? 201 : 5", "5"),
        ("0d3FD5555555555555 * 2.0+1.0", "0d3FFAAAAAAAAAAAAA"),
    ];
    let mut text = literal::k::PTX.to_owned();
    for (expression, value) in values {
        assert_eq!(text.matches(expression).count(), 1, "{expression}");
        text = text.replace(expression, value);
    }
    assert_eq!(rust::k::PTX, text);
    assert!(rust::k::PTX.contains(".reqntid 16, 2\n"), "{}", rust::k::PTX);
    assert!(rust::k::PTX.contains("[%x+272]"), "{}", rust::k::PTX);
}

#[test]
fn constants_of_rust_compute_what_numbers_do() {
    for host in hosts() {
        compute(&host);
    }
}

fn compute(host: &Host) {
    let (mut x, mut f) = ([0u64; 40], [0f64; 4]);
    rust::k.launch(host, Launch::grid(1).block((16, 2)), (&mut x, &mut f)).unwrap();
    let mirrored: Vec<u64> = (0..32).rev().collect();
    assert_eq!(x[..32], mirrored);
    let halves = |low: i32, high: u32| u64::from(low as u32) | u64::from(high) << 32;
    let wide = u64::MAX - 1;
    assert_eq!(x[32..39], [17, wide, halves(-16, 5), halves(64, 192 + 16), wide, 201, 1 << 15]);
    let third = 1.0 / 3.0;
    assert_eq!(f, [0.375, third * 2.0 + 1.0, f64::from(third as f32), 0.375]);

    let (mut again, mut g) = ([0u64; 40], [0f64; 4]);
    literal::k.launch(&Host::checked(), Launch::grid(1).block((16, 2)), (&mut again, &mut g)).unwrap();
    assert_eq!((x, f), (again, g));
    rust::k.launch(&Host::checked(), Launch::grid(1).block((16, 2)), (&mut again, &mut g)).unwrap();
    assert_eq!((x, f), (again, g));
}

#[test]
fn directives_with_constants_hold_for_launches() {
    let (mut x, mut f) = ([0u64; 40], [0f64; 4]);
    let wrong = rust::k.launch(&Host::new(), Launch::grid(1).block((32, 2)), (&mut x, &mut f));
    assert!(wrong.unwrap_err().to_string().contains("16"));
}

ptx! {
    <sm_90, ptx 8.0, compiled, const ROUNDS: u32 = next(2)>
    // The sum of ROUNDS times the threads of each row, in the shared memory of an instance.
    .visible .entry sums<const THREADS: u32, const STEP: i32, const UP: bool>(
        .param .u64 .ptr .global .align 4 x: &mut [i32])
        .reqntid THREADS
    {
        .reg .pred %p, %up;
        .reg .b32 %i, %k, %sum, %at, %v;
        .reg .b64 %x;
        .shared .align 4 .b32 values[THREADS];
        mov.u32 %i, %tid.x;
        mov.u32 %at, values;
        mad.lo.u32 %at, %i, 4, %at;
        mul.lo.s32 %v, %i, STEP;
        st.shared.b32 [%at], %v;
        bar.sync 0;
        mov.u32 %sum, 0;
        mov.u32 %k, 0;
        mov.u32 %at, values;
    ADD:
        ld.shared.b32 %v, [%at];
        mad.lo.s32 %sum, %v, ROUNDS, %sum;
        add.u32 %at, %at, 4;
        add.u32 %k, %k, 1;
        setp.lt.u32 %p, %k, THREADS;
        @%p bra ADD;
        mov.u32 %k, UP;
        setp.ne.u32 %up, %k, 0;
        @%up add.s32 %sum, %sum, 1000;
        ld.param.u64 %x, [x];
        mad.wide.u32 %x, %i, 4, %x;
        st.global.u32 [%x], %sum;
        ret;
    }
}

/// All threads of an instance have this sum.
fn sum(threads: i32, step: i32, up: bool) -> i32 {
    (0..threads).map(|i| i * step * 3).sum::<i32>() + if up { 1000 } else { 0 }
}

#[test]
fn each_instance_has_its_own_text_and_results() {
    assert_eq!(sums::<32, 5, true>::NAME, "sums_32_5_1");
    assert_eq!(sums::<64, -7, false>::NAME, "sums_64_n7_0");
    assert_eq!(sums::<64, -7, false>.name(), "sums_64_n7_0");
    let text = sums::<64, -7, false>::PTX;
    assert!(text.contains(".visible .entry sums_64_n7_0(") && text.contains("mul.lo.s32 %v, %i, -7;"), "{text}");
    // one after another, as they share an image
    for host in hosts() {
        let mut x = [0; 32];
        sums::<32, 5, true>.launch(&host, Launch::grid(1).block(32), (&mut x,)).unwrap();
        assert_eq!(x, [sum(32, 5, true); 32]);
        let mut x = [0; 64];
        let negative = sums::<64, -7, false>.on(&host, Launch::grid(1).block(64));
        negative(&mut x).unwrap();
        assert_eq!(x, [sum(64, -7, false); 64]);
    }
    let mut x = [0; 64];
    let wrong = sums::<32, 5, true>.launch(&Host::new(), Launch::grid(1).block(64), (&mut x,));
    assert!(wrong.unwrap_err().to_string().contains("sums_32_5_1"));
}

#[test]
fn the_text_of_an_instance_runs_as_the_instance() {
    let module = ptx_dsl::load::Module::parse(sums::<16, 9, true>::PTX).unwrap();
    let kernel = module.kernel("sums_16_9_1").unwrap();
    let mut x = [0i32; 16];
    let arguments = &mut [kernel.arg("x").unwrap().slice_mut(&mut x).unwrap()];
    kernel.launch_raw(&Host::new(), Launch::grid(1).block(16), arguments).unwrap();
    assert_eq!(x, [sum(16, 9, true); 16]);
}

#[test]
fn a_closure_has_constants_in_its_header() {
    const LOCAL: i64 = -3;
    let k = ptx!(<sm_90, ptx 8.0, compiled, const STEP: i64 = LOCAL * 2, const PLACE: u32 = next(1)> |x: &mut [i64]| {
        .reg .b64 %x, %v;
        ld.param.u64 %x, [x];
        ld.global.u64 %v, [%x];
        add.s64 %v, %v, STEP;
        st.global.u64 [%x + 8 * PLACE], %v;
    });
    for host in hosts() {
        let mut x = [10i64, 0, 0];
        k.launch(&host, Launch::grid(1).block(1), (&mut x,)).unwrap();
        assert_eq!(x, [10, 0, 4]);
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    const SIZE: u32 = next(7);
    const EXTRA: u32 = next(99);
    .extern .shared .align 32 .b32 dynamic[];
    .func (.reg .b32 %sum) plus(.reg .b32 %a) {
        const INNER: u32 = next(0);
        add.u32 %sum, %a, EXTRA + INNER;
        ret;
    }
    // Where everything in shared memory is: the dynamic part begins behind what depends on constants.
    .visible .entry places(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b32 %v;
        .reg .b64 %x;
        .shared .b8 first[SIZE];
        .shared .align SIZE .b8 second[SIZE * SIZE];
        ld.param.u64 %x, [x];
        mov.u32 %v, first;
        st.global.u32 [%x], %v;
        mov.u32 %v, second;
        st.global.u32 [%x + 4], %v;
        mov.u32 %v, dynamic;
        st.global.u32 [%x + 8], %v;
        st.shared.u32 [dynamic + SIZE], %v;
        ld.shared.u32 %v, [dynamic + 8];
        call (%v), plus, (%v);
        st.global.u32 [%x + 12], %v;
        call (%v), plus, (SIZE);
        st.global.u32 [%x + 16], %v;
        ret;
    }
    .visible .entry last(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b32 %v;
        .reg .b64 %x;
        .shared .align 4 .b8 known[20];
        ld.param.u64 %x, [x];
        st.shared.u32 [known + 16], EXTRA;
        ld.shared.u32 %v, [known + SIZE * 2];
        st.global.u32 [%x], %v;
        ret;
    }
}

#[test]
fn variables_of_unknown_size_lie_behind_the_others() {
    for host in hosts() {
        laid_out(&host);
    }
}

fn laid_out(host: &Host) {
    let mut x = [0u32; 5];
    places.launch(host, Launch::grid(1).block(1).dynamic_shared(64), (&mut x,)).unwrap();
    let [first, second, dynamic, sum, of_size] = x;
    assert_eq!((second % 8, dynamic % 32), (0, 0));
    assert!(first + 8 <= second && second + 64 <= dynamic, "{x:?}");
    assert_eq!((sum, of_size), (dynamic + 101, 8 + 101));
    let mut y = [0u32];
    last.launch(host, Launch::grid(1).block(1), (&mut y,)).unwrap();
    assert_eq!(y, [100]);
}

/// The kernel of docs/guide/constants.md: a macro of Rust in place of a type parameter.
macro_rules! scale {
    ($name:ident, $ty:ident) => {
        ptx! {
            <sm_90, ptx 8.0, compiled>
            .visible .entry $name(.param .u64 .ptr .global .align 8 x: &mut [$ty], .param .$ty a: $ty) {
                .reg .$ty %v, %a;
                .reg .b64 %x;
                ld.param.u64 %x, [x];
                ld.param.$ty %a, [a];
                ld.global.$ty %v, [%x];
                mul.$ty %v, %v, %a;
                st.global.$ty [%x], %v;
                ret;
            }
        }
    };
}
scale!(scale_f32, f32);
scale!(scale_f64, f64);

#[test]
fn a_macro_of_rust_has_type_parameters() {
    for host in hosts() {
        let (mut x, mut y) = ([1.5f32], [1.5f64]);
        scale_f32.launch(&host, Launch::grid(1).block(1), (&mut x, 3.0)).unwrap();
        scale_f64.launch(&host, Launch::grid(1).block(1), (&mut y, 5.0)).unwrap();
        assert_eq!((x, y), ([4.5], [7.5]));
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    const STAGES: u32 = 3;
    const ELEMENTS: u32 = next(3);
    @for K in 1..=2 {
        .visible .entry ring{K}(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
            .reg .b32 %sum;
            .reg .b64 %x;
            .shared .align 16 .v4 .b32 slots[STAGES * 2];
            @for I in 0..STAGES {
                .reg .b32 %value{I}, %next{I}_{(I + 1) % 3};
            }
            ld.param.u64 %x, [x];
            mov.u32 %sum, 0;
            @for I in 0..STAGES {
                mov.u32 %next{I}_{(I + 1) % 3}, (I + 1) % 3 * 10 + ELEMENTS;
                @for J in 0..2 {
                    @if J == 1 && I != 1 {
                        @if K == 1 {
                            st.shared.v{K * 2}.b32 [slots + 32 * I + 16 * J], {%sum, %sum};
                        } else {
                            st.shared.v{K * 2}.b32 [slots + 32 * I + 16 * J], {%sum, %sum, %sum, %sum};
                        }
                    } else @if I == 1 {
                        bra SKIP{I}_{J};
                        trap;
                    SKIP{I}_{J}:
                    } else {
                        st.shared.b32 [slots + 32 * I], %next{I}_{(I + 1) % 3};
                    }
                }
                @if I != 1 {
                    ld.shared.b32 %value{I}, [slots + 32 * I];
                    add.u32 %sum, %sum, %value{I};
                }
            }
            mul.lo.u32 %sum, %sum, K;
            st.global.u32 [%x], %sum;
            ret;
        }
    }
}

#[test]
fn repetition_writes_code_out() {
    let sum: u32 = (0..3).filter(|i| *i != 1).map(|i| (i + 1) % 3 * 10 + 4).sum();
    for host in hosts() {
        let (mut x, mut y) = ([0u32], [0u32]);
        ring1.launch(&host, Launch::grid(1).block(1), (&mut x,)).unwrap();
        ring2.launch(&host, Launch::grid(1).block(1), (&mut y,)).unwrap();
        assert_eq!((x, y), ([sum], [2 * sum]));
    }
    for line in
        ["SKIP1_0:", "SKIP1_1:", "st.shared.v2.b32 [slots+80]", ".reg .b32 %value2, %next2_0;", "st.shared.v4.b32"]
    {
        assert!(ring1::PTX.contains(line), "{line}: {}", ring1::PTX);
    }
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    const PART: u32 = 3 * (1 << 4) - 40 / 5;
    // Known values: they may decide registers, sizes and repetitions. Two kernels of one module have them.
    .visible .entry listed<const LANES: u32 in [32, 64], const STAGES: i32 in -1..=2, const UP: bool in [false, true]>(
        .param .u64 .ptr .global .align 4 x: &mut [u32])
        .reqntid LANES / 2, 2 .maxnreg (LANES + 4) & ~7
    {
        .reg .b32 %r, %i, %y, %all<STAGES + 2>;
        .reg .b64 %x;
        .local .align 2 * 4 .b32 own[LANES];
        mov.u32 %i, %tid.x;
        mov.u32 %y, %tid.y;
        mad.lo.u32 %i, %y, LANES / 2, %i;
        mov.u32 %r, PART;
        @for S in 0..=STAGES { mad.lo.u32 %all{S}, %i, 10, S; @if UP { add.u32 %all{S}, %all{S}, 1000; } }
        @if STAGES >= 0 {
            st.local.b32 [own + 4 * STAGES], %all{STAGES};
            ld.local.b32 %y, [own + 4 * STAGES];
            add.u32 %r, %r, %y;
        } else { sub.u32 %r, %r, 1; }
        @for N in [1, LANES] { add.u32 %r, %r, N; }
        ld.param.u64 %x, [x];
        mad.wide.u32 %x, %i, 4, %x;
        st.global.u32 [%x], %r;
        ret;
    }
    .visible .entry other<const N: u8 in [7]>(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        st.global.u32 [%x], N;
        ret;
    }
}

#[test]
fn each_listed_instance_is_a_kernel() {
    for host in hosts() {
        let mut x = [0; 64];
        listed::<64, 2, true>.launch(&host, Launch::grid(1).block((32, 2)), (&mut x,)).unwrap();
        assert!(x.iter().zip(0..).all(|(x, i)| *x == 40 + i * 10 + 2 + 1000 + 1 + 64), "{x:?}");
        let mut x = [0; 32];
        listed::<32, -1, false>.on(&host, Launch::grid(1).block((16, 2)))(&mut x).unwrap();
        assert_eq!(x, [40 - 1 + 1 + 32; 32]);
        listed_32_0_0.launch(&host, Launch::grid(1).block((16, 2)), (&mut x,)).unwrap();
        assert!(x.iter().zip(0..).all(|(x, i)| *x == 40 + i * 10 + 1 + 32), "{x:?}");
        other::<7>().launch(&host, Launch::grid(1).block(1), (&mut x,)).unwrap();
        assert_eq!(x[0], 7);
    }
    assert_eq!((listed::<64, 2, true>::NAME, listed::<32, -1, false>.name()), ("listed_64_2_1", "listed_32_n1_0"));
    let text = listed::<64, 1, true>::ENTRY_PTX;
    for line in [".reqntid 32, 2", ".maxnreg 64", ".reg .b32 %r, %i, %y, %all<3>;", "own[64]", ".local .align 8"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("other_7") && listed::<64, 1, true>::PTX.contains(".entry other_7("), "{text}");
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    const SIZE: u32 = next(3);
    const KEPT: u32 = next(0);
    // Each CTA of a pair stores its rank to the variable of the other one, whose place rustc knows.
    .visible .entry peers(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 1 .reqnctapercluster SIZE / 2 {
        .reg .b32 %a, %peer, %rank, %v;
        .reg .b64 %x, %from;
        .shared .align 16 .b32 first[SIZE];
        .shared .align 16 .b32 second[SIZE];
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ld.param.u64 %x, [x];
        mov.u32 %rank, %cluster_ctarank;
        xor.b32 %peer, %rank, 1;
        mov.u32 %a, second + SIZE;
        mapa.shared::cluster.u32 %a, %a, %peer;
        add.u32 %v, %rank, 10;
        st.shared::cluster.u32 [%a + SIZE], %v;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ld.shared.u32 %v, [second + SIZE * 2];
        mad.wide.u32 %from, %rank, 16, %x;
        cp.async.ca.shared.global [first], [%from], 4;
        cp.async.commit_group;
        cp.async.ca.shared.global [first + 4], [%from + SIZE], 4;
        cp.async.commit_group;
        cp.async.wait_group KEPT;
        ld.shared.u32 %a, [first];
        cp.async.wait_group KEPT - 1;
        add.u32 %v, %v, %a;
        ld.shared.u32 %a, [first + 4];
        add.u32 %v, %v, %a;
        st.global.u32 [%from + 2 * SIZE], %v;
        ret;
    }
}

#[test]
fn addresses_of_other_ctas_and_groups_of_copies() {
    for host in hosts().iter().chain([&Host::new().seed(3)]) {
        let mut x = [100u32, 200, 0, 0, 1000, 2000, 0, 0];
        peers.launch(host, Launch::grid(2).block(1), (&mut x,)).unwrap();
        assert_eq!((x[2], x[6]), (300 + 11, 3000 + 10));
    }
}

const SIZE: u32 = next(4);
const SMALL_ALIGN: usize = 64;

ptx! {
    <sm_90, ptx 8.0, compiled>
    const SIZE: u32 = SIZE;
    const ALIGN: usize = SMALL_ALIGN;
    const REGISTERS: u32 = next(39);
    .const .align 8 .b64 known = 77;
    .const .b32 weights[SIZE] = {10, SIZE * 2, 30};
    .const .align ALIGN .b8 aligned[SIZE] = {1, 2};
    .global .u16 before = 9;
    .global .b64 table[SIZE * 2][2] = {{3, 4}, {SIZE, 6}};
    .global .b32 behind[SIZE];
    .extern .shared .align ALIGN .b8 dynamic[];
    // Each thread writes its own `.local` array, thread 0 the variables of the module.
    .visible .entry spaces(.param .u64 .ptr .global .align ALIGN x: &mut [u64])
        .reqntid SIZE, 1 .minnctapersm SIZE - 4 .maxnreg REGISTERS
    {
        .reg .pred %p;
        .reg .b32 %r<SIZE>, %i, %at;
        .reg .b64 %x, %d, %a, %in;
        .local .b8 own_first[7];
        .local .b32 own[SIZE];
        .local .align ALIGN .b8 last[SIZE];
        ld.param.u64 %x, [x];
        mov.u32 %i, %tid.x;
        mul.lo.u32 %r0, %i, 100;
        st.local.u32 [own + SIZE * 4 - 4], %r0;
        st.local.u8 [last + 4], %i;
        st.local.u8 [own_first + 6], 255;
        mov.u64 %a, own;
        cvta.local.u64 %a, %a;
        ld.u32 %r1, [%a + 4 * SIZE - 4];
        ld.local.u8 %r2, [last + 4];
        mov.u64 %a, last;
        and.b64 %a, %a, ALIGN - 1;
        cvt.u32.u64 %r3, %a;
        add.u32 %r1, %r1, %r2;
        add.u32 %r1, %r1, %r3;
        cvt.u64.u32 %d, %r1;
        mad.wide.u32 %in, %i, 8, %x;
        st.global.u64 [%in], %d;
        setp.ne.u32 %p, %i, 0;
        @%p ret;
        ld.const.u64 %d, [known];
        st.global.u64 [%x + 8 * SIZE], %d;
        ld.const.u32 %r4, [weights + SIZE - 1];
        ld.const.u32 %r0, [weights + 8];
        add.u32 %r4, %r4, %r0;
        ld.const.u32 %r0, [weights + 4 * SIZE - 4];
        add.u32 %r4, %r4, %r0;
        ld.const.u8 %r0, [aligned + 1];
        add.u32 %r4, %r4, %r0;
        mov.u64 %a, aligned;
        cvta.const.u64 %a, %a;
        ld.u8 %r0, [%a];
        mad.lo.u32 %r4, %r0, 1000, %r4;
        and.b64 %a, %a, ALIGN - 1;
        cvt.u32.u64 %r0, %a;
        add.u32 %r4, %r4, %r0;
        cvt.u64.u32 %d, %r4;
        st.global.u64 [%x + 8 * SIZE + 8], %d;
        ld.global.u64 %d, [table + 16];
        ld.global.u64 %a, [table + 24];
        mad.lo.u64 %d, %d, 10, %a;
        st.global.u64 [%x + 8 * SIZE + 16], %d;
        st.global.u32 [behind + SIZE * 4 - 4], SIZE;
        mov.u64 %a, behind;
        cvta.global.u64 %a, %a;
        ld.u32 %r0, [%a + 4 * (SIZE - 1)];
        ld.global.u32 %r1, [behind];
        add.u32 %r0, %r0, %r1;
        ld.global.u16 %r1, [before];
        mad.lo.u32 %r0, %r1, 100, %r0;
        cvt.u64.u32 %d, %r0;
        st.global.u64 [%x + 8 * SIZE + 24], %d;
        mov.u32 %at, dynamic;
        rem.u32 %at, %at, ALIGN;
        cvt.u64.u32 %d, %at;
        st.global.u64 [%x + 8 * SIZE + 32], %d;
        ret;
    }
}

#[test]
fn sizes_in_every_state_space_and_counts_of_registers() {
    for host in hosts().iter().chain([&Host::new().seed(5)]) {
        every_space(host);
    }
    every_space(&Host::checked());
    for line in [
        ".const .b32 weights[5] = {10, 10, 30};",
        ".const .align 64 .b8 aligned[5] = {1, 2};",
        ".global .b64 table[10][2] = {{3, 4}, {5, 6}};",
        ".global .b32 behind[5];",
        ".extern .shared .align 64 .b8 dynamic[];",
        ".param .u64 .ptr .global .align 64 x",
        ".minnctapersm 1",
        ".maxnreg 40",
        ".reg .b32 %r<5>, %i, %at;",
        ".local .b32 own[5];",
        ".local .align 64 .b8 last[5];",
    ] {
        assert!(spaces::PTX.contains(line), "{line}: {}", spaces::PTX);
    }
    let mut x = [0; 256];
    let wrong = spaces.launch_raw(&Host::new(), Launch::grid(1).block(5), &mut [Arg::buffer_at(&mut x, 8)]);
    assert!(
        wrong
            .unwrap_err()
            .to_string()
            .contains("begins at byte 8 of its buffer, but `.align` promises a multiple of 64")
    );
}

fn every_space<M>(host: &Host<M>) {
    let mut x = host.buffer(&[u64::MAX; 10]);
    spaces.launch(host, Launch::grid(1).block(5).dynamic_shared(64), (&mut x,)).unwrap();
    let own = [0, 1, 2, 3, 4].map(|i| i * 100 + i);
    let all = x.to_vec();
    assert_eq!(all[..5], own);
    // `weights` is {10, 10, 30, 0, 0}
    assert_eq!(all[5..], [77, 10 + 30 + 2 + 1000, 56, 905, 0]);
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    const EXTRA: u32 = next(1);
    .const .b32 table[EXTRA + 1] = {5, 6, 7};
    .visible .entry own_array<const N: u32>(.param .u64 .ptr .global .align 4 x: &mut [u32]) .maxnreg 8 * N {
        .reg .b32 %r<N>;
        .reg .b64 %x;
        .local .b32 values[N];
        .local .b32 more[N + EXTRA];
        ld.param.u64 %x, [x];
        st.local.u32 [values + 4 * N - 4], N;
        st.local.u32 [more + 4 * (N + EXTRA) - 4], 1000;
        ld.local.u32 %r0, [values + 4 * (N - 1)];
        ld.local.u32 %r1, [more + 4 * N + 4];
        add.u32 %r0, %r0, %r1;
        ld.const.u32 %r2, [table + 4 * EXTRA];
        mad.lo.u32 %r0, %r2, 10000, %r0;
        st.global.u32 [%x], %r0;
        ret;
    }
}

fn both_instances<M>(host: &Host<M>) {
    let mut x = [0];
    own_array::<3>.launch(host, Launch::grid(1).block(1), (&mut x,)).unwrap();
    assert_eq!(x, [71003]);
    own_array::<31>.launch(host, Launch::grid(1).block(1), (&mut x,)).unwrap();
    assert_eq!(x, [71031]);
}

#[test]
fn local_arrays_of_an_instance() {
    hosts().iter().for_each(both_instances);
    both_instances(&Host::checked());
    let text = own_array::<31>::PTX;
    for line in [".reg .b32 %r<31>;", ".maxnreg 248", ".local .b32 values[31];", ".local .b32 more[33];"] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// Registers, opcodes and constants that a macro names: `%$r` is a register, `$n % 4` a remainder.
macro_rules! remainder {
    ($name:ident, $r:ident, $op:ident, $n:ident, $last:literal) => {
        ptx! {
            <sm_90, ptx 8.0, compiled>
            const $n: u32 = 11;
            .visible .entry $name(.param .u64 .ptr .global .align 4 x: &mut [u32]) {
                .reg .b32 %$r, %other;
                .reg .b64 %x;
                ld.param.u64 %x, [x];
                mov.u32 %$r, $n % 4;
                mov.u32 %other, 7 % $n;
                $op.u32 %other, %$r, %other;
                add.u32 %other, %other, ($n) % $n + $last % 4;
                st.global.u32 [%x], %other;
                ret;
            }
        }
    };
}
remainder!(remainder_sum, r, add, N, 6);
remainder!(remainder_difference, total, sub, of_lower_case, 5);

#[test]
fn a_macro_of_rust_names_registers() {
    for host in hosts() {
        let (mut x, mut y) = ([0], [0]);
        remainder_sum.launch(&host, Launch::grid(1).block(1), (&mut x,)).unwrap();
        remainder_difference.launch(&host, Launch::grid(1).block(1), (&mut y,)).unwrap();
        assert_eq!((x, y), ([3 + 7 + 2], [3u32.wrapping_sub(7) + 1]));
    }
}
