//! Barriers and mbarriers.

use ptx_dsl::prelude::*;

#[test]
fn named_barriers_join_producers_and_consumers() {
    // Warp 0 produces and only arrives, warps 1 and 2 wait; the names and counts differ from barrier 0.
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p;
        .reg .b32 %i, %w, %v, %a;
        .reg .b64 %pd, %o;
        .shared .align 4 .b32 box_[32];
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        shr.u32 %w, %i, 5;
        and.b32 %a, %i, 31;
        shl.b32 %a, %a, 2;
        mov.u32 %v, box_;
        add.u32 %a, %a, %v;
        setp.ne.u32 %p, %w, 0;
        @%p bra CONSUMER;
        mul.lo.u32 %v, %i, 3;
        st.shared.u32 [%a], %v;
        bar.arrive 5, 96;
        ret;
    CONSUMER:
        bar.sync 5, 96;
        ld.shared.u32 %v, [%a];
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        st.global.u32 [%pd], %v;
    });
    let mut d = [0u32; 96];
    k.launch(&Host::new(), Launch::grid(1).block(96), (&mut d,)).unwrap();
    for (i, v) in d.iter().enumerate().skip(32) {
        assert_eq!(*v, (i as u32 % 32) * 3);
    }
}

#[test]
fn barrier_reductions_count_predicates() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p, %q;
        .reg .b32 %i, %n, %x;
        .reg .b64 %pd, %o;
        ld.param.u64 %pd, [d];
        mov.u32 %i, %tid.x;
        mul.wide.u32 %o, %i, 4;
        add.u64 %pd, %pd, %o;
        setp.lt.u32 %p, %i, 50;
        barrier.sync 0;
        bar.red.popc.u32 %n, 0, %p;
        bar.red.and.pred %q, 1, !%p;
        selp.u32 %x, 1000, 0, %q;
        add.u32 %n, %n, %x;
        st.global.u32 [%pd], %n;
    });
    let mut d = [0u32; 100];
    k.launch(&Host::new(), Launch::grid(1).block(100), (&mut d,)).unwrap();
    assert_eq!(d, [50u32; 100]);
}

#[test]
fn a_ring_of_stages_is_passed_by_mbarriers() {
    // Warp 0 fills two stages in turn; warp 1 drains them. Phases by parity, states not kept.
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32], n: u32| {
        .reg .pred %p, %q;
        .reg .b32 %t, %lane, %i, %s, %ph, %f, %e, %a, %v, %acc, %b;
        .reg .b64 %pd, %o;
        .shared .align 8 .b64 full[2];
        .shared .align 8 .b64 empty[2];
        .shared .align 4 .b32 data[64];
        ld.param.u64 %pd, [d];
        ld.param.u32 %e, [n];
        mov.u32 %t, %tid.x;
        and.b32 %lane, %t, 31;
        setp.eq.u32 %p, %t, 0;
        @%p mbarrier.init.shared::cta.b64 [full], 32;
        @%p mbarrier.init.shared::cta.b64 [full + 8], 32;
        @%p mbarrier.init.shared::cta.b64 [empty], 32;
        @%p mbarrier.init.shared::cta.b64 [empty + 8], 32;
        bar.sync 0;
        mov.u32 %i, 0;
        mov.u32 %acc, 0;
        setp.ge.u32 %p, %t, 32;
        @%p bra TAKE;
    FILL:
        and.b32 %s, %i, 1;
        shr.u32 %ph, %i, 1;
        and.b32 %ph, %ph, 1;
        xor.b32 %ph, %ph, 1;
        mov.u32 %b, empty;
        mad.lo.u32 %b, %s, 8, %b;
    FILL_WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [%b], %ph;
        @!%q bra FILL_WAIT;
        mov.u32 %a, data;
        mad.lo.u32 %a, %s, 128, %a;
        mad.lo.u32 %a, %lane, 4, %a;
        add.u32 %v, %i, %lane;
        st.shared.u32 [%a], %v;
        mov.u32 %b, full;
        mad.lo.u32 %b, %s, 8, %b;
        mbarrier.arrive.shared::cta.b64 _, [%b];
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %e;
        @%p bra FILL;
        ret;
    TAKE:
        and.b32 %s, %i, 1;
        shr.u32 %ph, %i, 1;
        and.b32 %ph, %ph, 1;
        mov.u32 %b, full;
        mad.lo.u32 %b, %s, 8, %b;
    TAKE_WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [%b], %ph;
        @!%q bra TAKE_WAIT;
        mov.u32 %a, data;
        mad.lo.u32 %a, %s, 128, %a;
        mad.lo.u32 %a, %lane, 4, %a;
        ld.shared.u32 %v, [%a];
        mad.lo.u32 %acc, %acc, 3, %v;
        mov.u32 %b, empty;
        mad.lo.u32 %b, %s, 8, %b;
        mbarrier.arrive.shared::cta.b64 _, [%b];
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %e;
        @%p bra TAKE;
        mul.wide.u32 %o, %lane, 4;
        add.u64 %pd, %pd, %o;
        st.global.u32 [%pd], %acc;
    });
    for seed in 0..5 {
        let host = if seed == 0 { Host::new() } else { Host::new().seed(seed) };
        let mut d = [0u32; 32];
        k.launch(&host, Launch::grid(1).block(64), (&mut d, 9)).unwrap();
        for (lane, got) in d.iter().enumerate() {
            let expected = (0..9u32).fold(0u32, |acc, i| acc.wrapping_mul(3).wrapping_add(i + lane as u32));
            assert_eq!(*got, expected, "seed {seed}, lane {lane}");
        }
    }
}

