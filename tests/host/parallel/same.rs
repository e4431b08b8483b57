//! Kernels without races: results do not depend on the number of threads.

use super::{THREADS, numbers, same};
use ptx_dsl::prelude::*;

ptx! {
    <sm_90, ptx 8.4>
    // Each block counts 512 values by their low bits in shared memory, then adds its counts to those of all.
    .visible .entry histogram(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 8 bins: &mut [u64],
        .param .u64 .ptr .global .align 4 top: &mut [u32])
        .reqntid 128
    {
        .reg .pred %p;
        .reg .b32 %t, %b, %i, %v, %s, %old;
        .reg .b64 %x, %y, %o, %w;
        .shared .align 4 .b32 own[32];
        ld.param.u64 %x, [x];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        setp.lt.u32 %p, %t, 32;
        mov.u32 %s, own;
        mad.lo.u32 %s, %t, 4, %s;
        @%p st.shared.u32 [%s], 0;
        bar.sync 0;
        mad.lo.u32 %i, %b, 512, %t;
        mul.wide.u32 %o, %i, 4;
        add.u64 %x, %x, %o;
        mov.u32 %i, 0;
      more:
        ld.global.u32 %v, [%x];
        ld.param.u64 %y, [top];
        red.global.max.u32 [%y], %v;
        atom.global.xor.b32 %old, [%y+4], %v;
        and.b32 %v, %v, 31;
        mov.u32 %s, own;
        mad.lo.u32 %s, %v, 4, %s;
        red.shared.add.u32 [%s], 1;
        add.u64 %x, %x, 512;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 4;
        @%p bra more;
        bar.sync 0;
        setp.ge.u32 %p, %t, 32;
        @%p ret;
        mov.u32 %s, own;
        mad.lo.u32 %s, %t, 4, %s;
        ld.shared.u32 %v, [%s];
        cvt.u64.u32 %w, %v;
        ld.param.u64 %y, [bins];
        mul.wide.u32 %o, %t, 8;
        add.u64 %y, %y, %o;
        red.global.add.u64 [%y], %w;
        ret;
    }

    // Every atomic operation with an integer sum, on one address each.
    .visible .entry kinds(
        .param .u64 .ptr .global .align 16 d: &mut [u64],
        .param .u64 .ptr .global .align 8 f: &mut [f32])
        .reqntid 64
    {
        .reg .pred %p;
        .reg .b16 %h, %seen, %next;
        .reg .b32 %v, %w, %t;
        .reg .b64 %d, %f, %a, %b, %c;
        .reg .f32 %x, %y, %u, %z;
        .reg .f64 %e;
        .reg .b128 %old, %new, %got;
        ld.param.u64 %d, [d];
        ld.param.u64 %f, [f];
        mov.u32 %t, %tid.x;
        mov.f64 %e, 0d4000000000000000;
        red.global.add.f64 [%d], %e;
        atom.global.inc.u32 %v, [%d+8], 1000;
        atom.global.add.u32 %v, [%d+12], 3;
        // 16 bits by compare-and-swap
        ld.relaxed.gpu.global.u16 %seen, [%d+16];
      again:
        mov.b16 %h, %seen;
        add.u16 %next, %h, 5;
        atom.global.cas.b16 %seen, [%d+16], %h, %next;
        setp.ne.u16 %p, %seen, %h;
        @%p bra again;
        // 128 bits too
        ld.relaxed.gpu.global.b128 %got, [%d+32];
      whole:
        mov.b128 %old, %got;
        mov.b128 {%a, %b}, %old;
        add.u64 %a, %a, 1;
        add.u64 %b, %b, 2;
        mov.b128 %new, {%a, %b};
        atom.global.cas.b128 %got, [%d+32], %old, %new;
        mov.b128 {%a, %c}, %old;
        mov.b128 {%b, %c}, %got;
        setp.ne.u64 %p, %a, %b;
        @%p bra whole;
        // a pair of sums
        mov.f32 %x, 0f3F800000;
        mov.f32 %y, 0f40000000;
        atom.global.v2.f32.add {%u, %z}, [%f], {%x, %y};
        ret;
    }
}

