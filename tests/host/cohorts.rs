//! What the warps of a cohort share, and what they must not; values that are affine only sometimes.

use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.0>
    // Pairs of warps synchronise at their own barriers and run a loop at the pace of these: some have more barriers on their path
    // than others. All count alike.
    .visible .entry pairs(
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 rounds)
        .reqntid 256
    {
        .reg .pred %p;
        .reg .b32 %t, %warp, %pair, %id, %i, %step, %rounds, %sum, %at, %other, %v, %w;
        .reg .b64 %d, %o;
        .shared .align 4 .b8 s[1024];
        ld.param.u64 %d, [out];
        ld.param.u32 %rounds, [rounds];
        mov.u32 %t, %tid.x;
        shr.u32 %warp, %t, 5;
        shr.u32 %pair, %t, 6;
        add.u32 %id, %pair, 1;
        mov.u32 %at, s;
        xor.b32 %other, %t, 32;
        mad.lo.u32 %other, %other, 4, %at;
        mad.lo.u32 %at, %t, 4, %at;
        mov.u32 %sum, 0;
        mov.u32 %i, 0;
        mov.u32 %step, 7;
      round:
        mad.lo.u32 %v, %i, 1000, %t;
        st.shared.u32 [%at], %v;
        bar.sync %id, 64;
        ld.shared.u32 %w, [%other];
        mad.lo.u32 %sum, %sum, 31, %w;
        bar.sync %id, 64;
        and.b32 %v, %i, 3;
        setp.ne.u32 %p, %v, %pair;
        @%p bra next;
        st.shared.u32 [%at], %step;
        bar.sync %id, 64;
        ld.shared.u32 %w, [%other];
        add.u32 %sum, %sum, %w;
        bar.sync %id, 64;
      next:
        add.u32 %step, %step, %i;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %rounds;
        @%p bra round;
        mad.lo.u32 %sum, %i, 3, %sum;
        add.u32 %sum, %sum, %step;
        mul.wide.u32 %o, %t, 4;
        add.u64 %d, %d, %o;
        st.global.u32 [%d], %sum;
        ret;
    }
}

#[test]
fn warps_count_alike_at_their_own_pace() {
    let wanted = |t: u32, rounds: u32| {
        let (mut sum, mut step) = (0u32, 7u32);
        for i in 0..rounds {
            sum = sum.wrapping_mul(31).wrapping_add(i * 1000 + (t ^ 32));
            if i & 3 == t >> 6 {
                sum = sum.wrapping_add(step);
            }
            step += i;
        }
        sum.wrapping_add(3 * rounds).wrapping_add(step)
    };
    for rounds in [1, 2, 9, 40] {
        let wanted: Vec<u32> = (0..256).map(|t| wanted(t, rounds)).collect();
        let hosts = std::iter::once(Host::new()).chain((0..12).map(|seed| Host::new().seed(seed)));
        for host in hosts {
            let mut out = vec![0u32; 256];
            pairs.launch(&host, Launch::grid(1).block(256), (&mut out, rounds)).unwrap();
            assert_eq!(out, wanted, "{rounds} rounds");
        }
        let mut out = vec![0u32; 256];
        pairs.launch(&Host::checked(), Launch::grid(1).block(256), (&mut out, rounds)).unwrap();
        assert_eq!(out, wanted, "{rounds} rounds, checked");
    }
}