#[test]
fn arrive_drop_lowers_the_count_of_later_phases() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u64]| {
        .reg .pred %p;
        .reg .b32 %c;
        .reg .b64 %pd, %s, %x;
        .shared .align 8 .b64 mb;
        ld.param.u64 %pd, [d];
        mbarrier.init.shared::cta.b64 [mb], 4;
        mbarrier.arrive.noComplete.shared::cta.b64 %s, [mb], 1;
        mbarrier.pending_count.b64 %c, %s;
        cvt.u64.u32 %x, %c;
        st.global.u64 [%pd], %x;
        mbarrier.arrive_drop.noComplete.shared::cta.b64 %s, [mb], 2;
        mbarrier.pending_count.b64 %c, %s;
        cvt.u64.u32 %x, %c;
        st.global.u64 [%pd + 8], %x;
        mbarrier.arrive.shared::cta.b64 %s, [mb];
        mbarrier.test_wait.shared::cta.b64 %p, [mb], %s;
        selp.u64 %x, 1, 0, %p;
        st.global.u64 [%pd + 16], %x;
        // The next phase expects 2.
        mbarrier.arrive.shared::cta.b64 %s, [mb];
        mbarrier.test_wait.shared::cta.b64 %p, [mb], %s;
        selp.u64 %x, 1, 0, %p;
        st.global.u64 [%pd + 24], %x;
        mbarrier.arrive.shared::cta.b64 _, [mb];
        mbarrier.test_wait.shared::cta.b64 %p, [mb], %s;
        selp.u64 %x, 1, 0, %p;
        st.global.u64 [%pd + 32], %x;
    });
    let mut d = [9u64; 5];
    k.launch(&Host::new(), Launch::grid(1).block(1), (&mut d,)).unwrap();
    assert_eq!(d, [4, 3, 1, 0, 1]);
}

