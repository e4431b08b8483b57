//! Divergent lanes: loops that they leave one by one, code for some of them, and their registers after reconvergence.

use ptx_dsl::prelude::*;

const THREADS: usize = 200;

/// A value that differs from thread to thread.
fn seed(i: u32) -> u32 {
    i.wrapping_mul(2_654_435_761) >> 7
}

#[test]
fn registers_are_what_they_were_when_a_lane_left() {
    // Two exits of a loop. Live after them: words, a double word, a half, a predicate, and a count that is uniform inside.
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p, %odd, %late;
        .reg .b16 %h;
        .reg .b32 %i, %b, %x, %n, %all, %out;
        .reg .b64 %pd, %o, %wide;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        mul.lo.u32 %x, %i, 0x9E3779B1;
        shr.u32 %x, %x, 7;
        mov.u32 %n, 0;
        mov.u32 %all, 0;
        mov.u64 %wide, 1;
        mov.u16 %h, 7;
        setp.ne.u32 %odd, %n, %n;
    AGAIN:
        setp.lt.u32 %p, %x, 90;
        @%p bra SMALL;
        and.b32 %b, %x, 1;
        setp.ne.u32 %odd, %b, 0;
        mad.lo.u64 %wide, %wide, 3, 5;
        mad.lo.u16 %h, %h, 5, 1;
        shr.u32 %x, %x, 1;
        add.u32 %n, %n, 2;
        add.u32 %all, %all, 1;
        setp.lt.u32 %p, %all, 14;
        @%p bra AGAIN;
        mov.u32 %out, 1000;
        bra DONE;
    SMALL:
        mov.u32 %out, 2000;
    DONE:
        add.u32 %out, %out, %n;
        add.u32 %out, %out, %x;
        cvt.u32.u64 %b, %wide;
        xor.b32 %out, %out, %b;
        cvt.u32.u16 %b, %h;
        mad.lo.u32 %out, %b, 65536, %out;
        @%odd xor.b32 %out, %out, 0x55555555;
        st.global.u32 [%pd], %out;
    });
    let mut d = vec![0u32; THREADS];
    k.launch(&Host::new(), Launch::grid(1).block(THREADS as u32), (&mut d,)).unwrap();
    for (i, &got) in d.iter().enumerate() {
        let (mut x, mut n, mut wide, mut half, mut odd, mut all) = (seed(i as u32), 0, 1u64, 7u16, false, 0);
        let mut out = 1000u32;
        loop {
            if x < 90 {
                out = 2000;
                break;
            }
            odd = x % 2 == 1;
            wide = wide.wrapping_mul(3).wrapping_add(5);
            half = half.wrapping_mul(5).wrapping_add(1);
            x /= 2;
            n += 2;
            all += 1;
            if all == 14 {
                break;
            }
        }
        out = (out + n + x) ^ wide as u32;
        out = out.wrapping_add(65536u32.wrapping_mul(half.into()));
        assert_eq!(got, if odd { out ^ 0x5555_5555 } else { out }, "thread {i}");
    }
}

