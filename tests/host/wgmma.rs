//! `wgmma`: a product of several warpgroups, and what goes wrong between issue and wait.

use ptx_dsl::prelude::*;

/// Integers from -4 to 4.
fn small(n: usize, seed: usize) -> Vec<i32> {
    (0..n).map(|i| ((i * i * 29 + i * 11 + seed * 17) % 9) as i32 - 4).collect()
}

fn f16(v: i32) -> u16 {
    let magnitude = v.unsigned_abs();
    let Some(top) = magnitude.checked_ilog2() else { return 0 };
    let bits = (top + 15) << 10 | (magnitude << (10 - top)) & 0x3ff;
    (bits | if v < 0 { 0x8000 } else { 0 }) as u16
}

ptx! {
    <sm_90a, ptx 8.6>
    // D = A B: A of 128 x 64 row by row, B of 64 x 32 column by column, each row or column 128 bytes with 128-byte swizzling.
    // Two warpgroups have 64 rows each; four products of 16 k are one group.
    .visible .entry gemm(
        .param .u64 .ptr .global .align 16 a: &[u16],
        .param .u64 .ptr .global .align 16 b: &[u16],
        .param .u64 .ptr .global .align 16 d: &mut [f32]
    ) .reqntid 256 {
        .reg .pred %p, %old;
        .reg .b32 %i, %j, %k, %at, %to, %row, %group, %v<4>;
        .reg .f32 %d<16>;
        .reg .b64 %pa, %pb, %pd, %o, %da, %db;
        .shared .align 1024 .b8 sa[16384];
        .shared .align 1024 .b8 sb[4096];
        ld.param.u64 %pa, [a];
        ld.param.u64 %pb, [b];
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        // 1024 pieces of A and 256 of B: piece n is in row n / 8 and goes to place (n % 8) xor (row % 8) of it
        mov.u32 %j, %i;
      pieces:
        shr.u32 %row, %j, 3;
        xor.b32 %to, %row, %j;
        and.b32 %to, %to, 7;
        mad.lo.u32 %to, %row, 8, %to;
        mov.u32 %at, sa;
        mad.lo.u32 %at, %to, 16, %at;
        mad.wide.u32 %o, %j, 16, %pa;
        ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%o];
        st.shared.v4.u32 [%at], {%v0, %v1, %v2, %v3};
        add.u32 %j, %j, 256;
        setp.lt.u32 %p, %j, 1024;
        @%p bra pieces;
        shr.u32 %row, %i, 3;
        xor.b32 %to, %row, %i;
        and.b32 %to, %to, 7;
        mad.lo.u32 %to, %row, 8, %to;
        mov.u32 %at, sb;
        mad.lo.u32 %at, %to, 16, %at;
        mad.wide.u32 %o, %i, 16, %pb;
        ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%o];
        st.shared.v4.u32 [%at], {%v0, %v1, %v2, %v3};
        fence.proxy.async.shared::cta;
        bar.sync 0;
        // descriptors: 128-byte swizzling (1 << 62), 1024 bytes from eight rows to the next; A of group 1 is 8192 bytes on
        shr.u32 %group, %i, 7;
        mov.u32 %at, sa;
        mad.lo.u32 %at, %group, 8192, %at;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %da, %at;
        or.b64 %da, %da, 0x4000004000010000;
        mov.u32 %at, sb;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %db, %at;
        or.b64 %db, %db, 0x4000004000010000;
        wgmma.fence.sync.aligned;
        mov.u32 %k, 0;
      loop:
        setp.ne.u32 %old, %k, 0;
        wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
            {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7, %d8, %d9, %d10, %d11, %d12, %d13, %d14, %d15}, %da, %db, %old, 1, 1, 0, 0;
        add.u64 %da, %da, 2;
        add.u64 %db, %db, 2;
        add.u32 %k, %k, 16;
        setp.lt.u32 %p, %k, 64;
        @%p bra loop;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        // rows 16 warp + lane / 4 and 8 more, columns 2 (lane mod 4) and 8 more
        shr.u32 %row, %i, 5;
        mul.lo.u32 %row, %row, 16;
        and.b32 %at, %i, 31;
        shr.u32 %at, %at, 2;
        add.u32 %row, %row, %at;
        and.b32 %at, %i, 3;
        mul.lo.u32 %at, %at, 2;
        mad.lo.u32 %at, %row, 32, %at;
        mad.wide.u32 %o, %at, 4, %pd;
        st.global.v2.f32 [%o], {%d0, %d1};
        st.global.v2.f32 [%o+1024], {%d2, %d3};
        st.global.v2.f32 [%o+32], {%d4, %d5};
        st.global.v2.f32 [%o+1056], {%d6, %d7};
        st.global.v2.f32 [%o+64], {%d8, %d9};
        st.global.v2.f32 [%o+1088], {%d10, %d11};
        st.global.v2.f32 [%o+96], {%d12, %d13};
        st.global.v2.f32 [%o+1120], {%d14, %d15};
    }
}