ptx! {
    <sm_80, ptx 7.0>
    // Warps leave a first loop after as many iterations as their number, some exit, the others run a second loop together.
    .visible .entry leavers(
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 rounds)
        .reqntid 256
    {
        .reg .pred %p;
        .reg .b32 %t, %warp, %b, %i, %k, %k2, %rounds, %sum, %at, %v;
        .reg .b64 %d, %o;
        .shared .align 4 .b8 s[1024];
        ld.param.u64 %d, [out];
        ld.param.u32 %rounds, [rounds];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        shr.u32 %warp, %t, 5;
        mad.lo.u32 %v, %b, 256, %t;
        mul.wide.u32 %o, %v, 4;
        add.u64 %d, %d, %o;
        mov.u32 %at, s;
        mad.lo.u32 %at, %t, 4, %at;
        mov.u32 %i, 0;
        mov.u32 %k, 100;
      first:
        add.u32 %k, %k, %i;
        add.u32 %i, %i, 1;
        st.shared.u32 [%at], %k;
        bar.warp.sync 0xffffffff;
        setp.le.u32 %p, %i, %warp;
        @%p bra first;
        // the number of iterations, and their results
        ld.shared.u32 %sum, [%at];
        mad.lo.u32 %sum, %i, 1000, %sum;
        add.u32 %sum, %sum, %k;
        add.u32 %k2, %rounds, %b;
        mov.u32 %i, 0;
        rem.u32 %v, %warp, 3;
        setp.eq.u32 %p, %v, 1;
        @%p bra done;
      second:
        st.shared.u32 [%at], %i;
        bar.warp.sync 0xffffffff;
        ld.shared.u32 %v, [%at];
        mad.lo.u32 %sum, %sum, 3, %v;
        mad.lo.u32 %k2, %k2, 5, %i;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %rounds;
        @%p bra second;
      done:
        mad.lo.u32 %sum, %i, 7, %sum;
        add.u32 %sum, %sum, %k2;
        st.global.u32 [%d], %sum;
        ret;
    }
}

#[test]
fn warps_that_leave_early_keep_their_counts() {
    let wanted = |t: u32, b: u32, rounds: u32| {
        let (mut i, mut k) = (0u32, 100u32);
        loop {
            k += i;
            i += 1;
            if i > t >> 5 {
                break;
            }
        }
        let (mut sum, mut k2) = (k + i * 1000 + k, rounds + b);
        i = 0;
        if (t >> 5) % 3 != 1 {
            while i < rounds {
                sum = sum.wrapping_mul(3).wrapping_add(i);
                k2 = k2.wrapping_mul(5).wrapping_add(i);
                i += 1;
            }
        }
        sum.wrapping_add(7 * i).wrapping_add(k2)
    };
    for rounds in [1, 2, 17] {
        let wanted: Vec<u32> = (0..768).map(|n| wanted(n % 256, n / 256, rounds)).collect();
        for seed in 0..6 {
            let mut out = vec![0u32; 768];
            leavers.launch(&Host::new().seed(seed), Launch::grid(3).block(256), (&mut out, rounds)).unwrap();
            assert_eq!(out, wanted, "{rounds} rounds, seed {seed}");
        }
    }
}

ptx! {
    <sm_80, ptx 7.0>
    // Neighbours in a ring whose size and start are not those of warps, by `and`, by `rem`, and with 64 bits.
    .visible .entry neighbours(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 first)
    {
        .reg .b32 %t, %first, %a, %b, %c, %own, %v<6>, %base;
        .reg .b64 %x, %y, %d, %o;
        .shared .align 4 .b8 s[1024];
        ld.param.u64 %x, [x];
        ld.param.u64 %d, [out];
        ld.param.u32 %first, [first];
        mov.u32 %t, %tid.x;
        mov.u32 %base, s;
        mad.lo.u32 %own, %t, 4, %base;
        add.u32 %a, %t, %first;
        and.b32 %a, %a, 63;
        mad.lo.u32 %b, %a, 4, %base;
        add.u32 %c, %t, %first;
        rem.u32 %c, %c, 128;
        mad.lo.u32 %c, %c, 4, %base;
        mul.wide.u32 %o, %a, 4;
        add.u64 %y, %x, %o;
        cvt.u64.u32 %o, %t;
        shl.b64 %o, %o, 2;
        add.u64 %o, %o, 20;
        and.b64 %o, %o, 255;
        add.u64 %x, %x, %o;
        mad.lo.u32 %v0, %t, 7, %first;
        st.shared.u32 [%own], %v0;
        bar.sync 0;
        ld.shared.u32 %v0, [%b];
        ld.shared.u32 %v1, [%c];
        ld.global.u32 %v2, [%y];
        ld.global.u32 %v3, [%x];
        ld.shared.u16 %v4, [%c+2];
        bar.sync 0;
        // the threads write what their neighbours then read
        st.shared.u32 [%c], %v0;
        bar.sync 0;
        ld.shared.u32 %v5, [%own];
        mad.lo.u32 %v0, %v1, 3, %v0;
        mad.lo.u32 %v0, %v2, 5, %v0;
        mad.lo.u32 %v0, %v3, 7, %v0;
        mad.lo.u32 %v0, %v4, 11, %v0;
        mad.lo.u32 %v0, %v5, 13, %v0;
        mad.lo.u32 %v0, %a, 17, %v0;
        mul.wide.u32 %o, %t, 4;
        add.u64 %d, %d, %o;
        st.global.u32 [%d], %v0;
        ret;
    }
}