#[test]
fn conditions_within_conditions_in_a_loop() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p, %q, %r;
        .reg .b32 %i, %b, %x, %n, %t, %kept;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        mul.lo.u32 %x, %i, 0x9E3779B1;
        shr.u32 %x, %x, 20;
        mov.u32 %n, 0;
        mov.u32 %kept, 17;
        setp.ne.u32 %r, %n, %n;
    LOOP:
        setp.le.u32 %p, %x, 1;
        @%p bra DONE;
        and.b32 %b, %x, 1;
        setp.ne.u32 %q, %b, 0;
        @%q bra ODD;
        shr.u32 %x, %x, 1;
        and.b32 %b, %x, 2;
        setp.eq.u32 %q, %b, 0;
        @%q bra NEXT;
        add.u32 %kept, %kept, %x;
        setp.gt.u32 %r, %kept, 5000;
        bra NEXT;
    ODD:
        mov.u32 %t, 3;
        setp.gt.u32 %q, %x, 1000;
        @%q bra BIG;
        add.u32 %t, %t, %t;
        @%r xor.b32 %kept, %kept, %t;
        bra SMALL;
    BIG:
        sub.u32 %t, %t, 1;
    SMALL:
        sub.u32 %x, %x, %t;
        setp.gt.s32 %q, %x, 0;
        @%q bra NEXT;
        mov.u32 %x, 1;
    NEXT:
        add.u32 %n, %n, 1;
        bra LOOP;
    DONE:
        mad.lo.u32 %n, %kept, 256, %n;
        st.global.u32 [%pd], %n;
    });
    let mut d = vec![0u32; THREADS];
    k.launch(&Host::new(), Launch::grid(1).block(THREADS as u32), (&mut d,)).unwrap();
    for (i, &got) in d.iter().enumerate() {
        let (mut x, mut n, mut kept, mut r) = (seed(i as u32) >> 13, 0u32, 17u32, false);
        while x > 1 {
            if x % 2 == 0 {
                x /= 2;
                if x & 2 != 0 {
                    kept = kept.wrapping_add(x);
                    r = kept > 5000;
                }
            } else {
                let t = if x > 1000 {
                    2
                } else {
                    if r {
                        kept ^= 6;
                    }
                    6
                };
                x = x.wrapping_sub(t);
                if x as i32 <= 0 {
                    x = 1;
                }
            }
            n += 1;
        }
        assert_eq!(got, kept.wrapping_mul(256).wrapping_add(n), "thread {i}");
    }
}

#[test]
fn only_some_lanes_touch_memory() {
    // The others have invalid addresses.
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32], x: &mut [u32], sum: &mut [u32]| {
        .reg .pred %p, %q;
        .reg .b32 %i, %v, %w, %old;
        .reg .b64 %pd, %px, %ps, %o, %far;
        .shared .align 4 .b8 tile[1024];
        ld.param.u64 %pd, [d];
        ld.param.u64 %px, [x];
        ld.param.u64 %ps, [sum];
        mov.u32 %i, %tid.x;
        mov.u32 %v, 5;
        mov.u32 %w, 6;
        mul.wide.u32 %o, %i, 4;
        setp.ge.u32 %p, %i, 77;
        @%p bra SKIP;
        add.u64 %far, %px, %o;
        ld.global.u32 %v, [%far];
        and.b32 %old, %v, 1;
        setp.ne.u32 %q, %old, 0;
        @%q st.global.u32 [%far+400000], %v;
        and.b32 %old, %v, 3;
        setp.eq.u32 %q, %old, 2;
        @!%q bra NOT;
        mad.lo.u32 %w, %v, 4, 0;
        cvt.u64.u32 %far, %w;
        and.b64 %far, %far, 63;
        and.b64 %far, %far, -4;
        add.u64 %far, %far, %px;
        ld.global.u32 %w, [%far];
        red.global.add.u32 [%ps], %w;
    NOT:
        mad.lo.u32 %old, %i, 4, 0;
        st.shared.u32 [%old], %w;
        ld.shared.u32 %old, [%old];
        add.u32 %v, %v, %old;
        atom.global.add.u32 %old, [%ps+4], 1;
        ld.global.u32 %old, [%px+8];
        add.u32 %v, %v, %old;
    SKIP:
        add.u64 %pd, %pd, %o;
        st.global.u32 [%pd], %v;
    });
    // even numbers only: no lane executes the store far away
    let mut x: Vec<u32> = (0..77).map(|i| seed(i) & !1).collect();
    let (mut d, mut sum) = (vec![0u32; THREADS], [0u32; 2]);
    k.launch(&Host::new(), Launch::grid(1).block(THREADS as u32), (&mut d, &mut x, &mut sum)).unwrap();
    let mut wanted = [0u32, 77];
    for (i, &got) in d.iter().enumerate() {
        let Some(&v) = x.get(i) else {
            assert_eq!(got, 5, "thread {i}");
            continue;
        };
        let mut w = 6;
        if v % 4 == 2 {
            w = x[(v.wrapping_mul(4) % 64 / 4) as usize];
            wanted[0] = wanted[0].wrapping_add(w);
        }
        assert_eq!(got, v.wrapping_add(w).wrapping_add(x[2]), "thread {i}");
    }
    assert_eq!(sum, wanted);
}