#[test]
fn sums_and_counts() {
    let x = numbers(64 * 512);
    let (bins, top) = same(|host| {
        let (mut bins, mut top) = (vec![0u64; 32], vec![0u32; 2]);
        histogram.launch(host, Launch::grid(64), (&x, &mut bins, &mut top)).unwrap();
        (bins, top)
    });
    for (bin, n) in bins.iter().enumerate() {
        assert_eq!(*n, x.iter().filter(|&&v| v as usize % 32 == bin).count() as u64, "bin {bin}");
    }
    assert_eq!(top, [*x.iter().max().unwrap(), x.iter().fold(0, |a, v| a ^ v)]);
}

#[test]
fn atomics_of_all_sizes() {
    let (d, f) = same(|host| {
        let (mut d, mut f) = (vec![0u64; 6], vec![0f32; 2]);
        kinds.launch(host, Launch::grid(50), (&mut d, &mut f)).unwrap();
        (d, f)
    });
    let n = 50 * 64u64;
    assert_eq!(f64::from_bits(d[0]), 2.0 * n as f64);
    assert_eq!((d[1] as u32 as u64, d[1] >> 32), (n % 1001, 3 * n));
    assert_eq!(d[2], n * 5 % 65536);
    assert_eq!(d[4..], [n, 2 * n]);
    assert_eq!(f, [n as f32, 2.0 * n as f32]);
}

ptx! {
    <sm_80, ptx 7.0>
    .global .align 4 .u32 tickets;
    // Sums of blocks; the block that draws the last ticket adds them up.
    .visible .entry total(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 parts: &mut [u32],
        .param .u64 .ptr .global .align 4 sum: &mut [u32])
        .reqntid 32
    {
        .reg .pred %p, %q;
        .reg .b32 %t, %b, %n, %i, %v, %s;
        .reg .b64 %x, %o, %g;
        ld.param.u64 %x, [x];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mov.u32 %n, %nctaid.x;
        mad.lo.u32 %i, %b, 32, %t;
        mul.wide.u32 %o, %i, 4;
        add.u64 %x, %x, %o;
        ld.global.u32 %v, [%x];
        redux.sync.add.u32 %s, %v, 0xffffffff;
        setp.ne.u32 %q, %t, 0;
        @%q ret;
        ld.param.u64 %x, [parts];
        mul.wide.u32 %o, %b, 4;
        add.u64 %x, %x, %o;
        st.global.u32 [%x], %s;
        membar.gl;
        atom.global.inc.u32 %i, [tickets], 0xffffffff;
        add.u32 %i, %i, 1;
        setp.ne.u32 %p, %i, %n;
        @%p ret;
        membar.gl;
        ld.param.u64 %x, [parts];
        mov.u32 %i, 0;
        mov.u32 %s, 0;
      add:
        ld.global.u32 %v, [%x];
        add.u32 %s, %s, %v;
        add.u64 %x, %x, 4;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra add;
        ld.param.u64 %x, [sum];
        st.global.u32 [%x], %s;
        ret;
    }

    // Block i waits for block i - 1, and adds to its result.
    .visible .entry chain(
        .param .u64 .ptr .global .align 4 d: &mut [u32],
        .param .u64 .ptr .global .align 4 flags: &mut [u32])
        .reqntid 32
    {
        .reg .pred %p, %first;
        .reg .b32 %t, %b, %v, %f;
        .reg .b64 %d, %e, %o;
        ld.param.u64 %d, [d];
        ld.param.u64 %e, [flags];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mul.wide.u32 %o, %b, 4;
        add.u64 %e, %e, %o;
        mad.lo.u32 %v, %b, 32, %t;
        mul.wide.u32 %o, %v, 4;
        add.u64 %d, %d, %o;
        mov.u32 %v, 0;
        setp.eq.u32 %p, %b, 0;
        @%p bra go;
      wait:
        ld.acquire.gpu.global.u32 %f, [%e+-4];
        setp.eq.u32 %p, %f, 0;
        @%p bra wait;
        ld.global.u32 %v, [%d+-128];
      go:
        add.u32 %v, %v, %t;
        add.u32 %v, %v, %b;
        st.global.u32 [%d], %v;
        bar.warp.sync 0xffffffff;
        setp.eq.u32 %first, %t, 0;
        @%first st.release.gpu.global.u32 [%e], 1;
        ret;
    }
}