#[test]
fn rings_that_begin_within_a_warp() {
    let x: Vec<u32> = (0..64).map(|i| i * i + 3).collect();
    for (threads, first) in [(128, 0), (128, 1), (128, 5), (128, 64), (128, 100), (128, u32::MAX), (128, 1 << 31)] {
        let own = |t: u32| (7 * t).wrapping_add(first);
        let ring = |t: u32| t.wrapping_add(first) % 128;
        // its result is at the place of each thread
        let from: Vec<u32> = (0..128).map(|t| (0..128).find(|o| ring(*o) == t).unwrap()).collect();
        let wanted: Vec<u32> = (0..128u32)
            .map(|t| {
                let a = t.wrapping_add(first) & 63;
                let v5 = own(from[t as usize].wrapping_add(first) & 63);
                [
                    own(a),
                    own(ring(t)).wrapping_mul(3),
                    x[a as usize] * 5,
                    x[(t as usize * 4 + 20) % 256 / 4] * 7,
                    (own(ring(t)) >> 16) * 11,
                    v5.wrapping_mul(13),
                    a * 17,
                ]
                .into_iter()
                .fold(0, u32::wrapping_add)
            })
            .collect();
        for host in [Host::new(), Host::new().seed(3)] {
            let mut out = vec![0u32; threads];
            neighbours.launch(&host, Launch::grid(1).block(threads as u32), (&x, &mut out, first)).unwrap();
            assert_eq!(out, wanted, "from {first}");
        }
        let mut out = vec![0u32; threads];
        neighbours.launch(&Host::checked(), Launch::grid(1).block(threads as u32), (&x, &mut out, first)).unwrap();
        assert_eq!(out, wanted, "from {first}, checked");
    }
}

ptx! {
    <sm_80, ptx 7.0>
    // Nested code for some lanes with only stores left in it; what it reads is read again after it.
    .visible .entry pieces(
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 low,
        .param .u32 high)
        .reqntid 128
    {
        .reg .pred %p, %q;
        .reg .b32 %t, %low, %high, %k, %v, %w, %own;
        .reg .b64 %d, %o;
        .shared .align 4 .b8 s[512];
        ld.param.u64 %d, [out];
        ld.param.u32 %low, [low];
        ld.param.u32 %high, [high];
        mov.u32 %t, %tid.x;
        mov.u32 %own, s;
        mad.lo.u32 %own, %t, 4, %own;
        mul.wide.u32 %o, %t, 4;
        add.u64 %d, %d, %o;
        mad.lo.u32 %k, %t, 3, %low;
        st.shared.u32 [%own], %t;
        bar.sync 0;
        setp.lt.u32 %p, %t, %low;
        @%p bra behind;
        mul.lo.u32 %v, %k, 5;
        st.shared.u32 [%own], %v;
        setp.ge.u32 %q, %t, %high;
        @%q bra inner;
        add.u32 %v, %v, %k;
        mad.lo.u32 %w, %v, 7, %low;
        st.shared.u32 [%own], %w;
      inner:
        ld.shared.u32 %v, [%own];
        add.u32 %v, %v, 1;
        st.shared.u32 [%own], %v;
      behind:
        mul.lo.u32 %v, %k, 11;
        ld.shared.u32 %w, [%own];
        bar.sync 0;
        add.u32 %v, %v, %w;
        st.global.u32 [%d], %v;
        ret;
    }
}