#[test]
fn rows_that_some_lanes_may_not_touch() {
    // A whole warp without an active lane, and one with a few.
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p;
        .reg .b32 %i, %v;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        setp.gt.u32 %p, %i, 36;
        @%p bra SKIP;
        ld.global.u32 %v, [%pd];
        add.u32 %v, %v, %i;
        st.global.u32 [%pd], %v;
    SKIP:
        bar.sync 0;
    });
    let mut d = vec![100u32; 37];
    k.launch(&Host::new(), Launch::grid(1).block(128), (&mut d,)).unwrap();
    assert!((100u32..).zip(&d).all(|(i, v)| *v == i), "{d:?}");
}

#[test]
fn a_fault_of_one_lane_behind_a_condition_is_its_own() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p;
        .reg .b32 %i, %b;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        and.b32 %b, %i, 7;
        setp.ne.u32 %p, %b, 5;
        @%p bra FINE;
        setp.eq.u32 %p, %i, 45;
        @%p add.u64 %pd, %pd, 4000;
        st.global.u32 [%pd], 9;
        bra END;
    FINE:
        st.global.u32 [%pd], 1;
    END:
        add.u32 %b, %b, 1;
        st.global.u32 [%pd], %b;
    });
    let mut d = vec![0u32; 64];
    let fault = k.launch(&Host::new(), Launch::grid(1).block(64), (&mut d,)).unwrap_err();
    let report = fault.to_string();
    assert!(report.contains("st.global.u32 [%pd], 9;") && report.contains("(45, 0, 0)"), "{report}");
}

#[test]
fn a_fault_in_a_loop_is_of_the_lane_that_went_too_far() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32], x: &[u32]| {
        .reg .pred %p;
        .reg .b32 %i, %at, %end, %sum, %v;
        .reg .b64 %pd, %px, %o;
        ld.param.u64 %pd, [d];
        ld.param.u64 %px, [x];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        mov.u32 %sum, 0;
        mov.u32 %at, %i;
        // 43 goes to 100, the others to 99 at most
        and.b32 %end, %i, 31;
        add.u32 %end, %end, 69;
        setp.eq.u32 %p, %i, 43;
        @%p mov.u32 %end, 101;
    NEXT:
        mul.wide.u32 %o, %at, 4;
        add.u64 %o, %px, %o;
        ld.global.u32 %v, [%o];
        add.u32 %sum, %sum, %v;
        add.u32 %at, %at, 1;
        setp.lt.u32 %p, %at, %end;
        @%p bra NEXT;
        st.global.u32 [%pd], %sum;
    });
    let (mut d, x) = (vec![0u32; 64], vec![1; 100]);
    let report = k.launch(&Host::new(), Launch::grid(1).block(64), (&mut d, &x)).unwrap_err().to_string();
    assert!(report.contains("ld.global.u32 %v, [%o];") && report.contains("(43, 0, 0)"), "{report}");
    let x = vec![1; 101];
    k.launch(&Host::new(), Launch::grid(1).block(64), (&mut d, &x)).unwrap();
    for (i, &got) in (0u32..).zip(&d) {
        let end = if i == 43 { 101 } else { i % 32 + 69 };
        assert_eq!(got, end.saturating_sub(i).max(1), "thread {i}");
    }
}