#[test]
fn transactions_hold_a_phase_open() {
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p, %q;
        .reg .b32 %x, %y;
        .reg .b64 %pd, %s;
        .shared .align 8 .b64 mb;
        ld.param.u64 %pd, [d];
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 %s, [mb], 48;
        mbarrier.complete_tx.shared::cta.b64 [mb], 32;
        mbarrier.test_wait.shared::cta.b64 %p, [mb], %s;
        mbarrier.complete_tx.shared::cta.b64 [mb], 16;
        mbarrier.test_wait.shared::cta.b64 %q, [mb], %s;
        selp.u32 %x, 1, 0, %p;
        selp.u32 %y, 1, 0, %q;
        st.global.v2.u32 [%pd], {%x, %y};
        // A fresh object passes a wait for parity 1.
        mbarrier.inval.shared::cta.b64 [mb];
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.test_wait.parity.shared::cta.b64 %p, [mb], 1;
        mbarrier.test_wait.parity.shared::cta.b64 %q, [mb], 0;
        selp.u32 %x, 1, 0, %p;
        selp.u32 %y, 1, 0, %q;
        st.global.v2.u32 [%pd + 8], {%x, %y};
    });
    let mut d = [9u32; 4];
    k.launch(&Host::new(), Launch::grid(1).block(1), (&mut d,)).unwrap();
    assert_eq!(d, [0, 1, 1, 0]);
}

#[test]
fn a_wait_that_counts_its_failures_gets_them() {
    // Nobody ever arrives: try_wait must return false again and again, and the kernel gives up.
    let k = ptx!(<sm_90, ptx 8.0> |d: &mut [u32]| {
        .reg .pred %p, %q;
        .reg .b32 %n;
        .reg .b64 %pd;
        .shared .align 8 .b64 mb;
        ld.param.u64 %pd, [d];
        mbarrier.init.shared::cta.b64 [mb], 1;
        mov.u32 %n, 0;
    AGAIN:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [mb], 0;
        @%p bra DONE;
        add.u32 %n, %n, 1;
        setp.lt.u32 %q, %n, 10;
        @%q bra AGAIN;
    DONE:
        st.global.u32 [%pd], %n;
    });
    let mut d = [0u32];
    k.launch(&Host::new(), Launch::grid(1).block(1), (&mut d,)).unwrap();
    assert_eq!(d, [10]);
}

ptx! {
    <sm_90, ptx 8.0, allow(PTX0663)>
    // All threads arrive. A lane leaves for its warp, as in the pipelines of libcu++, and the last one invalidates the object.
    .visible .entry leave(.param .u64 .ptr .global .align 4 d: &mut [u32], .param .u32 fenced) {
        .reg .pred %p;
        .reg .b32 %t, %n, %old, %same, %lane;
        .reg .b64 %pd;
        .shared .align 8 .b64 mb;
        .shared .align 4 .u32 users;
        mov.u32 %t, %tid.x;
        setp.eq.u32 %p, %t, 0;
        @%p mbarrier.init.shared::cta.b64 [mb], 128;
        @%p st.shared.u32 [users], 128;
        bar.sync 0;
        mbarrier.arrive.shared::cta.b64 _, [mb];
        match.any.sync.b32 %same, 0, -1;
        popc.b32 %n, %same;
        neg.s32 %n, %n;
        mov.u32 %lane, %laneid;
        setp.ne.u32 %p, %lane, 0;
        @%p bra END;
        ld.param.u32 %t, [fenced];
        setp.ne.u32 %p, %t, 0;
        @%p fence.acq_rel.cta;
        atom.acquire.cta.shared.add.u32 %old, [users], %n;
        add.s32 %n, %old, %n;
        setp.ne.s32 %p, %n, 0;
        @%p bra END;
        mbarrier.inval.shared::cta.b64 [mb];
        ld.param.u64 %pd, [d];
        st.global.u32 [%pd], 1;
      END:
        ret;
    }
}

#[test]
fn one_lane_leaves_an_mbarrier_object_for_its_warp() {
    let mut d = [0u32];
    leave.launch(&Host::checked(), Launch::grid(1).block(128), (&mut d, 1)).unwrap();
    assert_eq!(d, [1]);
    let race = leave.launch(&Host::checked(), Launch::grid(1).block(128), (&mut d, 0)).unwrap_err().to_string();
    assert!(race.contains("data race") && race.contains("mbarrier.inval"), "{race}");
}