#[test]
fn the_last_block_sees_what_the_others_stored() {
    let x = numbers(100 * 32);
    let sum = x.iter().fold(0u32, |a, &v| a.wrapping_add(v));
    for _ in 0..5 {
        let all = same(|host| {
            let (mut parts, mut all) = (vec![0u32; 100], [0u32]);
            total.launch(host, Launch::grid(100), (&x, &mut parts, &mut all)).unwrap();
            all[0]
        });
        assert_eq!(all, sum);
    }
}

#[test]
fn blocks_wait_for_blocks_on_other_threads() {
    for _ in 0..5 {
        let d = same(|host| {
            let (mut d, mut flags) = (vec![0u32; 14 * 32], vec![0u32; 14]);
            chain.launch(host, Launch::grid(14), (&mut d, &mut flags)).unwrap();
            d
        });
        for b in 0..14 {
            for t in 0..32 {
                assert_eq!(d[b * 32 + t], ((b + 1) * t + b * (b + 1) / 2) as u32, "block {b}, thread {t}");
            }
        }
    }
}

ptx! {
    <sm_90, ptx 8.0>
    // c = a * b of n x n, n a multiple of 16, by blocks of 256 threads.
    .visible .entry multiply(
        .param .u64 .ptr .global .align 4 a: &[f32],
        .param .u64 .ptr .global .align 4 b: &[f32],
        .param .u64 .ptr .global .align 4 c: &mut [f32],
        .param .u32 n)
        .reqntid 16, 16
    {
        .reg .pred %p;
        .reg .b32 %n, %x, %y, %row, %col, %k, %i, %s, %u, %v;
        .reg .b64 %a, %b, %c, %o;
        .reg .f32 %f, %g, %sum;
        .shared .align 16 .b8 ta[1024];
        .shared .align 16 .b8 tb[1024];
        ld.param.u32 %n, [n];
        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        ld.param.u64 %c, [c];
        mov.u32 %x, %tid.x;
        mov.u32 %y, %tid.y;
        mov.u32 %row, %ctaid.y;
        mad.lo.u32 %row, %row, 16, %y;
        mov.u32 %col, %ctaid.x;
        mad.lo.u32 %col, %col, 16, %x;
        mad.lo.u32 %s, %y, 16, %x;
        shl.b32 %s, %s, 2;
        mov.f32 %sum, 0f00000000;
        mov.u32 %k, 0;
      tile:
        add.u32 %i, %k, %x;
        mad.lo.u32 %i, %row, %n, %i;
        mul.wide.u32 %o, %i, 4;
        add.u64 %o, %a, %o;
        ld.global.f32 %f, [%o];
        add.u32 %i, %k, %y;
        mad.lo.u32 %i, %i, %n, %col;
        mul.wide.u32 %o, %i, 4;
        add.u64 %o, %b, %o;
        ld.global.f32 %g, [%o];
        mov.u32 %u, ta;
        add.u32 %u, %u, %s;
        st.shared.f32 [%u], %f;
        mov.u32 %u, tb;
        add.u32 %u, %u, %s;
        st.shared.f32 [%u], %g;
        bar.sync 0;
        mov.u32 %i, 0;
        mov.u32 %u, ta;
        mad.lo.u32 %u, %y, 64, %u;
        mov.u32 %v, tb;
        mad.lo.u32 %v, %x, 4, %v;
      dot:
        ld.shared.f32 %f, [%u];
        ld.shared.f32 %g, [%v];
        fma.rn.f32 %sum, %f, %g, %sum;
        add.u32 %u, %u, 4;
        add.u32 %v, %v, 64;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 16;
        @%p bra dot;
        bar.sync 0;
        add.u32 %k, %k, 16;
        setp.lt.u32 %p, %k, %n;
        @%p bra tile;
        mad.lo.u32 %i, %row, %n, %col;
        mul.wide.u32 %o, %i, 4;
        add.u64 %c, %c, %o;
        st.global.f32 [%c], %sum;
        ret;
    }

    // A cluster of four sums what its blocks have in shared memory; rank 0 collects.
    .visible .entry cluster_sums(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 d: &mut [u32])
        .reqnctapercluster 4 .reqntid 64
    {
        .reg .pred %p, %q;
        .reg .b32 %t, %b, %r, %i, %a, %v, %s, %c;
        .reg .b64 %x, %o;
        .shared .align 4 .b32 sum;
        ld.param.u64 %x, [x];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mov.u32 %r, %cluster_ctarank;
        mad.lo.u32 %i, %b, 64, %t;
        mul.wide.u32 %o, %i, 4;
        add.u64 %x, %x, %o;
        ld.global.u32 %v, [%x];
        barrier.cluster.arrive;
        barrier.cluster.wait;
        mov.u32 %a, sum;
        mapa.shared::cluster.u32 %a, %a, 0;
        red.shared::cluster.add.u32 [%a], %v;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        or.b32 %r, %r, %t;
        setp.ne.u32 %p, %r, 0;
        @%p ret;
        ld.shared.u32 %s, [sum];
        mov.u32 %c, %clusterid.x;
        ld.param.u64 %x, [d];
        mul.wide.u32 %o, %c, 4;
        add.u64 %x, %x, %o;
        st.global.u32 [%x], %s;
        ret;
    }

    // A warp passes numbers to another one through two slots with mbarriers.
    .visible .entry hand_over(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqntid 64 {
        .reg .pred %p, %done;
        .reg .b32 %t, %lane, %b, %i, %stage, %phase, %bar, %slot, %v, %sum;
        .reg .b64 %d, %o;
        .shared .align 4 .b32 slots[64];
        .shared .align 8 .b64 full[2];
        .shared .align 8 .b64 empty[2];
        mov.u32 %t, %tid.x;
        and.b32 %lane, %t, 31;
        mov.u32 %b, %ctaid.x;
        setp.ge.u32 %p, %t, 2;
        @%p bra ready;
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %t, 8, %bar;
        mbarrier.init.shared::cta.b64 [%bar], 32;
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %t, 8, %bar;
        mbarrier.init.shared::cta.b64 [%bar], 32;
      ready:
        bar.sync 0;
        mov.u32 %i, 0;
        mov.u32 %sum, 0;
      next:
        and.b32 %stage, %i, 1;
        shr.u32 %phase, %i, 1;
        and.b32 %phase, %phase, 1;
        mov.u32 %slot, slots;
        mad.lo.u32 %slot, %stage, 128, %slot;
        mad.lo.u32 %slot, %lane, 4, %slot;
        setp.ge.u32 %p, %t, 32;
        @%p bra take;
        xor.b32 %phase, %phase, 1;
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %stage, 8, %bar;
      wait_empty:
        mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], %phase;
        @!%done bra wait_empty;
        mad.lo.u32 %v, %i, %b, %lane;
        st.shared.u32 [%slot], %v;
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %stage, 8, %bar;
        mbarrier.arrive.shared::cta.b64 _, [%bar];
        bra step;
      take:
        mov.u32 %bar, full;
        mad.lo.u32 %bar, %stage, 8, %bar;
      wait_full:
        mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], %phase;
        @!%done bra wait_full;
        ld.shared.u32 %v, [%slot];
        add.u32 %sum, %sum, %v;
        mov.u32 %bar, empty;
        mad.lo.u32 %bar, %stage, 8, %bar;
        mbarrier.arrive.shared::cta.b64 _, [%bar];
      step:
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, 20;
        @%p bra next;
        setp.lt.u32 %p, %t, 32;
        @%p ret;
        ld.param.u64 %d, [d];
        mad.lo.u32 %i, %b, 32, %lane;
        mul.wide.u32 %o, %i, 4;
        add.u64 %d, %d, %o;
        st.global.u32 [%d], %sum;
        ret;
    }
}