ptx! {
    <sm_90, ptx 8.0, allow(PTX0668)>
    // Odd lanes never leave.
    .visible .entry odd_lanes_stay(.param .u64 .ptr .global .align 4 d: &mut [u32]) {
        .reg .pred %p;
        .reg .b32 %i, %n;
        .reg .b64 %pd;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        and.b32 %i, %i, 1;
        mov.u32 %n, 0;
    AGAIN:
        add.u32 %n, %n, 1;
        setp.ne.u32 %p, %i, 0;
        @%p bra AGAIN;
        st.global.u32 [%pd], %n;
        ret;
    }

    // Odd lanes leave after 2^32 additions, minutes later. No detector may call that a deadlock.
    .visible .entry odd_lanes_count(.param .u64 .ptr .global .align 4 d: &mut [u32]) {
        .reg .pred %p, %odd;
        .reg .b32 %i, %n;
        .reg .b64 %pd;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        and.b32 %i, %i, 1;
        setp.ne.u32 %odd, %i, 0;
    AGAIN:
        atom.global.add.u32 %n, [%pd], 1;
        setp.ne.and.u32 %p, %n, 0xffffffff, %odd;
        @%p bra AGAIN;
        ret;
    }

    // Lanes that find something in memory leave too.
    .visible .entry finders_stay(.param .u64 .ptr .global .align 4 d: &mut [u32]) {
        .reg .pred %p;
        .reg .b32 %i, %n, %at, %sum;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mov.u32 %n, 0;
        mov.u32 %sum, 0;
    AGAIN:
        add.u32 %at, %n, %i;
        and.b32 %at, %at, 63;
        mul.wide.u32 %o, %at, 4;
        add.u64 %o, %o, %pd;
        ld.global.u32 %at, [%o];
        add.u32 %sum, %sum, %at;
        add.u32 %n, %n, 1;
        setp.lt.u32 %p, %sum, 1000;
        @%p bra AGAIN;
        st.global.u32 [%pd], %n;
        ret;
    }
}

#[test]
fn a_loop_that_some_lanes_never_leave_ends_at_the_step_limit() {
    let launch = || Launch::grid(2).block(64).step_limit(50_000);
    let mut d = vec![0u32; 64];
    d[0] = 1;
    let fault = odd_lanes_stay.launch(&Host::new(), launch(), (&mut d,)).unwrap_err();
    assert!(fault.to_string().contains("step"), "{fault}");
    let mut d = vec![0u32; 64];
    let fault = finders_stay.launch(&Host::new(), launch(), (&mut d,)).unwrap_err();
    assert!(fault.to_string().contains("step"), "{fault}");
}

#[test]
fn such_a_loop_can_be_cancelled() {
    let cancel = ptx_dsl::launch::CancelHandle::new();
    let launch = Launch::grid(1).block(64).step_limit(u64::MAX).cancel(cancel.clone());
    let mut d = vec![0u32; 64];
    let fault = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(30));
            cancel.cancel();
        });
        odd_lanes_count.launch(&Host::new(), launch, (&mut d,)).unwrap_err()
    });
    assert!(fault.to_string().contains("cancel"), "{fault}");
}

