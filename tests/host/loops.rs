//! Loops that lanes leave one by one: in memory, over several turns, with NaNs.

use ptx_dsl::prelude::*;

const THREADS: usize = 200;

/// A value that differs from thread to thread.
fn seed(i: u32) -> u32 {
    i.wrapping_mul(2_654_435_761) >> 7
}

#[test]
fn a_sparse_matrix_with_rows_of_all_lengths() {
    // Loads in a loop with a condition inside; only threads with work enter it.
    let k = ptx!(<sm_90, ptx 8.0> |starts: &[u32], columns: &[u32], x: &[u32], y: &mut [u32], hits: &mut [u32]| {
        .reg .pred %p;
        .reg .b32 %i, %at, %end, %c, %v, %sum, %turn;
        .reg .b64 %ps, %pc, %px, %py, %ph, %o, %from;
        ld.param.u64 %ps, [starts];
        ld.param.u64 %pc, [columns];
        ld.param.u64 %px, [x];
        ld.param.u64 %py, [y];
        ld.param.u64 %ph, [hits];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %from, %ps, %o;
        ld.global.u32 %at, [%from];
        ld.global.u32 %end, [%from+4];
        mov.u32 %sum, 0;
        mov.u32 %turn, 0;
        setp.ge.u32 %p, %at, %end;
        @%p bra DONE;
    NEXT:
        mul.wide.u32 %from, %at, 4;
        add.u64 %from, %pc, %from;
        ld.global.u32 %c, [%from];
        mul.wide.u32 %from, %c, 4;
        add.u64 %from, %px, %from;
        ld.global.u32 %v, [%from];
        add.u32 %turn, %turn, 1;
        and.b32 %c, %v, 3;
        setp.ne.u32 %p, %c, 0;
        @%p bra OTHER;
        red.global.add.u32 [%ph], 1;
        mad.lo.u32 %sum, %v, %turn, %sum;
        bra BOTH;
    OTHER:
        add.u32 %sum, %sum, 7;
    BOTH:
        add.u32 %at, %at, 1;
        setp.lt.u32 %p, %at, %end;
        @%p bra NEXT;
    DONE:
        add.u64 %py, %py, %o;
        st.global.u32 [%py], %sum;
    });
    let (mut starts, mut columns) = (vec![0u32], Vec::new());
    for i in 0..THREADS as u32 {
        columns.extend((0..seed(i) % 9 * (i % 3)).map(|n| seed(i * 31 + n) % 50));
        starts.push(columns.len() as u32);
    }
    let x: Vec<u32> = (0..50).map(|i| seed(i + 1000)).collect();
    let (mut y, mut hits) = (vec![0u32; THREADS], [0u32]);
    let launch = Launch::grid(1).block(THREADS as u32);
    k.launch(&Host::new(), launch, (&starts, &columns, &x, &mut y, &mut hits)).unwrap();
    let mut all = 0;
    for (i, row) in starts.windows(2).enumerate() {
        let mut sum = 0u32;
        for (turn, c) in (1u32..).zip(&columns[row[0] as usize..row[1] as usize]) {
            let v = x[*c as usize];
            if v.is_multiple_of(4) {
                all += 1;
                sum = sum.wrapping_add(v.wrapping_mul(turn));
            } else {
                sum = sum.wrapping_add(7);
            }
        }
        assert_eq!(y[i], sum, "row {i}");
    }
    assert_eq!(hits, [all]);
}