#[test]
fn a_matrix_product() {
    const N: usize = 64;
    let [a, b] =
        [1, 2].map(|k| numbers(N * N * 2).chunks(2).map(|v| (v[k - 1] % 1000) as f32 / 8.0).collect::<Vec<_>>());
    let c = same(|host| {
        let mut c = vec![0f32; N * N];
        multiply.launch(host, Launch::grid((4, 4)).block((16, 16)), (&a, &b, &mut c, N as u32)).unwrap();
        c
    });
    for (i, v) in c.iter().enumerate() {
        let sum = (0..N).fold(0f32, |s, k| a[i / N * N + k].mul_add(b[k * N + i % N], s));
        assert_eq!(*v, sum, "element {i}");
    }
}

#[test]
fn clusters_stay_together() {
    let x = numbers(24 * 4 * 64);
    let d = same(|host| {
        let mut d = vec![0u32; 24];
        cluster_sums.launch(host, Launch::grid(96), (&x, &mut d)).unwrap();
        d
    });
    for (sum, x) in d.iter().zip(x.chunks(256)) {
        assert_eq!(*sum, x.iter().fold(0u32, |a, &v| a.wrapping_add(v)));
    }
}

#[test]
fn mbarriers_between_warps() {
    let d = same(|host| {
        let mut d = vec![0u32; 33 * 32];
        hand_over.launch(host, Launch::grid(33), (&mut d,)).unwrap();
        d
    });
    for (i, v) in d.iter().enumerate() {
        let (b, lane) = (i as u32 / 32, i as u32 % 32);
        assert_eq!(*v, (0..20).map(|i| i * b + lane).sum::<u32>());
    }
}