#[test]
fn pieces_of_which_only_stores_are_left() {
    for (low, high) in [(0, 0), (0, 128), (128, 0), (5, 70), (32, 64), (33, 34), (127, 128), (96, 200), (64, 64)] {
        let mut out = vec![0u32; 128];
        pieces.launch(&Host::new(), Launch::grid(1).block(128), (&mut out, low, high)).unwrap();
        for (t, v) in (0u32..).zip(&out) {
            let k = 3 * t + low;
            let s = match (t < low, t >= high) {
                (true, _) => t,
                (false, true) => 5 * k + 1,
                (false, false) => 6 * k * 7 + low + 1,
            };
            assert_eq!(*v, 11 * k + s, "thread {t}, {low} to {high}");
        }
    }
}

ptx! {
    <sm_80, ptx 7.0>
    // Each thread sums four places in global memory that lie at fixed distances.
    .visible .entry strides(
        .param .u64 .ptr .global .align 4 x: &[u32],
        .param .u64 .ptr .global .align 4 out: &mut [u32])
        .reqntid 64
    {
        .reg .b32 %t, %b, %v<4>;
        .reg .b64 %x, %d, %o;
        ld.param.u64 %x, [x];
        ld.param.u64 %d, [out];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        mad.lo.u32 %t, %b, 64, %t;
        mul.wide.u32 %o, %t, 4;
        add.u64 %x, %x, %o;
        add.u64 %d, %d, %o;
        ld.global.u32 %v0, [%x+1024];
        ld.global.u32 %v1, [%x];
        ld.global.u32 %v2, [%x+512];
        ld.global.u32 %v3, [%x+2048];
        mad.lo.u32 %v0, %v1, 3, %v0;
        mad.lo.u32 %v0, %v2, 5, %v0;
        mad.lo.u32 %v0, %v3, 7, %v0;
        st.global.u32 [%d], %v0;
        ret;
    }
}

#[test]
fn places_at_fixed_distances_in_global_memory() {
    let x: Vec<u32> = (0..640).map(|i| i * 13 + 1).collect();
    let mut out = vec![0u32; 128];
    for host in [Host::new(), Host::new().threads(2)] {
        strides.launch(&host, Launch::grid(2).block(64), (&x, &mut out)).unwrap();
        for (t, v) in out.iter().enumerate() {
            assert_eq!(*v, x[t + 256] + 3 * x[t] + 5 * x[t + 128] + 7 * x[t + 512], "thread {t}");
        }
    }
    for (short, site) in [(639, "[%x+2048]"), (300, "[%x+2048]"), (270, "[%x+1024]"), (10, "[%x+1024]")] {
        let fault = strides.launch(&Host::new(), Launch::grid(2).block(64), (&x[..short], &mut out)).unwrap_err();
        let text = fault.to_string();
        assert!(text.contains("out of bounds") && text.contains(site), "{short}: {text}");
    }
}

ptx! {
    <sm_80, ptx 7.0>
    // A counter that all warps share is read where lanes diverge, by waits, and by a device function.
    .func (.param .b32 r) twice_and(.param .b32 a, .param .b32 b)
    {
        .reg .b32 %a, %b;
        ld.param.b32 %a, [a];
        ld.param.b32 %b, [b];
        mad.lo.u32 %a, %a, 2, %b;
        st.param.b32 [r], %a;
        ret;
    }
    .visible .entry counted(
        .param .u64 .ptr .global .align 4 out: &mut [u32],
        .param .u32 rounds)
        .reqntid 128
    {
        .reg .pred %p, %q;
        .reg .b32 %t, %i, %id, %rounds, %sum, %v, %part, %n;
        .reg .b64 %d, %o;
        ld.param.u64 %d, [out];
        ld.param.u32 %rounds, [rounds];
        mov.u32 %t, %tid.x;
        and.b32 %part, %t, 3;
        mov.u32 %sum, 0;
        mov.u32 %i, 0;
        mov.u32 %id, 1;
        mov.u32 %n, 5;
      round:
        bar.sync %id, 128;
        and.b32 %v, %i, 3;
        setp.eq.u32 %p, %v, %part;
        @%p bra other;
        add.u32 %sum, %sum, %i;
        setp.gt.u32 %q, %part, %n;
        @%q bra deeper;
        add.u32 %sum, %sum, %id;
        bra next;
      deeper:
        mad.lo.u32 %sum, %n, 100, %sum;
        bra next;
      other:
        {
            .param .b32 a;
            .param .b32 b;
            .param .b32 r;
            st.param.b32 [a], %sum;
            st.param.b32 [b], %i;
            call (r), twice_and, (a, b);
            ld.param.b32 %sum, [r];
        }
      next:
        shfl.sync.idx.b32 %v, %sum, %n, 31, 0xffffffff;
        bar.sync 0;
        add.u32 %sum, %sum, %v;
        xor.b32 %n, %n, %id;
        add.u32 %i, %i, 1;
        and.b32 %id, %i, 7;
        add.u32 %id, %id, 1;
        setp.lt.u32 %p, %i, %rounds;
        @%p bra round;
        add.u32 %sum, %sum, %id;
        mul.wide.u32 %o, %t, 4;
        add.u64 %d, %d, %o;
        st.global.u32 [%d], %sum;
        ret;
    }
}