#[test]
fn loops_that_take_several_turns() {
    // Thousands of iterations: the warp must yield in between, and its state must survive.
    let k = ptx!(<sm_90, ptx 8.0> |x: &[u32], d: &mut [u32], f: &mut [f32]| {
        .reg .pred %p, %flip;
        .reg .b16 %h;
        .reg .b32 %i, %n, %end, %at, %v, %sum;
        .reg .b64 %px, %pd, %pf, %o, %wide;
        .reg .f32 %a, %b, %c;
        ld.param.u64 %px, [x];
        ld.param.u64 %pd, [d];
        ld.param.u64 %pf, [f];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        add.u64 %pf, %pf, %o;
        mad.lo.u32 %end, %i, 37, 9000;
        mov.u32 %n, 0;
        mov.u64 %wide, 1;
        mov.u16 %h, 1;
        mov.f32 %a, 0f3F800000;
        mov.f32 %b, 0f00000000;
        cvt.rn.f32.u32 %c, %i;
        setp.eq.u32 %flip, %n, 1;
    COMPUTE:
        mad.lo.u64 %wide, %wide, 6364136223846793005, 1442695040888963407;
        mad.lo.u16 %h, %h, 77, 3;
        not.pred %flip, %flip;
        add.rn.f32 %b, %b, %a;
        fma.rn.f32 %b, %c, 0f3A800000, %b;
        add.rn.f32 %c, %c, %a;
        mul.rn.f32 %a, %a, 0f3F7FFF58;
        add.u32 %n, %n, 1;
        setp.lt.u32 %p, %n, %end;
        @%p bra COMPUTE;
        st.global.f32 [%pf], %b;
        cvt.u32.u16 %v, %h;
        cvt.u32.u64 %n, %wide;
        xor.b32 %n, %n, %v;
        @%flip add.u32 %n, %n, 1;
        // and one in memory, which is lane-serial
        mov.u32 %at, %i;
        mov.u32 %sum, 0;
        mad.lo.u32 %end, %i, 5, 600;
    LOOK:
        and.b32 %v, %at, 63;
        mul.wide.u32 %o, %v, 4;
        add.u64 %o, %px, %o;
        ld.global.u32 %v, [%o];
        add.u32 %at, %at, %v;
        mad.lo.u32 %sum, %sum, 3, %v;
        sub.u32 %end, %end, 1;
        setp.ne.u32 %p, %end, 0;
        @%p bra LOOK;
        add.u32 %n, %n, %sum;
        st.global.u32 [%pd], %n;
    });
    let x: Vec<u32> = (0..64).map(seed).collect();
    let (mut d, mut f) = (vec![0u32; THREADS], vec![0f32; THREADS]);
    k.launch(&Host::new(), Launch::grid(1).block(THREADS as u32), (&x, &mut d, &mut f)).unwrap();
    for i in 0..THREADS as u32 {
        let (mut wide, mut half, mut flip, mut a, mut b, mut c) = (1u64, 1u16, false, 1f32, 0f32, i as f32);
        for _ in 0..i * 37 + 9000 {
            wide = wide.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            half = half.wrapping_mul(77).wrapping_add(3);
            flip = !flip;
            b = c.mul_add(1.0 / 1024.0, b + a);
            c += a;
            a *= f32::from_bits(0x3f7f_ff58);
        }
        let (mut at, mut sum) = (i, 0u32);
        for _ in 0..i * 5 + 600 {
            let v = x[at as usize % 64];
            at = at.wrapping_add(v);
            sum = sum.wrapping_mul(3).wrapping_add(v);
        }
        let n = (wide as u32 ^ u32::from(half)).wrapping_add(flip.into()).wrapping_add(sum);
        assert_eq!((d[i as usize], f[i as usize].to_bits()), (n, b.to_bits()), "thread {i}");
    }
}

#[test]
fn a_nan_that_nobody_computed_stays_as_it_is_in_a_loop() {
    // Even threads leave before the first sum, with bits that arithmetic would not produce.
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32], x: &[f32]| {
        .reg .pred %p;
        .reg .b32 %i, %n, %bits;
        .reg .b64 %pd, %px, %o;
        .reg .f32 %v, %s, %t;
        ld.param.u64 %pd, [d];
        ld.param.u64 %px, [x];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        add.u64 %px, %px, %o;
        ld.global.f32 %v, [%px];
        mov.f32 %s, %v;
        mov.f32 %t, %v;
        and.b32 %n, %i, 1;
        mul.lo.u32 %n, %n, %i;
    NEXT:
        setp.eq.u32 %p, %n, 0;
        @%p bra DONE;
        add.rn.f32 %s, %s, %s;
        add.rn.f32 %t, %t, %s;
        mul.rn.f32 %t, %t, 0f3F000000;
        sub.u32 %n, %n, 1;
        bra NEXT;
    DONE:
        mov.b32 %bits, %s;
        st.global.u32 [%pd], %bits;
    });
    let x: Vec<f32> = (0..64u32).map(|i| if i % 4 < 2 { f32::from_bits(0x7f81_0000 + i) } else { 1.0 }).collect();
    let mut d = vec![0u32; 64];
    k.launch(&Host::new(), Launch::grid(1).block(64), (&mut d, &x)).unwrap();
    for (i, &got) in d.iter().enumerate() {
        let wanted = match (i % 2, i % 4) {
            (0, 0) => 0x7f81_0000 + i as u32,
            (0, _) => 1f32.to_bits(),
            (_, 1) => 0x7fff_ffff,
            _ => (2f32).powi(i as i32).to_bits(),
        };
        assert_eq!(got, wanted, "thread {i}: {got:08x}");
    }
}