#[test]
fn a_lane_that_waits_for_another_lets_it_go_on() {
    // Lane 5 of the first warp waits for the second, all others for lane 5, each with loads of another kind.
    let k = ptx!(<sm_90, ptx 8.0> |flags: &mut [u32], d: &mut [u32]| {
        .reg .pred %p, %five;
        .reg .b32 %i, %v, %n;
        .reg .b64 %pf, %pd, %o;
        ld.param.u64 %pf, [flags];
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        setp.ge.u32 %p, %i, 32;
        @%p bra SECOND;
        mov.u32 %n, 0;
        setp.eq.u32 %five, %i, 5;
        @%five bra FIVE;
    WAIT:
        ld.relaxed.gpu.global.u32 %v, [%pf];
        setp.eq.u32 %p, %v, 0;
        @%p bra WAIT;
        bra END;
    FIVE:
        ld.volatile.global.u32 %v, [%pf+4];
        setp.eq.u32 %p, %v, 0;
        @%p bra FIVE;
        st.release.gpu.global.u32 [%pf], 3;
        bra END;
    SECOND:
        setp.gt.u32 %p, %i, 32;
        @%p bra LAST;
        st.volatile.global.u32 [%pf+4], 2;
    LAST:
        ld.acquire.gpu.global.u32 %v, [%pf];
        setp.eq.u32 %p, %v, 0;
        @%p bra LAST;
    END:
        bar.warp.sync -1;
        st.global.u32 [%pd], %v;
    });
    let (mut flags, mut d) = ([0u32; 2], vec![0u32; 64]);
    k.launch(&Host::new(), Launch::grid(1).block(64), (&mut flags, &mut d)).unwrap();
    assert_eq!(flags, [3, 2]);
    for (i, &got) in d.iter().enumerate() {
        assert_eq!(got, if i == 5 { 2 } else { 3 }, "thread {i}");
    }
}

#[test]
fn warps_are_whole_again_behind_a_loop() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p;
        .reg .b32 %i, %n, %x, %all, %any, %m;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        and.b32 %x, %i, 13;
        mov.u32 %n, 0;
    NEXT:
        mad.lo.u32 %n, %n, 3, 1;
        sub.u32 %x, %x, 1;
        setp.ge.s32 %p, %x, 0;
        @%p bra NEXT;
        shfl.sync.bfly.b32 %all, %n, 5, 0x1f, -1;
        and.b32 %any, %i, 3;
        setp.eq.u32 %p, %any, 1;
        mov.u32 %m, 0;
        @!%p bra OTHERS;
        activemask.b32 %m;
        add.u32 %all, %all, 1;
    OTHERS:
        bar.warp.sync -1;
        vote.sync.ballot.b32 %any, %p, -1;
        xor.b32 %all, %all, %any;
        xor.b32 %all, %all, %m;
        st.global.u32 [%pd], %all;
    });
    let mut d = vec![0u32; 96];
    k.launch(&Host::new(), Launch::grid(1).block(96), (&mut d,)).unwrap();
    let n = |i: u32| (0..=i & 13).fold(0u32, |n, _| n.wrapping_mul(3).wrapping_add(1));
    for (i, &got) in (0u32..).zip(&d) {
        let one = i % 4 == 1;
        let m = if one { 0x2222_2222 } else { 0 };
        assert_eq!(got, n(i ^ 5).wrapping_add(one.into()) ^ 0x2222_2222 ^ m, "thread {i}");
    }
}

#[test]
fn lanes_come_into_a_loop_from_two_places_and_go_back_to_an_outer_one() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p;
        .reg .b32 %i, %x, %n, %outer, %b;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        mov.u32 %n, %i;
        mov.u32 %outer, 0;
        and.b32 %x, %i, 7;
        setp.gt.u32 %p, %x, 4;
        @%p bra INNER;
    OUTER:
        add.u32 %outer, %outer, 1;
        mad.lo.u32 %n, %n, 5, %outer;
        and.b32 %x, %n, 15;
    INNER:
        setp.eq.u32 %p, %x, 0;
        @%p bra AFTER;
        and.b32 %b, %n, 63;
        setp.eq.u32 %p, %b, 33;
        add.u32 %n, %n, 3;
        @%p bra OUTER;
        xor.b32 %n, %n, %x;
        sub.u32 %x, %x, 1;
        bra INNER;
    AFTER:
        setp.lt.u32 %p, %outer, 6;
        @%p bra OUTER;
        st.global.u32 [%pd], %n;
    });
    let mut d = vec![0u32; THREADS];
    k.launch(&Host::new(), Launch::grid(1).block(THREADS as u32), (&mut d,)).unwrap();
    for (i, &got) in (0u32..).zip(&d) {
        let (mut n, mut outer, mut x) = (i, 0u32, i & 7);
        let mut skip = x > 4;
        'outer: loop {
            if !std::mem::take(&mut skip) {
                outer += 1;
                n = n.wrapping_mul(5).wrapping_add(outer);
                x = n & 15;
            }
            while x != 0 {
                let again = n & 63 == 33;
                n = n.wrapping_add(3);
                if again {
                    continue 'outer;
                }
                n ^= x;
                x -= 1;
            }
            if outer >= 6 {
                break;
            }
        }
        assert_eq!(got, n, "thread {i}");
    }
}