#[test]
fn a_product_of_two_warpgroups() {
    let [m, n, k] = [128, 32, 64];
    let (a, b) = (small(m * k, 1), small(n * k, 2));
    let halves = |v: &[i32]| v.iter().map(|v| f16(*v)).collect::<Vec<_>>();
    let sum = |row: usize, column: usize| (0..k).map(|i| a[row * k + i] * b[column * k + i]).sum::<i32>() as f32;
    let expected: Vec<f32> = (0..m * n).map(|at| sum(at / n, at % n)).collect();
    let mut d = vec![f32::NAN; m * n];
    gemm.launch(&Host::new(), Launch::grid(1), (&halves(&a), &halves(&b), &mut d)).unwrap();
    assert_eq!(d, expected);
    let mut checked = vec![f32::NAN; m * n];
    gemm.launch(&Host::checked(), Launch::grid(1), (&halves(&a), &halves(&b), &mut checked)).unwrap();
    assert_eq!(checked, expected);
}

ptx! {
    <sm_90a, ptx 8.6, allow(warnings)>
    // Where a kernel calls a recursive function, the macro does not follow the registers of operations in flight.
    .func count(.reg .b32 %n) {
        .reg .pred %p;
        .reg .b32 %less;
        setp.eq.u32 %p, %n, 0;
        @%p ret;
        sub.u32 %less, %n, 1;
        call count, (%less);
        ret;
    }

    // Two products of s8 with matrices of ones in registers and shared memory, in groups of their own, and one of several mistakes.
    .visible .entry pending(.param .u64 .ptr .global .align 16 d: &mut [i32], .param .u32 mistake) .reqntid 128 {
        .reg .pred %p, %yes;
        .reg .b32 %i, %at, %mistake, %one, %d<4>, %e<4>;
        .reg .b64 %pd, %o, %db;
        .shared .align 128 .b8 sb[256];
        ld.param.u64 %pd, [d];
        ld.param.u32 %mistake, [mistake];
        mov.u32 %i, 2;
        call count, (%i);
        mov.u32 %i, %tid.x;
        mad.wide.u32 %o, %i, 16, %pd;
        mov.u32 %one, 0x01010101;
        mov.u32 %at, sb;
        mad.lo.u32 %at, %i, 2, %at;
        .reg .b16 %h;
        cvt.u16.u32 %h, %one;
        st.shared.b16 [%at], %h;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        mov.u32 %at, sb;
        setp.ne.u32 %p, %mistake, 1;
        @%p bra inside;
        add.u32 %at, %at, 0x30000;
      inside:
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %db, %at;
        // 128 bytes from 16 k to the next
        or.b64 %db, %db, 0x0000001000080000;
        mov.u32 %d0, 1;
        mov.u32 %d1, 2;
        mov.u32 %d2, 3;
        mov.u32 %d3, 4;
        setp.eq.u32 %yes, %i, %i;
        setp.eq.u32 %p, %mistake, 2;
        @%p bra unfenced;
        wgmma.fence.sync.aligned;
      unfenced:
        wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%d0, %d1, %d2, %d3}, {%one, %one, %one, %one}, %db, %yes;
        setp.eq.u32 %p, %mistake, 3;
        @%p bra uncommitted;
        wgmma.commit_group.sync.aligned;
      uncommitted:
        wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%e0, %e1, %e2, %e3}, {%one, %one, %one, %one}, %db, 0;
        setp.eq.u32 %p, %mistake, 4;
        @%p bra unwaited;
        setp.eq.u32 %p, %mistake, 3;
        @%p bra unwaited;
        wgmma.commit_group.sync.aligned;
        setp.ne.u32 %p, %mistake, 5;
        @%p bra first;
        wgmma.wait_group.sync.aligned 2;
        bra unwaited;
      first:
        // the first group is complete, the second may be in flight
        wgmma.wait_group.sync.aligned 1;
      unwaited:
        setp.ne.u32 %p, %mistake, 6;
        @%p bra untouched;
        // a fragment of A
        add.u32 %one, %one, 1;
      untouched:
        setp.ne.u32 %p, %mistake, 7;
        @%p bra read;
        add.u32 %d0, %d0, %e0;
      read:
        add.u32 %d1, %d1, 10;
        wgmma.wait_group.sync.aligned 0;
        st.global.v4.u32 [%o], {%d0, %d1, %d2, %e3};
    }
}

