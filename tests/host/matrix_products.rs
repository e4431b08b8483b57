//! Products of matrices in kernels: sums of small integers, which are exact in every type, against plain Rust. The bits of other sums
//! are in `ptx-dsl/tests/matrix`.

use ptx_dsl::prelude::*;

/// Integers from -4 to 4.
fn small(n: usize, seed: usize) -> Vec<i32> {
    (0..n).map(|i| ((i * i * 31 + i * 7 + seed * 13) % 9) as i32 - 4).collect()
}

fn f16(v: i32) -> u16 {
    let magnitude = v.unsigned_abs();
    let Some(top) = magnitude.checked_ilog2() else { return 0 };
    let bits = (top + 15) << 10 | (magnitude << (10 - top)) & 0x3ff;
    (bits | if v < 0 { 0x8000 } else { 0 }) as u16
}

fn product(a: &[i32], b: &[i32], [m, n, k]: [usize; 3]) -> Vec<f32> {
    let sum = |row: usize, column: usize| (0..k).map(|i| a[row * k + i] * b[column * k + i]).sum::<i32>() as f32;
    (0..m * n).map(|at| sum(at / n, at % n)).collect()
}

ptx! {
    <sm_90a, ptx 8.6>
    // D = A B for A of 32 x 64 and B of 64 x 16 (column by column): each of four warps has a tile of 16 x 8.
    .visible .entry gemm(
        .param .u64 .ptr .global .align 16 a: &[u16],
        .param .u64 .ptr .global .align 16 b: &[u16],
        .param .u64 .ptr .global .align 16 d: &mut [f32]
    ) .reqntid 128 {
        .reg .pred %p;
        .reg .b32 %i, %lane, %warp, %row, %column, %at, %k, %r<6>;
        .reg .f32 %d<4>;
        .reg .b64 %a, %b, %pd, %o;
        .shared .align 16 .b16 sa[2048];
        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        // 4096 bytes of A to shared memory
        mad.wide.u32 %o, %i, 32, %a;
        ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%o];
        mov.u32 %at, sa;
        mad.lo.u32 %at, %i, 32, %at;
        st.shared.v4.u32 [%at], {%r0, %r1, %r2, %r3};
        ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%o+16];
        st.shared.v4.u32 [%at+16], {%r0, %r1, %r2, %r3};
        bar.sync 0;
        and.b32 %lane, %i, 31;
        shr.u32 %warp, %i, 5;
        // rows of the tile: 16 (warp / 2); columns: 8 (warp mod 2)
        shr.u32 %row, %warp, 1;
        and.b32 %column, %warp, 1;
        // ldmatrix: lane l has row l mod 16, half l / 16 of 16 k
        mov.u32 %at, sa;
        mad.lo.u32 %at, %row, 2048, %at;
        and.b32 %k, %lane, 15;
        mad.lo.u32 %at, %k, 128, %at;
        shr.u32 %k, %lane, 4;
        mad.lo.u32 %at, %k, 16, %at;
        // B: column l / 4, k from 2 (l mod 4) on
        shr.u32 %k, %lane, 2;
        mad.lo.u32 %k, %column, 8, %k;
        mad.wide.u32 %b, %k, 128, %b;
        and.b32 %k, %lane, 3;
        mad.wide.u32 %b, %k, 4, %b;
        mov.f32 %d0, 0f00000000;
        mov.f32 %d1, 0f00000000;
        mov.f32 %d2, 0f00000000;
        mov.f32 %d3, 0f00000000;
        mov.u32 %k, 0;
      loop:
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%at];
        ld.global.b32 %r4, [%b];
        ld.global.b32 %r5, [%b+16];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%d0, %d1, %d2, %d3};
        add.u32 %at, %at, 32;
        add.u64 %b, %b, 32;
        add.u32 %k, %k, 16;
        setp.lt.u32 %p, %k, 64;
        @%p bra loop;
        // D: rows l / 4 and l / 4 + 8, columns 2 (l mod 4) on
        shr.u32 %k, %lane, 2;
        mad.lo.u32 %k, %row, 16, %k;
        mad.lo.u32 %k, %k, 16, 0;
        mad.lo.u32 %k, %column, 8, %k;
        and.b32 %lane, %lane, 3;
        mad.lo.u32 %k, %lane, 2, %k;
        mad.wide.u32 %o, %k, 4, %pd;
        st.global.v2.f32 [%o], {%d0, %d1};
        st.global.v2.f32 [%o+512], {%d2, %d3};
    }
}

#[test]
fn mma_in_a_loop() {
    let [m, n, k] = [32, 16, 64];
    let (a, b) = (small(m * k, 1), small(n * k, 2));
    let halves = |v: &[i32]| v.iter().map(|v| f16(*v)).collect::<Vec<_>>();
    let mut d = vec![f32::NAN; m * n];
    gemm.launch(&Host::new(), Launch::grid(1), (&halves(&a), &halves(&b), &mut d)).unwrap();
    assert_eq!(d, product(&a, &b, [m, n, k]));
    let mut checked = vec![f32::NAN; m * n];
    gemm.launch(&Host::checked(), Launch::grid(1), (&halves(&a), &halves(&b), &mut checked)).unwrap();
    assert_eq!(checked, d);
}