#[test]
fn what_one_way_defines_and_the_other_does_not() {
    // Neither path, one, the other, or both set a register; a predicate among them; a carry is passed through.
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p, %q, %r;
        .reg .b32 %i, %a, %b, %c, %t;
        .reg .b64 %pd, %o, %w;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 16;
        add.u64 %pd, %pd, %o;
        mov.u32 %a, 1;
        mov.u32 %b, 2;
        mov.u64 %w, 0x100000000;
        setp.gt.u32 %r, %i, 100;
        and.b32 %t, %i, 1;
        setp.eq.u32 %p, %t, 1;
        @%p bra ODD;
        add.u32 %a, %a, 10;
        mov.u32 %c, 77;
        mov.u32 %t, %c;
        setp.lt.u32 %r, %t, %i;
        bra MEET;
    ODD:
        add.u32 %b, %b, %i;
        mov.u32 %c, 78;
        mad.lo.u64 %w, %w, 3, 1;
    MEET:
        add.cc.u32 %t, %i, 0xFFFFFFF0;
        addc.u32 %c, %c, 0;
        @%r add.u32 %c, %c, 1000;
        cvt.u32.u64 %t, %w;
        st.global.u32 [%pd], %a;
        st.global.u32 [%pd+4], %b;
        st.global.u32 [%pd+8], %c;
        st.global.u32 [%pd+12], %t;
    });
    let mut d = vec![0u32; 4 * THREADS];
    k.launch(&Host::new(), Launch::grid(1).block(THREADS as u32), (&mut d,)).unwrap();
    for (i, got) in (0u32..).zip(d.chunks(4)) {
        let odd = i % 2 == 1;
        let r = if odd { i > 100 } else { 77 < i };
        let c = if odd { 78 } else { 77 } + u32::from(i >= 16) + if r { 1000 } else { 0 };
        let want = [if odd { 1 } else { 11 }, if odd { 2 + i } else { 2 }, c, odd.into()];
        assert_eq!(got, want, "thread {i}");
    }
}

ptx! {
    <sm_90, ptx 8.0>
    .func (.reg .b32 old) take(.reg .b64 lock)
    {
        atom.acquire.gpu.global.cas.b32 old, [lock], 0, 1;
        ret;
    }
    // Each lane takes a lock, counts, and gives it back.
    .visible .entry locked(.param .u64 .ptr .global .align 4 d: &mut [u32]) .maxntid 64
    {
        .reg .pred %p;
        .reg .b32 %x;
        .reg .b64 %d;
        ld.param.u64 %d, [d];
    TAKE:
        call (%x), take, (%d);
        setp.ne.u32 %p, %x, 0;
        @%p bra TAKE;
        ld.global.u32 %x, [%d+4];
        mad.lo.u32 %x, %x, 3, 1;
        st.global.u32 [%d+4], %x;
        st.release.gpu.global.u32 [%d], 0;
        ret;
    }
}

/// The lane with the lock does not wait for many turns of another warp.
#[test]
fn lanes_of_two_warps_that_take_a_lock() {
    let mut d = [0u32; 2];
    locked.launch(&Host::new(), Launch::grid(1).block(40).step_limit(2_000_000), (&mut d,)).unwrap();
    assert_eq!(d, [0, (0..40).fold(0u32, |x, _| x.wrapping_mul(3).wrapping_add(1))]);
}