ptx! {
    <sm_90, ptx 8.0>
    // Adds up scattered pairs and quadruples, and stores the running sums elsewhere.
    .visible .entry pairs_anywhere(
        .param .u64 .ptr .global .align 8 x: &mut [u16],
        .param .u64 .ptr .global .align 8 y: &mut [u32])
    {
        .reg .pred %p;
        .reg .b16 %a, %b, %c, %d;
        .reg .b32 %i, %at, %n, %u, %v;
        .reg .b64 %px, %py, %o, %from;
        ld.param.u64 %px, [x];
        ld.param.u64 %py, [y];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 8;
        add.u64 %py, %py, %o;
        mov.u32 %u, 0;
        mov.u32 %v, 0;
        and.b32 %n, %i, 7;
        add.u32 %n, %n, 1;
        mov.u32 %at, %i;
    NEXT:
        mad.lo.u32 %at, %at, 5, 3;
        and.b32 %at, %at, 15;
        mul.wide.u32 %from, %at, 8;
        add.u64 %from, %px, %from;
        ld.global.v4.u16 {%a, %b, %c, %d}, [%from];
        mad.wide.u16 %u, %a, 3, %u;
        mad.wide.u16 %u, %b, 5, %u;
        mad.wide.u16 %v, %c, 7, %v;
        mad.wide.u16 %v, %d, 9, %v;
        st.global.v2.u32 [%py], {%u, %v};
        sub.u32 %n, %n, 1;
        setp.ne.u32 %p, %n, 0;
        @%p bra NEXT;
        ret;
    }
}

#[test]
fn vectors_of_elements_on_all_hosts() {
    let mut x: Vec<u16> = (0..64).map(|i| seed(i) as u16).collect();
    let mut wanted = Vec::new();
    for i in 0..THREADS {
        let (mut at, mut u, mut v) = (i, 0u32, 0u32);
        for _ in 0..i % 8 + 1 {
            at = (at * 5 + 3) % 16;
            let e = |n: usize| u32::from(x[4 * at + n]);
            u += e(0) * 3 + e(1) * 5;
            v += e(2) * 7 + e(3) * 9;
        }
        wanted.extend([u, v]);
    }
    let launch = || Launch::grid(1).block(THREADS as u32);
    let mut y = vec![0u32; 2 * THREADS];
    pairs_anywhere.launch(&Host::new(), launch(), (&mut x, &mut y)).unwrap();
    assert_eq!(y, wanted);
    y.fill(0);
    pairs_anywhere.launch(&Host::checked(), launch(), (&mut x, &mut y)).unwrap();
    assert_eq!(y, wanted);
    y.fill(0);
    pairs_anywhere.launch(&Host::new().threads(2), launch(), (&mut x, &mut y)).unwrap();
    assert_eq!(y, wanted);
    let fault = pairs_anywhere.launch(&Host::new(), launch(), (&mut x[..32], &mut y)).unwrap_err().to_string();
    assert!(fault.contains("ld.global.v4.u16"), "{fault}");
}

ptx! {
    <sm_90, ptx 8.0>
    // Even threads add their number to elements of x and odd ones to those of y, in another order; the first element of each counts them.
    .visible .entry two_buffers(
        .param .u64 .ptr .global .align 4 x: &mut [u32],
        .param .u64 .ptr .global .align 4 y: &mut [u32])
        .reqntid 64
    {
        .reg .pred %odd;
        .reg .b32 %i, %n, %at, %v;
        .reg .b64 %px, %py, %p, %o;
        ld.param.u64 %px, [x];
        ld.param.u64 %py, [y];
        mov.u32 %i, %ctaid.x;
        mov.u32 %n, %tid.x;
        mad.lo.u32 %i, %i, 64, %n;
        and.b32 %n, %i, 1;
        setp.ne.u32 %odd, %n, 0;
        selp.b64 %p, %py, %px, %odd;
        atom.global.add.u32 %n, [%p], 1;
        mul.lo.u32 %at, %i, 77;
        and.b32 %at, %at, 127;
        mad.wide.u32 %p, %at, 4, %p;
        ld.global.u32 %v, [%p+4];
        add.u32 %v, %v, %i;
        st.global.u32 [%p+4], %v;
        ret;
    }
}

