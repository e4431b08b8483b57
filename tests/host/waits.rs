//! Many warps that wait in different ways; slots that one CTA leaves to the next; registers with several live ranges.

use ptx_dsl::prelude::*;

/// In round-robin order, and in some others.
fn hosts() -> Vec<Host> {
    let mut hosts: Vec<Host> = (1..7).map(|seed| Host::new().seed(seed)).collect();
    hosts.extend([Host::new(), Host::new().record()]);
    hosts
}

ptx! {
    <sm_90, ptx 8.0, allow(PTX0688)>
    // Warp 0 lets the others pass, stage after stage: odd warps wait for one object and even ones for the other, which is
    // released a stage later. At the end each thread has counted its stages.
    .visible .entry two_objects(.param .u64 .ptr .global .align 4 d: &mut [u32], .param .u32 n) .reqntid 256 {
        .reg .pred %p, %q;
        .reg .b32 %t, %w, %i, %n, %b, %ph, %c, %at;
        .reg .b64 %pd, %o;
        .shared .align 8 .b64 go[2];
        .shared .align 8 .b64 back[2];
        ld.param.u64 %pd, [d];
        ld.param.u32 %n, [n];
        mov.u32 %t, %tid.x;
        shr.u32 %w, %t, 5;
        setp.ge.u32 %p, %t, 2;
        @%p bra READY;
        mov.u32 %b, go;
        mad.lo.u32 %b, %t, 8, %b;
        mbarrier.init.shared::cta.b64 [%b], 1;
        mov.u32 %b, back;
        mad.lo.u32 %b, %t, 8, %b;
        add.u32 %c, %t, 3;                  // three even warps, four odd ones
        shl.b32 %c, %c, 5;
        mbarrier.init.shared::cta.b64 [%b], %c;
    READY:
        bar.sync 0;
        mov.u32 %i, 0;
        mov.u32 %c, 0;
        setp.ne.u32 %p, %w, 0;
        @%p bra OTHERS;
    STAGE:
        and.b32 %ph, %i, 1;
        setp.ne.u32 %q, %t, 0;
        @%q bra AGAIN;
        mbarrier.arrive.shared::cta.b64 _, [go + 8];
        mbarrier.arrive.shared::cta.b64 _, [go];
    AGAIN:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [back + 8], %ph;
        @!%q bra AGAIN;
    AGAIN_EVEN:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [back], %ph;
        @!%q bra AGAIN_EVEN;
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra STAGE;
        bra END;
    OTHERS:
        and.b32 %b, %w, 1;
        shl.b32 %b, %b, 3;
        and.b32 %ph, %i, 1;
        mov.u32 %at, go;
        add.u32 %at, %at, %b;
    WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [%at], %ph;
        @!%q bra WAIT;
        add.u32 %c, %c, %i;
        mov.u32 %at, back;
        add.u32 %at, %at, %b;
        mbarrier.arrive.shared::cta.b64 _, [%at];
        add.u32 %i, %i, 1;
        setp.lt.u32 %p, %i, %n;
        @%p bra OTHERS;
    END:
        mul.wide.u32 %o, %t, 4;
        add.u64 %pd, %pd, %o;
        mad.lo.u32 %c, %w, 1000, %c;
        st.global.u32 [%pd], %c;
        ret;
    }

    // Half of the lanes of each warp wait for one object, half for the other; after 20 vain attempts a lane gives up.
    .visible .entry gives_up(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqntid 64 {
        .reg .pred %p, %q;
        .reg .b32 %t, %b, %c, %at;
        .reg .b64 %pd, %o;
        .shared .align 8 .b64 mb[2];
        ld.param.u64 %pd, [d];
        mov.u32 %t, %tid.x;
        setp.ge.u32 %p, %t, 2;
        mov.u32 %b, mb;
        mad.lo.u32 %b, %t, 8, %b;
        @!%p mbarrier.init.shared::cta.b64 [%b], 64;
        bar.sync 0;
        mbarrier.arrive.shared::cta.b64 _, [mb + 8];
        mov.u32 %c, 0;
    MINE:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [mb], 0;
        @%q bra END;
        add.u32 %c, %c, 1;
        setp.lt.u32 %p, %c, 20;
        @%p bra MINE;
        and.b32 %b, %t, 1;
        shl.b32 %b, %b, 3;
        mov.u32 %at, mb;
        add.u32 %b, %at, %b;
    BOTH:
        mbarrier.try_wait.parity.shared::cta.b64 %q, [%b], 0;
        @%q bra END;
        add.u32 %c, %c, 100;
        setp.lt.u32 %p, %c, 520;
        @%p bra BOTH;
    END:
        mul.wide.u32 %o, %t, 4;
        add.u64 %pd, %pd, %o;
        st.global.u32 [%pd], %c;
        ret;
    }

    // The shared memory, barriers and mbarrier objects of the previous CTA are reset.
    .visible .entry leaves_things(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqntid 96 {
        .reg .pred %p;
        .reg .b32 %t, %v, %a, %c, %sum, %w;
        .reg .b64 %pd, %o;
        .shared .align 8 .b64 mb;
        .shared .align 4 .b32 left[96];
        ld.param.u64 %pd, [d];
        mov.u32 %t, %tid.x;
        mov.u32 %c, %ctaid.x;
        mov.u32 %a, left;
        mad.lo.u32 %a, %t, 4, %a;
        ld.shared.u32 %sum, [%a];
        ld.shared.u32 %v, [mb];
        add.u32 %sum, %sum, %v;
        bar.sync 0;
        // some lanes of the first warp exit, the others continue
        setp.lt.u32 %p, %t, 5;
        @%p bra OUT;
        shr.u32 %w, %t, 5;
        setp.eq.u32 %p, %t, 95;
        @%p mbarrier.init.shared::cta.b64 [mb], 7;
        st.shared.u32 [%a], 77;
        // in odd CTAs warp 2 arrives at a barrier without waiters
        setp.ne.u32 %p, %w, 2;
        @%p bra OUT;
        and.b32 %v, %c, 1;
        setp.eq.u32 %p, %v, 0;
        @%p bra OUT;
        bar.arrive 3, 96;
    OUT:
        mad.lo.u32 %t, %c, 96, %t;
        mul.wide.u32 %o, %t, 4;
        add.u64 %pd, %pd, %o;
        add.u32 %sum, %sum, 1;
        st.global.u32 [%pd], %sum;
        ret;
    }

    // Counts of other CTAs are read in rows, in reverse, from one address, and added to.
    .visible .entry peers(.param .u64 .ptr .global .align 4 d: &mut [u32]) .reqntid 64 .reqnctapercluster 4 {
        .reg .b32 %t, %r, %n, %a, %b, %v, %u, %c, %sum;
        .reg .b64 %pd, %o, %g;
        .shared .align 4 .b32 mine[64];
        .shared .align 4 .b32 total;
        ld.param.u64 %pd, [d];
        mov.u32 %t, %tid.x;
        mov.u32 %r, %cluster_ctarank;
        mov.u32 %a, mine;
        mad.lo.u32 %a, %t, 4, %a;
        mad.lo.u32 %v, %r, 100, %t;
        st.shared.u32 [%a], %v;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        add.u32 %n, %r, 3;
        and.b32 %n, %n, 3;
        mapa.shared::cluster.u32 %b, %a, %n;                    // a row
        ld.shared::cluster.u32 %sum, [%b];
        mapa.shared::cluster.u32 %b, %a, %r;                    // the own one by its rank
        ld.shared::cluster.u32 %v, [%b];
        mad.lo.u32 %sum, %v, 1000, %sum;
        mov.u32 %b, mine;
        mapa.shared::cluster.u32 %b, %b, 2;                     // one address
        ld.shared::cluster.u32 %v, [%b + 12];
        mad.lo.u32 %sum, %v, 1000000, %sum;
        and.b32 %u, %t, 3;
        mapa.shared::cluster.u32 %b, %a, %u;                    // each lane another one
        ld.shared::cluster.u32 %v, [%b];
        add.u32 %sum, %sum, %v;
        mov.u64 %g, total;
        cvta.shared.u64 %g, %g;
        mapa.u64 %g, %g, 1;                                     // generic
        red.relaxed.cluster.add.u32 [%g], %t;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ld.u32 %v, [%g];
        add.u32 %sum, %sum, %v;
        mad.lo.u32 %t, %r, 64, %t;
        mul.wide.u32 %o, %t, 4;
        add.u64 %pd, %pd, %o;
        st.global.u32 [%pd], %sum;
        barrier.cluster.arrive;
        barrier.cluster.wait;
        ret;
    }

    // One register is a counter, an address and a value, partly under predicates and around a loop.
    .visible .entry reuses(.param .u64 .ptr .global .align 4 d: &mut [u32], .param .u32 n) .reqntid 64 {
        .reg .pred %p, %q;
        .reg .b32 %a, %b, %t, %n;
        .reg .b64 %x, %o;
        ld.param.u32 %n, [n];
        mov.u32 %t, %tid.x;
        shr.u32 %a, %t, 5;                              // the warp
        mul.lo.u32 %b, %a, 7;
        mov.u32 %a, 0;                                  // a counter
    LOOP:
        setp.lt.u32 %q, %a, 3;
        @%q add.u32 %b, %b, 10;
        @!%q add.u32 %b, %b, %t;
        add.u32 %a, %a, 1;
        setp.lt.u32 %p, %a, %n;
        @%p bra LOOP;
        setp.gt.u32 %p, %t, 40;
        @%p mov.u32 %a, 5000;                           // what the loop left, or this
        add.u32 %b, %b, %a;
        and.b32 %a, %t, 15;                             // a part of the lane
        mad.lo.u32 %b, %a, 100000, %b;
        div.u32 %a, %t, 16;
        mad.lo.u32 %b, %a, 10000000, %b;
        ld.param.u64 %x, [d];
        mul.wide.u32 %o, %t, 4;
        add.u64 %x, %x, %o;
        st.global.u32 [%x], %b;
        ret;
    }
}

#[test]
fn warps_wait_for_two_objects() {
    for host in hosts() {
        let mut d = [0u32; 256];
        two_objects.launch(&host, Launch::grid(1).block(256), (&mut d, 25)).unwrap();
        for (i, v) in d.iter().enumerate() {
            let w = i as u32 / 32;
            assert_eq!(*v, if w == 0 { 0 } else { w * 1000 + 300 }, "thread {i}, {host:?}");
        }
    }
    let mut d = [0u32; 256];
    two_objects.launch(&Host::checked(), Launch::grid(1).block(256), (&mut d, 5)).unwrap();
    assert_eq!(d[255], 7010);
}

#[test]
fn vain_waits_are_counted() {
    for host in hosts() {
        let mut d = [0u32; 64];
        gives_up.launch(&host, Launch::grid(1).block(64), (&mut d,)).unwrap();
        for (i, v) in d.iter().enumerate() {
            assert_eq!(*v, if i % 2 == 0 { 520 } else { 20 }, "thread {i}, {host:?}");
        }
    }
}

#[test]
fn the_next_cta_finds_nothing_of_the_last() {
    for host in [Host::new(), Host::new().resident_clusters(1), Host::new().threads(2), Host::new().seed(3)] {
        let mut d = vec![0u32; 96 * 100];
        leaves_things.launch(&host, Launch::grid(100).block(96), (&mut d,)).unwrap();
        assert!(d.iter().all(|v| *v == 1), "{host:?}");
    }
}

#[test]
fn shared_memory_of_peers() {
    for host in hosts() {
        let mut d = [0u32; 256];
        peers.launch(&host, Launch::grid(4).block(64), (&mut d,)).unwrap();
        for (i, v) in d.iter().enumerate() {
            let (r, t) = (i as u32 / 64, i as u32 % 64);
            let cell = |rank: u32, t: u32| rank * 100 + t;
            let all = 4 * (0..64).sum::<u32>();
            let wanted = cell((r + 3) % 4, t) + cell(r, t) * 1000 + cell(2, 3) * 1_000_000 + cell(t & 3, t) + all;
            assert_eq!(*v, wanted, "rank {r}, thread {t}, {host:?}");
        }
    }
}

#[test]
fn a_register_for_several_things() {
    for n in [1, 3, 6] {
        let mut d = [0u32; 64];
        reuses.launch(&Host::new(), Launch::grid(1).block(64), (&mut d, n)).unwrap();
        for (t, v) in (0..).zip(d) {
            let loops: u32 = (0..n).map(|a| if a < 3 { 10 } else { t }).sum();
            let b = t / 32 * 7 + loops + if t > 40 { 5000 } else { n };
            assert_eq!(v, b + (t & 15) * 100_000 + t / 16 * 10_000_000, "thread {t}, {n} rounds");
        }
    }
}

ptx! {
    <sm_90, ptx 8.0, allow(PTX0642)>
    .visible .entry polls_for_ever(.param .u64 .ptr .global .align 4 x: &mut [u32], .param .u32 how) .reqntid 64
    {
        .reg .pred %p;
        .reg .b32 %v, %t, %how;
        .reg .b64 %x;
        .shared .align 8 .b64 mb;
        ld.param.u64 %x, [x];
        ld.param.u32 %how, [how];
        mov.u32 %t, %tid.x;
        setp.eq.u32 %p, %t, 0;
        @%p mbarrier.init.shared::cta.b64 [mb], 3;
        bar.sync 1;
        setp.eq.u32 %p, %how, 2;
        setp.eq.and.u32 %p, %t, 32, %p;
        @%p bra WAIT;
        setp.ne.u32 %p, %t, 0;
        @%p bra DONE;
        setp.eq.u32 %p, %how, 1;
        @%p bra TEST;
      POLL:
        ld.acquire.gpu.global.u32 %v, [%x];
        setp.eq.u32 %p, %v, 0;
        @%p bra POLL;
        bra.uni DONE;
      TEST:
        mbarrier.test_wait.parity.shared::cta.b64 %p, [mb], 0;
        @!%p bra TEST;
        bra.uni DONE;
      WAIT:
        mbarrier.try_wait.parity.shared::cta.b64 %p, [mb], 0;
        @!%p bra WAIT;
      DONE:
        bar.sync 0;
        ret;
    }
    // Gives up after a hundred tests.
    .visible .entry counts_its_tests(.param .u64 .ptr .global .align 4 x: &mut [u32]) .reqntid 1
    {
        .reg .pred %p, %more;
        .reg .b32 %v, %n;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        mov.u32 %n, 0;
      AGAIN:
        ld.acquire.gpu.global.u32 %v, [%x];
        add.u32 %n, %n, 1;
        setp.eq.u32 %p, %v, 0;
        setp.lt.and.u32 %more, %n, 100, %p;
        @%more bra AGAIN;
        st.global.u32 [%x + 4], %n;
        ret;
    }
}

#[test]
fn an_explored_poll_of_what_never_changes_is_a_deadlock() {
    let explores = || {
        let all = || Host::checked().explore(100);
        [all(), all().pct(3), all().exhaustive(), all().exhaustive().weak()]
    };
    let load = "ld.acquire.gpu.global.u32 %v, [%x];";
    // with 2, a lane of the other warp waits
    for (how, statement) in [(0, load), (1, "mbarrier.test_wait.parity"), (2, load)] {
        for explore in explores() {
            let fault = explore
                .run(|host| polls_for_ever.launch(host, Launch::grid(1), (&mut [0u32; 2], how)))
                .unwrap_err()
                .to_string();
            assert!(fault.contains("deadlock") && fault.contains(&format!("polls `{statement}")), "{fault}");
        }
    }
    for explore in explores() {
        let mut x = [0u32; 2];
        explore.run(|host| counts_its_tests.launch(host, Launch::grid(1), (&mut x,))).unwrap();
        assert_eq!(x, [0, 100]);
    }
}