ptx! {
    <sm_100, ptx 8.6>
    .visible .entry steal(.param .u64 .ptr .global .align 4 seen: &mut [u32]) .reqntid 1 {
        .reg .pred %p;
        .reg .b32 %x, %old;
        .reg .b64 %ps, %a, %o, %state;
        .reg .b128 %handle;
        .shared .align 16 .b128 response;
        .shared .align 8 .b64 mb;
        ld.param.u64 %ps, [seen];
        mov.u32 %x, %ctaid.x;
        mbarrier.init.shared::cta.b64 [mb], 1;
    NEXT:
        mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 %state, [mb], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [response], [mb];
        mul.wide.u32 %o, %x, 4;
        add.u64 %a, %ps, %o;
        atom.global.add.u32 %old, [%a], 1;
    WAIT:
        mbarrier.try_wait.acquire.cluster.shared::cta.b64 %p, [mb], %state;
        @!%p bra WAIT;
        ld.shared.b128 %handle, [response];
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %handle;
        @!%p ret;
        clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %x, %handle;
        fence.proxy.async.shared::cta;
        bra NEXT;
    }
}

#[test]
fn every_cluster_is_launched_or_cancelled_once() {
    for n in THREADS {
        for resident in [1, 3, 100] {
            let mut seen = [0u32; 200];
            let host = Host::new().threads(n).resident_clusters(resident);
            let report = steal.launch(&host, Launch::grid(200), (&mut seen,)).unwrap();
            assert_eq!(seen, [1; 200], "{n} threads, {resident} resident");
            assert_eq!(report.clusters_launched + report.clusters_cancelled, 200);
        }
    }
}