ptx! {
    <sm_90, ptx 8.0, compiled>
    // Each thread takes one of four locks three times, and counts.
    .visible .entry counted(.param .u64 .ptr .global .align 4 d: &mut [u32])
    {
        .reg .pred %p;
        .reg .b32 %x, %n;
        .reg .b64 %d;
        ld.param.u64 %d, [d];
        mov.u32 %x, %tid.x;
        mul.lo.u32 %x, %x, 0x9E3779B1;
        shr.u32 %x, %x, 30;
        mad.wide.u32 %d, %x, 8, %d;
        mov.u32 %n, 3;
    TAKE:
        atom.acquire.gpu.global.cas.b32 %x, [%d], 0, 1;
        setp.ne.u32 %p, %x, 0;
        @%p bra TAKE;
        ld.global.u32 %x, [%d+4];
        add.u32 %x, %x, 1;
        st.global.u32 [%d+4], %x;
        atom.release.gpu.global.exch.b32 %x, [%d], 0;
        sub.u32 %n, %n, 1;
        setp.ne.u32 %p, %n, 0;
        @%p bra TAKE;
        ret;
    }
}

/// Threads that try in vain to take a lock let others go first: each time the locks change hands takes few turns.
#[test]
fn threads_that_poll_locks_yield() {
    let launch = Launch::grid(1).block(256).step_limit(60_000);
    let counts = |d: [u32; 8]| {
        assert_eq!([0, 2, 4, 6].map(|i| d[i]), [0; 4]);
        assert_eq!([1, 3, 5, 7].map(|i| d[i]).iter().sum::<u32>(), 3 * 256);
    };
    for engine in [ptx_dsl::Engine::Compiled, ptx_dsl::Engine::Interpreted] {
        let mut d = [0; 8];
        counted.launch(&Host::new().engine(engine), launch.clone(), (&mut d,)).unwrap();
        counts(d);
    }
    let mut d = [0; 8];
    counted.launch(&Host::checked(), launch, (&mut d,)).unwrap();
    counts(d);
}

ptx! {
    <sm_90, ptx 8.0>
    // Each thread takes one of four locks once, and counts. It looks at the lock before it tries.
    .visible .entry counted_once(.param .u64 .ptr .global .align 4 d: &mut [u32])
    {
        .reg .pred %p;
        .reg .b32 %x;
        .reg .b64 %d;
        ld.param.u64 %d, [d];
        mov.u32 %x, %tid.x;
        mul.lo.u32 %x, %x, 0x9E3779B1;
        shr.u32 %x, %x, 30;
        mad.wide.u32 %d, %x, 8, %d;
    TAKE:
        ld.relaxed.gpu.global.u32 %x, [%d];
        setp.ne.u32 %p, %x, 0;
        @%p bra TAKE;
        atom.acquire.gpu.global.cas.b32 %x, [%d], 0, 1;
        setp.ne.u32 %p, %x, 0;
        @%p bra TAKE;
        ld.global.u32 %x, [%d+4];
        add.u32 %x, %x, 1;
        st.global.u32 [%d+4], %x;
        atom.release.gpu.global.exch.b32 %x, [%d], 0;
        ret;
    }
}

/// On the checked host, which sees each load, so do threads that only look at a lock.
#[test]
fn threads_that_look_at_locks_yield() {
    let mut d = [0; 8];
    let launch = Launch::grid(1).block(256).step_limit(60_000);
    counted_once.launch(&Host::checked(), launch, (&mut d,)).unwrap();
    assert_eq!([0, 2, 4, 6].map(|i| d[i]), [0; 4]);
    assert_eq!([1, 3, 5, 7].map(|i| d[i]).iter().sum::<u32>(), 256);
}