#[test]
fn lanes_of_two_buffers_on_all_hosts() {
    let data =
        || -> [Vec<u32>; 2] { [1000, 5000].map(|from| (0..129).map(|i| if i == 0 { 0 } else { from + i }).collect()) };
    let mut wanted = data();
    for i in 0..128 {
        let buffer = &mut wanted[i % 2];
        buffer[0] += 1;
        buffer[1 + i * 77 % 128] += i as u32;
    }
    let launch = || Launch::grid(2).block(64);
    for host in [Host::new(), Host::new().threads(2), Host::new().seed(3)] {
        let [mut x, mut y] = data();
        two_buffers.launch(&host, launch(), (&mut x, &mut y)).unwrap();
        assert_eq!([x, y], wanted);
    }
    let [mut x, mut y] = data();
    two_buffers.launch(&Host::checked(), launch(), (&mut x, &mut y)).unwrap();
    assert_eq!([x, y], wanted);
    // past the end of the second one alone
    let [mut x, mut y] = data();
    let fault = two_buffers.launch(&Host::new().threads(2), launch(), (&mut x, &mut y[..100])).unwrap_err().to_string();
    assert!(fault.contains("y["), "{fault}");
}

/// More straight code than one region holds (`LONGEST` in `regions.rs`), twice around a loop, with instructions that only some
/// lanes run.
macro_rules! straight {
    ($($n:literal)*) => {
        const STEPS: &[u32] = &[$($n),*];
        ptx! {
            <sm_80, ptx 7.0>
            .visible .entry long(.param .u64 d: &mut [u32], .param .u32 rounds: u32) {
                .reg .pred %p, %odd;
                .reg .b32 %i, %v, %w, %k, %rounds, %o32;
                .reg .b64 %d, %o;
                ld.param.u64 %d, [d];
                ld.param.u32 %rounds, [rounds];
                mov.u32 %i, %tid.x;
                mul.wide.u32 %o, %i, 4;
                add.u64 %d, %d, %o;
                ld.global.u32 %v, [%d];
                and.b32 %w, %i, 1;
                setp.ne.u32 %odd, %w, 0;
                mov.u32 %w, 1;
                mov.u32 %k, 0;
            again:
                $(
                    add.u32 %v, %v, $n;
                    @%odd xor.b32 %v, %v, %k;
                    mad.lo.u32 %w, %w, $n, %v;
                    shl.b32 %o32, %w, 1;
                    add.u32 %v, %v, %o32;
                )*
                add.u32 %k, %k, 1;
                setp.lt.u32 %p, %k, %rounds;
                @%p bra again;
                add.u32 %v, %v, %w;
                st.global.u32 [%d], %v;
                ret;
            }
        }
    };
}
straight!(1 38 75 11 48 85 21 58 95 31 68 4 41 78 14 51 88 24 61 98 34 71 7 44 81 17 54 91 27 64 101 37 74 10 47 84 20 57 94 30 67 3 40 77 13 50 87 23 60 97 33 70 6 43 80 16 53 90 26 63 100 36 73 9 46 83 19 56 93 29 66 2 39 76 12 49 86 22 59 96 32 69 5 42 79 15 52 89 25 62 99 35 72 8 45 82 18 55 92 28 65 1 38 75 11 48 85 21 58 95 31 68 4 41 78 14 51 88 24 61 98 34 71 7 44 81 17 54 91 27 64 101 37 74 10 47 84 20 57 94 30 67 3 40 77 13 50 87 23 60 97 33 70 6 43 80 16 53 90 26 63 100 36 73 9 46 83 19 56 93 29 66 2 39 76 12 49 86 22 59 96 32 69 5 42 79 15 52 89 25 62 99 35 72 8 45 82 18 55 92 28 65 1 38 75 11 48 85 21 58 95 31 68 4 41 78 14 51 88 24 61 98 34 71 7 44 81 17 54 91 27 64 101 37 74 10 47 84 20 57 94 30 67 3 40 77 13 50 87 23 60 97 33 70 6 43 80 16 53 90);

#[test]
fn long_straight_code_is_what_its_parts_are() {
    let mut d: Vec<u32> = (0..96).map(|i| i * 1_000_003).collect();
    let expected: Vec<u32> = (0u32..96)
        .map(|i| {
            let (mut v, mut w) = (i * 1_000_003, 1u32);
            for k in 0..3 {
                for n in STEPS {
                    v = v.wrapping_add(*n);
                    if i % 2 == 1 {
                        v ^= k;
                    }
                    w = w.wrapping_mul(*n).wrapping_add(v);
                    v = v.wrapping_add(w << 1);
                }
            }
            v.wrapping_add(w)
        })
        .collect();
    long.launch(&Host::new(), Launch::grid(1).block(96), (&mut d[..], 3)).unwrap();
    assert_eq!(d, expected);
}