#[test]
fn registers_of_operations_in_flight() {
    let launch = |mistake: u32| {
        let mut d = vec![0; 512];
        pending.launch(&Host::new(), Launch::grid(1), (&mut d, mistake)).map(|_| d).map_err(|e| e.to_string())
    };
    let expected: Vec<i32> = (0..512).map(|i| [33, 44, 35, 32][i % 4]).collect();
    assert_eq!(launch(0).unwrap(), expected);
    for (mistake, what, section) in [
        (1, "shared address 0x30000 is out of bounds: shared memory has", "9.7.15.5.1.2"),
        (2, "has not executed `wgmma.fence`", "9.7.15.7.1"),
        (3, "which is in no group", "9.7.15.7.3"),
        (4, "which no `wgmma.wait_group` has waited for", "9.7.15.7.3"),
        (5, "complete only after a `wgmma.wait_group` of at most 1", "9.7.15.7.3"),
        (6, "which no `wgmma.wait_group` has waited for", "9.7.15.7.3"),
        (7, "which no `wgmma.wait_group` has waited for", "9.7.15.7.3"),
    ] {
        let error = launch(mistake).unwrap_err();
        assert!(error.contains(what), "{mistake}: {error}");
        assert!(error.contains(&format!("PTX ISA {section}")), "{mistake}: {error}");
        // the statement that touches the register, not the check before it
        assert!(!error.contains("`wgmma.fence;`"), "{mistake}: {error}");
    }
}