ptx! {
    <sm_80, ptx 7.0>
    // y[i] = x[i] + x[i + 1] + 1 in place: no other thread stores the loaded elements.
    .visible .entry shift(.param .u64 .ptr .global .align 4 y: &mut [u32], .param .u32 n) .reqntid 64 {
        .reg .pred %p;
        .reg .b16 %h;
        .reg .b32 %t, %b, %n, %v, %w;
        .reg .b64 %y, %o;
        ld.param.u64 %y, [y];
        ld.param.u32 %n, [n];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mad.lo.u32 %t, %b, 64, %t;
        setp.ge.u32 %p, %t, %n;
        @%p ret;
        mul.wide.u32 %o, %t, 8;
        add.u64 %y, %y, %o;
        ld.global.v2.u32 {%v, %w}, [%y];
        ld.global.u16 %h, [%y+2];
        add.u32 %v, %v, %w;
        st.global.u32 [%y], %v;
        st.global.u16 [%y+6], %h;
        ret;
    }
}

#[test]
fn buffers_may_lie_anywhere() {
    for skip in [0, 1, 2, 3, 4, 5, 8] {
        let all = same(|host| {
            let mut bytes: Vec<u8> = numbers(1000).iter().map(|v| *v as u8).collect();
            let y = &mut bytes[skip..skip + 8 * 100];
            shift
                .launch_raw(host, Launch::grid(2).block(64), &mut [Arg::buffer(y), Arg::value(100u32.to_le_bytes())])
                .unwrap();
            bytes
        });
        let before: Vec<u8> = numbers(1000).iter().map(|v| *v as u8).collect();
        let word = |b: &[u8], i: usize| u32::from_le_bytes(b[skip + 4 * i..][..4].try_into().unwrap());
        for i in 0..100 {
            assert_eq!(word(&all, 2 * i), word(&before, 2 * i).wrapping_add(word(&before, 2 * i + 1)));
            let w = word(&before, 2 * i + 1) & 0xffff | word(&before, 2 * i) & 0xffff_0000;
            assert_eq!(word(&all, 2 * i + 1), w, "element {i}, {skip} bytes in");
        }
        assert_eq!((&all[..skip], &all[skip + 800..]), (&before[..skip], &before[skip + 800..]));
    }
}

#[test]
fn a_seed_means_one_thread() {
    let run = |host: Host| {
        let mut seen = [0u32; 50];
        let report = steal.launch(&host.seed(3).record(), Launch::grid(50), (&mut seen,)).unwrap();
        assert!(!report.schedule.is_empty());
        report
    };
    assert_eq!(run(Host::new()), run(Host::new().threads(4)));
}

#[test]
fn the_checked_host_too() {
    let x = numbers(24 * 4 * 64);
    for n in THREADS {
        let host = Host::checked().threads(n);
        let mut d = vec![0u32; 33 * 32];
        hand_over.launch(&host, Launch::grid(33), (&mut d,)).unwrap();
        assert_eq!(d[32..64], std::array::from_fn::<u32, 32, _>(|lane| 190 + 20 * lane as u32));
        let (mut bins, mut top) = (vec![0u64; 32], vec![0u32; 2]);
        histogram.launch(&host, Launch::grid(12), (&x[..], &mut bins, &mut top)).unwrap();
        assert_eq!(bins.iter().sum::<u64>(), 12 * 512);
        // nobody has written `sum` before
        let mut d = vec![0u32; 24];
        let fault = cluster_sums.launch(&host, Launch::grid(96), (&x, &mut d)).unwrap_err();
        assert!(fault.to_string().contains("red.shared::cluster.add.u32"), "{fault}");
    }
}