ptx! {
    <sm_80, ptx 8.6>
    // Every lane's A is 1 in the first element of a pair and 2 in the second; B is k + 1 in column 0 and on.
    .visible .entry sparse(.param .u64 .ptr .global .align 16 d: &mut [i32], .param .u32 metadata) .reqntid 32 {
        .reg .b32 %i, %m, %k, %a, %d<4>, %b<2>;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %a, 0x02010201;
        ld.param.u32 %m, [metadata];
        mov.u32 %i, %tid.x;
        // k + 1 for k = 4 t to 4 t + 3, and 16 more
        and.b32 %k, %i, 3;
        mul.lo.u32 %k, %k, 0x04040404;
        add.u32 %b0, %k, 0x04030201;
        add.u32 %b1, %b0, 0x10101010;
        mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%d0, %d1, %d2, %d3}, {%a, %a}, {%b0, %b1}, {%i, %i, %i, %i}, %m, 0;
        mad.wide.u32 %o, %i, 16, %pd;
        st.global.v4.u32 [%o], {%d0, %d1, %d2, %d3};
    }
}

#[test]
fn sparse_products_and_bad_metadata() {
    let launch = |metadata: u32| {
        let mut d = vec![0; 128];
        sparse.launch(&Host::new(), Launch::grid(1), (&mut d, metadata)).map(|_| d)
    };
    for (metadata, positions) in
        [(0x4444_4444, [0, 1]), (0xeeee_eeee, [2, 3]), (0xcccc_cccc, [0, 3]), (0x9999_9999u32, [1, 2])]
    {
        // chunks of four k
        let sum: i32 = (0..8).map(|c| (4 * c + positions[0] + 1) + 2 * (4 * c + positions[1] + 1)).sum();
        let expected: Vec<i32> = (0..128).map(|i| sum + i / 4).collect();
        assert_eq!(launch(metadata).unwrap(), expected, "{metadata:#x}");
    }
    // positions out of order, and twice the same
    for metadata in [0x4444_4441, 0x4445_4444] {
        let error = launch(metadata).unwrap_err().to_string();
        assert!(error.contains("not an index of sparsity metadata"), "{error}");
        assert!(error.contains("9.7.14.6.1"), "{error}");
    }
}

ptx! {
    <sm_80, ptx 7.8>
    // D = A B + 1: A of 16 x 48 row by row, B of 48 x 16 column by column in shared memory, D column by column.
    .visible .entry fragments(
        .param .u64 .ptr .global .align 32 a: &[u16],
        .param .u64 .ptr .global .align 32 b: &[u16],
        .param .u64 .ptr .global .align 32 d: &mut [f32],
        .param .u32 stride
    ) .reqntid 32 {
        .reg .pred %p;
        .reg .b32 %i, %k, %at, %stride, %a<8>, %b<8>;
        .reg .f32 %d<8>;
        .reg .b64 %pa, %pb, %pd, %o;
        .shared .align 32 .b16 sb[768];
        ld.param.u64 %pa, [a];
        ld.param.u64 %pb, [b];
        ld.param.u64 %pd, [d];
        ld.param.u32 %stride, [stride];
        mov.u32 %i, %tid.x;
        mov.u32 %at, sb;
        mad.lo.u32 %at, %i, 4, %at;
        mad.wide.u32 %o, %i, 4, %pb;
        mov.u32 %k, 0;
      copy:
        ld.global.b32 %a0, [%o];
        st.shared.b32 [%at], %a0;
        add.u64 %o, %o, 128;
        add.u32 %at, %at, 128;
        add.u32 %k, %k, 1;
        setp.lt.u32 %p, %k, 12;
        @%p bra copy;
        bar.warp.sync 0xffffffff;
        mov.f32 %d0, 0f3f800000;
        mov.f32 %d1, %d0;
        mov.f32 %d2, %d0;
        mov.f32 %d3, %d0;
        mov.f32 %d4, %d0;
        mov.f32 %d5, %d0;
        mov.f32 %d6, %d0;
        mov.f32 %d7, %d0;
        mov.u32 %at, sb;
        mov.u32 %k, 0;
      loop:
        wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%pa], %stride;
        wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, [%at], 48;
        wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7},
            {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7};
        add.u64 %pa, %pa, 32;
        add.u32 %at, %at, 32;
        add.u32 %k, %k, 16;
        setp.lt.u32 %p, %k, 48;
        @%p bra loop;
        wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%pd], {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7};
    }
}

#[test]
fn wmma_from_both_state_spaces() {
    let [m, n, k] = [16, 16, 48];
    let (a, b) = (small(m * k, 3), small(n * k, 4));
    let halves = |v: &[i32]| v.iter().map(|v| f16(*v)).collect::<Vec<_>>();
    let mut d = vec![f32::NAN; m * n];
    fragments.launch(&Host::new(), Launch::grid(1), (&halves(&a), &halves(&b), &mut d, 48)).unwrap();
    let rows = product(&a, &b, [m, n, k]);
    let expected: Vec<f32> = (0..m * n).map(|at| rows[at % m * n + at / m] + 1.0).collect();
    assert_eq!(d, expected);
    // rows past the end of A
    let error = fragments.launch(&Host::new(), Launch::grid(1), (&halves(&a), &halves(&b), &mut d, 64)).unwrap_err();
    assert!(error.to_string().contains("`a[768..772]` is out of bounds: it has 768 elements"), "{error}");
}