ptx! {
    <sm_90a, ptx 8.6, allow(warnings)>
    // The last warp multiplies late: after an mbarrier that the first one arrives on, before or after its wait. The thread that has
    // waited overwrites the matrix, for all warps.
    .visible .entry late(.param .u64 .ptr .global .align 16 d: &mut [i32], .param .u32 after) .reqntid 128 {
        .reg .pred %p, %first, %last, %after;
        .reg .b32 %i, %at, %x, %one, %d<4>;
        .reg .b64 %pd, %db;
        .shared .align 128 .b8 sb[256];
        .shared .align 8 .b64 bar;
        mov.u32 %i, %tid.x;
        ld.param.u64 %pd, [d];
        ld.param.u32 %x, [after];
        setp.ne.u32 %after, %x, 0;
        setp.eq.u32 %first, %i, 0;
        setp.ge.u32 %last, %i, 96;
        mov.u32 %one, 0x01010101;
        mov.u32 %at, sb;
        mad.lo.u32 %x, %i, 2, %at;
        st.shared.u16 [%x], 0x0101;
        @%first mbarrier.init.shared::cta.b64 [bar], 1;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %db, %at;
        or.b64 %db, %db, 0x0000000800080000;
        mov.b32 %d0, 0;
        mov.b32 %d1, 0;
        mov.b32 %d2, 0;
        mov.b32 %d3, 0;
        @!%last bra multiply;
      wait:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0;
        @!%p bra wait;
      multiply:
        @%after bra issue;
        @%first mbarrier.arrive.shared::cta.b64 _, [bar];
      issue:
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%d0, %d1, %d2, %d3}, {%one, %one, %one, %one}, %db, 0;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        @!%after bra over;
        @%first mbarrier.arrive.shared::cta.b64 _, [bar];
      over:
        @%first st.shared.v4.u32 [sb], {0, 0, 0, 0};
        mad.wide.u32 %pd, %i, 16, %pd;
        st.global.v4.u32 [%pd], {%d0, %d1, %d2, %d3};
        ret;
    }
}

#[test]
fn an_operation_is_complete_when_all_warps_have_issued_it() {
    let launch = |host: &Host, after: u32| {
        let mut d = vec![0; 512];
        late.launch(host, Launch::grid(1), (&mut d, after)).map(|_| d)
    };
    for seed in 0..64 {
        assert_eq!(launch(&Host::new().seed(seed), 0).unwrap(), [32; 512], "seed {seed}");
    }
    let error = launch(&Host::new(), 1).unwrap_err().to_string();
    assert!(error.contains("deadlock"), "{error}");
    assert!(error.contains("waits for warps 3 of its warpgroup, which have not issued the same `wgmma`"), "{error}");
}

ptx! {
    <sm_90a, ptx 8.6, allow(warnings)>
    .visible .entry too_few(.param .u64 .ptr .global .align 16 d: &mut [f32]) .reqntid 96 {
        .reg .f32 %d<4>;
        .reg .b64 %a, %pd;
        .shared .align 128 .b8 s[4096];
        ld.param.u64 %pd, [d];
        mov.u64 %a, s;
        shr.u64 %a, %a, 4;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a, %a, 0, 1, 1, 0, 0;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        st.global.v4.f32 [%pd], {%d0, %d1, %d2, %d3};
    }
}

#[test]
fn a_warpgroup_is_four_warps() {
    let error = too_few.launch(&Host::new(), Launch::grid(1), (&mut [0.0; 4],)).unwrap_err().to_string();
    assert!(error.contains("warp 3 of the warpgroup 0 to 3 is absent"), "{error}");
}

ptx! {
    <sm_90a, ptx 8.6, allow(warnings, PTX0651)>
    // D += 32 ones at each place; with a mistake it is read before the wait.
    .func multiply(.reg .b64 %pd, .reg .b64 %db, .reg .b32 %mistake) {
        .reg .pred %p;
        .reg .b32 %d<4>, %one;
        mov.u32 %one, 0x01010101;
        ld.global.v4.u32 {%d0, %d1, %d2, %d3}, [%pd];
        setp.ne.u32 %p, %mistake, 2;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%d0, %d1, %d2, %d3}, {%one, %one, %one, %one}, %db, 1;
        wgmma.commit_group.sync.aligned;
        @%p bra wait;
        add.u32 %d0, %d0, 1;
      wait:
        wgmma.wait_group.sync.aligned 0;
        st.global.v4.u32 [%pd], {%d0, %d1, %d2, %d3};
        ret;
    }

    // The last warp gives another descriptor with mistake 1; with mistake 3 the second half of B is behind shared memory.
    .visible .entry calls(.param .u64 .ptr .global .align 16 d: &mut [i32], .param .u32 mistake) .reqntid 128 {
        .reg .pred %p, %last;
        .reg .b32 %i, %at, %mistake;
        .reg .b64 %pd, %db;
        .shared .align 128 .b8 sb[512];
        ld.param.u64 %pd, [d];
        ld.param.u32 %mistake, [mistake];
        mov.u32 %i, %tid.x;
        mad.wide.u32 %pd, %i, 16, %pd;
        mov.u32 %at, sb;
        mad.lo.u32 %at, %i, 4, %at;
        st.shared.u32 [%at], 0x01010101;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        mov.u32 %at, sb;
        setp.eq.u32 %p, %mistake, 1;
        setp.ge.and.u32 %last, %i, 96, %p;
        @%last add.u32 %at, %at, 256;
        setp.eq.u32 %p, %mistake, 3;
        @%p add.u32 %at, %at, 384;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %db, %at;
        or.b64 %db, %db, 0x0000001000080000;
        call multiply, (%pd, %db, %mistake);
        call multiply, (%pd, %db, %mistake);
        ret;
    }
}

