//! Scopes and order: PTX0657, PTX0658, PTX0661, PTX0671 to PTX0673.

use super::{Rule, rules};

#[test]
fn scopes_that_end_before_the_other_cta() {
    rules(&[Rule {
        code: 657,
        wrong: &[
            // The peer's mbarrier, by a rank that is computed, under a predicate.
            "# .reqntid 64 .reqnctapercluster 2
             mov.u32 %r1, %cluster_ctarank;
             xor.b32 %r2, %r1, 1;
             mov.u32 %r3, bar;
             mapa.shared::cluster.u32 %r4, %r3, %r2;
             mov.u32 %r5, %tid.x;
             setp.eq.u32 %p1, %r5, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             fence.mbarrier_init.release.cluster;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             @%p1 mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r4]; // error: PTX0657
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // In a loop over all CTAs, to each; relaxed ones give no data.
            "# .reqntid 32 .reqnctapercluster 4
             mov.u32 %r1, bar;
             mov.u32 %r5, %tid.x;
             setp.eq.u32 %p1, %r5, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
             fence.mbarrier_init.release.cluster;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mov.u32 %r2, 0;
             L:
             mapa.shared::cluster.u32 %r3, %r1, %r2;
             mbarrier.arrive.relaxed.cta.shared::cluster.b64 _, [%r3]; // warning: PTX0657
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p2, %r2, 4;
             @%p2 bra L;
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [bar], 0;
             @!%p3 bra W;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // Dropping out of it, and expecting bytes there.
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, bar;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mbarrier.arrive_drop.release.cta.shared::cluster.b64 _, [%r2]; // error: PTX0657
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, bar;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mbarrier.expect_tx.relaxed.cta.shared::cluster.b64 [%r2], 64; // error: PTX0657
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // A flag in the peer's memory, by a generic address too.
            "# .reqntid 32 .reqnctapercluster 2
             cvta.shared.u64 %d1, word;
             mapa.u64 %d2, %d1, 1;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             st.release.cta.u32 [%d2], 1; // error: PTX0657
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, word;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             atom.relaxed.cta.shared::cluster.add.u32 %r3, [%r2], 1; // warning: PTX0657
             barrier.cluster.arrive;
             barrier.cluster.wait;",
        ],
        right: &[
            "# .reqntid 64 .reqnctapercluster 2
             mov.u32 %r1, %cluster_ctarank;
             xor.b32 %r2, %r1, 1;
             mov.u32 %r3, bar;
             mapa.shared::cluster.u32 %r4, %r3, %r2;
             mov.u32 %r5, %tid.x;
             setp.eq.u32 %p1, %r5, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             fence.mbarrier_init.release.cluster;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // The own CTA by its own rank; and as CUTLASS writes it, without a scope.
            "# .reqntid 64 .reqnctapercluster 2
             mov.u32 %r1, %cluster_ctarank;
             mov.u32 %r3, bar;
             mapa.shared::cluster.u32 %r4, %r3, %r1;
             mov.u32 %r5, %tid.x;
             setp.eq.u32 %p1, %r5, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
             bar.sync 0;
             mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r4];
             W:
             mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;",
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, word;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             atom.shared::cluster.add.u32 %r3, [%r2], 1;
             red.relaxed.cluster.shared::cluster.add.u32 [%r2], 1;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
        ],
    }]);
}