#[test]
fn what_is_counted_alike_is_read_everywhere() {
    const ROUNDS: u32 = 37;
    let mut expected = [0u32; 128];
    let (mut id, mut n) = (1u32, 5u32);
    for i in 0..ROUNDS {
        for (t, sum) in expected.iter_mut().enumerate() {
            let part = t as u32 & 3;
            if i & 3 == part {
                *sum = sum.wrapping_mul(2).wrapping_add(i);
            } else if part > n {
                *sum = sum.wrapping_add(i).wrapping_add(n * 100);
            } else {
                *sum = sum.wrapping_add(i).wrapping_add(id);
            }
        }
        for warp in expected.chunks_mut(32) {
            let v = warp[n as usize & 31];
            warp.iter_mut().for_each(|sum| *sum = sum.wrapping_add(v));
        }
        n ^= id;
        id = ((i + 1) & 7) + 1;
    }
    expected.iter_mut().for_each(|sum| *sum = sum.wrapping_add(id));
    for host in [Host::new(), Host::new().seed(3), Host::new().seed(4)] {
        let mut out = [0; 128];
        counted.launch(&host, Launch::grid(1), (&mut out, ROUNDS)).unwrap();
        assert_eq!(out, expected);
    }
    let mut out = [0; 128];
    counted.launch(&Host::checked(), Launch::grid(1), (&mut out, ROUNDS)).unwrap();
    assert_eq!(out, expected);
}

ptx! {
    <sm_80, ptx 7.0, allow(PTX0620)>
    // Every CTA finds a clean slot: shared and local memory, registers and barriers of the previous one are reset.
    .visible .entry places(
        .param .u64 .ptr .global .align 4 out: &mut [u32])
        .reqntid 64
    {
        .reg .pred %p;
        .reg .b32 %t, %b, %v, %w, %never, %at;
        .reg .b64 %d, %o;
        .shared .align 4 .b8 s[1024];
        .local .align 4 .b8 own[8];
        ld.param.u64 %d, [out];
        mov.u32 %t, %tid.x;
        mov.u32 %b, %ctaid.x;
        setp.lt.u32 %p, %t, 7;
        @%p bra set;
        bra on;
      set:
        add.u32 %never, %never, 1;
      on:
        mov.u32 %at, s;
        mad.lo.u32 %at, %t, 4, %at;
        ld.shared.u32 %v, [%at];
        ld.local.u32 %w, [own+4];
        mad.lo.u32 %v, %v, 100, %w;
        mad.lo.u32 %v, %never, 10000, %v;
        st.shared.u32 [%at], 5;
        st.shared.u32 [%at+512], %v;
        st.local.u32 [own+4], 9;
        bar.sync 3;
        ld.shared.u32 %w, [%at+512];
        mad.lo.u32 %b, %b, 64, %t;
        mul.wide.u32 %o, %b, 4;
        add.u64 %d, %d, %o;
        st.global.u32 [%d], %w;
        ret;
    }
}

#[test]
fn a_cta_leaves_nothing_to_the_next() {
    let expected: Vec<u32> = (0..64 * 100).map(|i| if i % 64 < 7 { 10000 } else { 0 }).collect();
    for host in [Host::new(), Host::new().resident_clusters(3), Host::new().threads(2)] {
        let mut out = vec![1; 64 * 100];
        places.launch(&host, Launch::grid(100), (&mut out,)).unwrap();
        assert_eq!(out, expected);
    }
}