#[test]
fn a_device_function_multiplies() {
    for host in [Host::new(), Host::new().seed(7)] {
        let mut d: Vec<i32> = (0..512).collect();
        calls.launch(&host, Launch::grid(1), (&mut d, 0)).unwrap();
        assert!(d.into_iter().eq(64..512 + 64));
    }
    let mut d = vec![0; 512];
    calls.launch(&Host::checked(), Launch::grid(1), (&mut d, 0)).unwrap();
    assert_eq!(d, [64; 512]);
    let error = calls.launch(&Host::new(), Launch::grid(1), (&mut d, 2)).unwrap_err().to_string();
    assert!(error.contains("which no `wgmma.wait_group` has waited for"), "{error}");
}

#[test]
fn warps_of_a_group_give_the_same_descriptor() {
    for host in [Host::new(), Host::new().seed(3)] {
        let error = calls.launch(&host, Launch::grid(1), (&mut [0; 512], 1)).unwrap_err().to_string();
        assert!(error.contains("the descriptor of B differs between warps of the warpgroup"), "{error}");
        assert!(error.contains("PTX ISA 9.7.15.5.1.2"), "{error}");
    }
}

#[test]
fn a_descriptor_outside_of_shared_memory_is_a_fault() {
    for host in [Host::new(), Host::new().seed(3)] {
        let result = calls.launch(&host, Launch::grid(1), (&mut [0; 512], 3));
        let Err(ptx_dsl::Error::Fault(fault)) = result else { panic!("{result:?}") };
        assert!(matches!(fault.kind, ptx_dsl::fault::FaultKind::MatrixOutOfBounds(_)), "{fault}");
    }
}

ptx! {
    <sm_90a, ptx 8.6, allow(warnings, PTX0651)>
    .visible .entry leaves() .reqntid 128 {
        .reg .b32 %one, %at, %d<4>;
        .reg .b64 %db;
        .shared .align 128 .b8 sb[256];
        mov.u32 %one, %tid.x;
        mov.u32 %at, sb;
        mad.lo.u32 %at, %one, 2, %at;
        st.shared.u16 [%at], 0x0101;
        fence.proxy.async.shared::cta;
        bar.sync 0;
        mov.u32 %one, 0x01010101;
        mov.u32 %at, sb;
        shr.u32 %at, %at, 4;
        cvt.u64.u32 %db, %at;
        or.b64 %db, %db, 0x0000001000080000;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%d0, %d1, %d2, %d3}, {%one, %one, %one, %one}, %db, 0;
        wgmma.commit_group.sync.aligned;
        ret;
    }
}

#[test]
fn a_cta_may_end_before_its_products() {
    leaves.launch(&Host::new(), Launch::grid(2), ()).unwrap();
    leaves.launch(&Host::checked(), Launch::grid(2), ()).unwrap();
}