#[test]
fn waits_of_too_narrow_scope() {
    rules(&[Rule {
        code: 658,
        wrong: &[
            // It says so itself.
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, bar;
             mapa.shared::cluster.u32 %r2, %r1, 0;
             mov.u32 %r5, %tid.x;
             setp.eq.u32 %p1, %r5, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
             fence.mbarrier_init.release.cluster;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
             W:
             mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [bar], 0; // warning: PTX0658
             @!%p2 bra W;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // By default, and the others store their data here.
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, bar;
             mov.u32 %r3, sh;
             mapa.shared::cluster.u32 %r2, %r1, 0;
             mapa.shared::cluster.u32 %r4, %r3, 0;
             mov.u32 %r5, %tid.x;
             setp.eq.u32 %p1, %r5, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
             fence.mbarrier_init.release.cluster;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             shl.b32 %r6, %r5, 2;
             add.u32 %r7, %r4, %r6;
             st.shared::cluster.u32 [%r7], %r5;
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
             mov.u32 %r8, %cluster_ctarank;
             setp.ne.u32 %p4, %r8, 0;
             @%p4 bra N;
             W:
             mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 0; // warning: PTX0658
             @!%p2 bra W;
             N:
             barrier.cluster.arrive;
             barrier.cluster.wait;",
        ],
        right: &[
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, bar;
             mapa.shared::cluster.u32 %r2, %r1, 0;
             mov.u32 %r5, %tid.x;
             setp.eq.u32 %p1, %r5, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
             fence.mbarrier_init.release.cluster;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // Others arrive, and no data comes from them: as pipelines do when a stage is free.
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, bar;
             mapa.shared::cluster.u32 %r2, %r1, 0;
             mov.u32 %r5, %tid.x;
             setp.eq.u32 %p1, %r5, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
             fence.mbarrier_init.release.cluster;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // Another object.
            "# .reqntid 32
             mov.u32 %r5, %tid.x;
             setp.eq.u32 %p1, %r5, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
             bar.sync 0;
             mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];
             W:
             mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;",
        ],
    }]);
}

#[test]
fn flags_polled_without_acquire() {
    rules(&[Rule {
        code: 661,
        wrong: &[
            "ld.param.u64 %d1, [a];
             W:
             ld.relaxed.gpu.global.u32 %r1, [%d1];
             setp.eq.u32 %p1, %r1, 0;
             @%p1 bra W;
             ld.global.u32 %r2, [%d1+16]; // warning: PTX0661",
            // A loop of several blocks that sleeps in between, and what nvcc makes of `volatile`.
            "ld.param.u64 %d1, [any];
             cvta.to.global.u64 %d2, %d1;
             W:
             ld.volatile.global.u32 %r1, [%d2];
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra DONE;
             nanosleep.u32 100;
             bra W;
             DONE:
             mov.u32 %r3, %tid.x;
             mad.wide.u32 %d3, %r3, 4, %d2;
             ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d3+128]; // warning: PTX0661",
            // A lock that is taken by a relaxed exchange.
            "W:
             atom.global.cas.b32 %r1, [flag], 0, 1;
             setp.ne.s32 %p1, %r1, 0;
             @%p1 bra W;
             ld.global.u32 %r2, [g]; // warning: PTX0661
             add.u32 %r2, %r2, 1;
             st.global.u32 [g], %r2;
             membar.gl;
             atom.global.exch.b32 %r3, [flag], 0;",
            // A counter that is polled by adding nothing.
            "ld.param.u32 %r4, [n];
             W:
             atom.global.add.u32 %r1, [flag], 0;
             setp.lt.u32 %p1, %r1, %r4;
             @%p1 bra W;
             ld.global.u32 %r2, [g+8]; // warning: PTX0661",
            // An mbarrier whose wait is relaxed.
            "mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
             bar.sync 0;
             mov.u32 %r3, sh;
             mad.lo.u32 %r4, %r1, 4, %r3;
             st.shared.u32 [%r4], %r1;
             mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];
             W:
             mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             ld.shared.u32 %r2, [sh+64]; // warning: PTX0661",
        ],
        right: &[
            // A maximum by compare-and-swap: the loop ends when its own update succeeds.
            "ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             ld.global.f32 %f1, [%d2];
             ld.volatile.global.b32 %r2, [%d1];
             L: mov.b32 %f2, %r2;
             setp.le.f32 %p1, %f1, %f2;
             @%p1 bra DONE;
             mov.b32 %r3, %f1;
             atom.relaxed.sys.global.cas.b32 %r2, [%d1], %r2, %r3;
             bra L;
             DONE:
             ld.global.f32 %f3, [%d2];",
            "ld.param.u64 %d1, [a];
             W:
             ld.acquire.gpu.global.u32 %r1, [%d1];
             setp.eq.u32 %p1, %r1, 0;
             @%p1 bra W;
             ld.global.u32 %r2, [%d1+16];",
            "ld.param.u64 %d1, [a];
             W:
             ld.relaxed.gpu.global.u32 %r1, [%d1];
             setp.eq.u32 %p1, %r1, 0;
             @%p1 bra W;
             fence.acq_rel.gpu;
             ld.global.u32 %r2, [%d1+16];",
            // One thread polls, a barrier lets the others go on behind its fence.
            "mov.u32 %r9, %tid.x;
             setp.ne.u32 %p3, %r9, 0;
             @%p3 bra ALL;
             ld.param.u64 %d1, [a];
             W:
             ld.volatile.global.u32 %r1, [%d1];
             setp.eq.u32 %p1, %r1, 0;
             @%p1 bra W;
             membar.gl;
             ALL:
             bar.sync 0;
             ld.global.u32 %r2, [g];",
            // Not a loop that waits: it sums what it reads.
            "ld.param.u64 %d1, [a];
             mov.u32 %r2, 0;
             mov.u32 %r3, 0;
             L:
             ld.volatile.global.u32 %r1, [%d1];
             add.u32 %r2, %r2, %r1;
             add.u64 %d1, %d1, 4;
             add.u32 %r3, %r3, 1;
             setp.lt.u32 %p1, %r3, 8;
             @%p1 bra L;
             ld.global.u32 %r4, [g];
             add.u32 %r4, %r4, %r2;
             st.global.u32 [g], %r4;",
            // A compare-and-swap loop that changes a number, and nothing behind it depends on others.
            "ld.param.u64 %d1, [a];
             ld.global.u32 %r1, [%d1];
             L:
             mov.u32 %r2, %r1;
             add.u32 %r3, %r2, 1;
             atom.acquire.gpu.global.cas.b32 %r1, [%d1], %r2, %r3;
             setp.ne.u32 %p1, %r1, %r2;
             @%p1 bra L;",
            // A lock as it should be.
            "W:
             atom.acquire.gpu.global.cas.b32 %r1, [flag], 0, 1;
             setp.ne.s32 %p1, %r1, 0;
             @%p1 bra W;
             ld.global.u32 %r2, [g];
             add.u32 %r2, %r2, 1;
             st.global.u32 [g], %r2;
             atom.release.gpu.global.exch.b32 %r3, [flag], 0;",
            "mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
             bar.sync 0;
             st.shared.u32 [sh], %r1;
             mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];
             W:
             mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             fence.acquire.cluster;
             ld.shared.u32 %r2, [sh];",
        ],
    }]);
}

#[test]
fn one_side_of_a_synchronisation() {
    rules(&[Rule {
        code: 671,
        wrong: &[
            // The producer stores the flag as it stores data.
            "ld.param.u64 %d1, [a];
             mov.u32 %r1, %ctaid.x;
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra CONSUMER;
             st.global.u32 [%d1+64], 7;
             st.relaxed.gpu.global.u32 [%d1], 1;
             ret;
             CONSUMER:
             ld.acquire.gpu.global.u32 %r2, [%d1]; // warning: PTX0671
             setp.eq.u32 %p2, %r2, 0;
             @%p2 bra CONSUMER;
             ld.global.u32 %r3, [%d1+64];",
            // The consumer only looks once in a while.
            "mov.u32 %r1, %ctaid.x;
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra CONSUMER;
             st.global.u32 [g], 7;
             st.release.gpu.global.u32 [flag], 1; // warning: PTX0671
             ret;
             CONSUMER:
             ld.relaxed.gpu.global.u32 %r2, [flag];
             setp.eq.u32 %p2, %r2, 0;
             @%p2 bra NOTHING;
             ld.global.u32 %r3, [g];
             st.global.u32 [g+4], %r3;
             NOTHING:",
            // A lock that is taken rightly and given back too early.
            "W:
             atom.acquire.gpu.global.cas.b32 %r1, [flag], 0, 1; // warning: PTX0671
             setp.ne.s32 %p1, %r1, 0;
             @%p1 bra W;
             ld.global.u32 %r2, [g];
             add.u32 %r2, %r2, 1;
             st.global.u32 [g], %r2;
             atom.global.exch.b32 %r3, [flag], 0;",
        ],
        right: &[
            "ld.param.u64 %d1, [a];
             mov.u32 %r1, %ctaid.x;
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra CONSUMER;
             st.global.u32 [%d1+64], 7;
             st.release.gpu.global.u32 [%d1], 1;
             ret;
             CONSUMER:
             ld.acquire.gpu.global.u32 %r2, [%d1];
             setp.eq.u32 %p2, %r2, 0;
             @%p2 bra CONSUMER;
             ld.global.u32 %r3, [%d1+64];",
            // The other side is in another kernel, or on the host.
            "ld.param.u64 %d1, [a];
             st.global.u32 [%d1+64], 7;
             st.release.sys.global.u32 [%d1], 1;",
            "ld.param.u64 %d1, [a];
             W:
             ld.acquire.gpu.global.u32 %r2, [%d1];
             setp.eq.u32 %p2, %r2, 0;
             @%p2 bra W;
             ld.global.u32 %r3, [%d1+64];
             st.global.u32 [%d1], 0;",
            // Patterns with fences.
            "ld.param.u64 %d1, [a];
             mov.u32 %r1, %ctaid.x;
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra CONSUMER;
             st.global.u32 [%d1+64], 7;
             fence.acq_rel.gpu;
             st.relaxed.gpu.global.u32 [%d1], 1;
             ret;
             CONSUMER:
             ld.acquire.gpu.global.u32 %r2, [%d1];
             setp.eq.u32 %p2, %r2, 0;
             @%p2 bra CONSUMER;
             ld.global.u32 %r3, [%d1+64];",
            // Flags and data in one buffer, the releases in another kernel.
            "ld.param.u64 %d1, [a];
             ld.param.u32 %r9, [n];
             mad.wide.u32 %d2, %r9, 4, %d1;
             W:
             ld.acquire.gpu.global.u32 %r2, [%d2];
             setp.eq.u32 %p2, %r2, 0;
             @%p2 bra W;
             mov.u32 %r3, %tid.x;
             mad.wide.u32 %d3, %r3, 4, %d1;
             st.global.u32 [%d3+4096], %r2;
             red.global.add.u32 [%d1], 1;",
            // A counter that releases and acquires.
            "atom.acq_rel.gpu.global.add.u32 %r1, [flag], 1;
             setp.ne.u32 %p1, %r1, 15;
             @%p1 ret;
             ld.global.u32 %r2, [g];
             st.global.u32 [flag], 0;",
            "W:
             atom.acquire.gpu.global.cas.b32 %r1, [flag], 0, 1;
             setp.ne.s32 %p1, %r1, 0;
             @%p1 bra W;
             ld.global.u32 %r2, [g];
             st.global.u32 [g], %r2;
             st.release.gpu.global.u32 [flag], 0;",
        ],
    }]);
}

#[test]
fn one_flag_two_scopes() {
    rules(&[
        Rule {
            code: 672,
            wrong: &[
                // Both sides for the CTA, and they are in different ones.
                "mov.u32 %r1, %ctaid.x;
                 setp.ne.u32 %p1, %r1, 0;
                 @%p1 bra CONSUMER;
                 st.global.u32 [g], 7;
                 st.release.cta.global.u32 [flag], 1; // error: PTX0672
                 ret;
                 CONSUMER:
                 ld.acquire.cta.global.u32 %r2, [flag];
                 setp.eq.u32 %p2, %r2, 0;
                 @%p2 bra CONSUMER;
                 ld.global.u32 %r3, [g];",
                // One is, by arithmetic on the number of the CTA and a predicate.
                "ld.param.u64 %d1, [a];
                 mov.u32 %r1, %ctaid.x;
                 and.b32 %r2, %r1, 1;
                 setp.eq.u32 %p1, %r2, 0;
                 @%p1 st.release.cta.global.u32 [%d1], 1; // error: PTX0672
                 @%p1 ret;
                 W:
                 ld.acquire.gpu.global.u32 %r3, [%d1];
                 setp.eq.u32 %p2, %r3, 0;
                 @%p2 bra W;",
                // Who is where is not known.
                "mov.u32 %r1, %tid.x;
                 setp.ne.u32 %p1, %r1, 0;
                 @%p1 bra CONSUMER;
                 red.release.gpu.global.add.u32 [flag], 1;
                 ret;
                 CONSUMER:
                 ld.acquire.cta.global.u32 %r2, [flag]; // warning: PTX0672
                 setp.eq.u32 %p2, %r2, 0;
                 @%p2 bra CONSUMER;",
                // Fences.
                "ld.param.u64 %d1, [a];
                 mov.u32 %r1, %ctaid.x;
                 setp.ne.u32 %p1, %r1, 0;
                 @%p1 bra CONSUMER;
                 st.global.u32 [%d1+64], 7;
                 membar.cta; // warning: PTX0672
                 st.relaxed.gpu.global.u32 [%d1], 1;
                 ret;
                 CONSUMER:
                 ld.relaxed.gpu.global.u32 %r2, [%d1];
                 setp.eq.u32 %p2, %r2, 0;
                 @%p2 bra CONSUMER;
                 membar.cta;
                 ld.global.u32 %r3, [%d1+64];",
            ],
            right: &[
                "mov.u32 %r1, %ctaid.x;
                 setp.ne.u32 %p1, %r1, 0;
                 @%p1 bra CONSUMER;
                 st.global.u32 [g], 7;
                 st.release.gpu.global.u32 [flag], 1;
                 ret;
                 CONSUMER:
                 ld.acquire.gpu.global.u32 %r2, [flag];
                 setp.eq.u32 %p2, %r2, 0;
                 @%p2 bra CONSUMER;
                 ld.global.u32 %r3, [g];",
                // A flag of the CTA in global memory.
                "mov.u32 %r1, %tid.x;
                 mov.u32 %r4, %ctaid.x;
                 ld.param.u64 %d1, [a];
                 mad.wide.u32 %d2, %r4, 4, %d1;
                 setp.ne.u32 %p1, %r1, 0;
                 @%p1 bra CONSUMER;
                 st.release.cta.global.u32 [%d2], 1;
                 ret;
                 CONSUMER:
                 ld.acquire.cta.global.u32 %r2, [%d2];
                 setp.eq.u32 %p2, %r2, 0;
                 @%p2 bra CONSUMER;",
                // `.gpu` and `.sys` hold each other's threads of one device.
                "mov.u32 %r1, %ctaid.x;
                 setp.ne.u32 %p1, %r1, 0;
                 @%p1 bra CONSUMER;
                 st.release.sys.global.u32 [flag], 1;
                 ret;
                 CONSUMER:
                 ld.acquire.gpu.global.u32 %r2, [flag];
                 setp.eq.u32 %p2, %r2, 0;
                 @%p2 bra CONSUMER;",
                // A histogram behind a fence for shared memory.
                "mov.u32 %r1, %tid.x;
                 st.shared.u32 [word], %r1;
                 membar.cta;
                 ld.param.u64 %d1, [a];
                 mad.wide.u32 %d2, %r1, 4, %d1;
                 red.global.add.u32 [%d2], 1;",
            ],
        },
        Rule {
            code: 673,
            wrong: &[
                "red.relaxed.cta.global.add.u32 [flag], 1; // warning: PTX0673",
                "ld.param.u64 %d1, [a];
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 mov.u32 %r3, 0;
                 L:
                 @%p1 atom.relaxed.cta.global.inc.u32 %r2, [%d1+8], 255; // warning: PTX0673
                 add.u32 %r3, %r3, 1;
                 setp.lt.u32 %p2, %r3, 8;
                 @%p2 bra L;",
            ],
            right: &[
                "red.global.add.u32 [flag], 1;
                 atom.relaxed.gpu.global.add.u32 %r1, [flag], 1;",
                // A place of each CTA, shared memory, one CTA alone.
                "mov.u32 %r1, %ctaid.x;
                 ld.param.u64 %d1, [a];
                 mad.wide.u32 %d2, %r1, 4, %d1;
                 red.relaxed.cta.global.add.u32 [%d2], 1;
                 red.relaxed.cta.shared.add.u32 [word], 1;",
                "mov.u32 %r1, %ctaid.x;
                 setp.ne.u32 %p1, %r1, 0;
                 @%p1 bra N;
                 red.relaxed.cta.global.add.u32 [flag], 1;
                 N:",
            ],
        },
    ]);
}
