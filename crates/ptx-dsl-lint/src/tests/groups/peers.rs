//! Addresses and mbarriers of other CTAs: every instruction with an address, and multicast.

use super::{Rule, rules};

#[test]
fn addresses_of_commit_and_alloc() {
    rules(&[
        Rule {
            code: 630,
            wrong: &[
                // The window's address of an mbarrier, where a generic one is asked for.
                "# .reqntid 1
                 mov.u64 %d1, bar;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d1]; // error: PTX0630",
                "# .reqntid 1
                 cvta.shared.u64 %d1, bar;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%d1]; // error: PTX0630",
                // An mbarrier in global memory.
                "# .reqntid 1
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [g]; // error: PTX0630",
                "# .reqntid 32
                 cvta.shared.u64 %d1, word;
                 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%d1], 32; // error: PTX0630
                 bar.sync 0;
                 ld.shared.u32 %r1, [word];
                 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
                "# .reqntid 32
                 ld.param.u64 %d2, [a];
                 cvta.to.global.u64 %d3, %d2;
                 tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d3], 32; // error: PTX0630
                 bar.sync 0;
                 ld.global.u32 %r1, [%d3];
                 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
                // The map of a tensor in shared memory, by its name.
                "# .reqntid 32
                 fence.proxy.tensormap::generic.acquire.gpu [sh], 128; // error: PTX0630",
            ],
            right: &[
                "# .reqntid 1
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];
                 cvta.shared.u64 %d1, bar;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%d1];
                 mov.u32 %r1, bars;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1+24];",
                "# .reqntid 32
                 cvta.shared.u64 %d1, word;
                 tcgen05.alloc.cta_group::1.sync.aligned.b32 [%d1], 32;
                 bar.sync 0;
                 ld.shared.u32 %r1, [word];
                 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
                // Where a tensor's map may lie, and hints that go nowhere.
                "# .reqntid 32
                 mov.b64 %d3, map;
                 cvta.param.u64 %d4, %d3;
                 fence.proxy.tensormap::generic.acquire.gpu [%d4], 128;
                 cvta.shared.u64 %d5, sh;
                 prefetch.L1 [%d5];
                 mov.u64 %d1, sh;
                 prefetch.L2 [%d1];",
            ],
        },
        Rule {
            code: 633,
            wrong: &[
                "# .reqntid 1
                 mov.u32 %r1, bars;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1+32]; // error: PTX0633",
                "# .reqntid 1
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar+8]; // error: PTX0633",
                "# .reqntid 32
                 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [word+4], 32; // error: PTX0633
                 ld.shared.u32 %r1, [word];
                 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
            ],
            right: &[
                "# .reqntid 1
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars+24];",
                "# .reqntid 32
                 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [sh+1020], 32;
                 ld.shared.u32 %r1, [sh+1020];
                 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
            ],
        },
        Rule {
            code: 634,
            wrong: &[
                "# .reqntid 1
                 mov.u32 %r1, bars;
                 add.u32 %r2, %r1, 4;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2]; // error: PTX0634",
                "# .reqntid 32
                 mov.u32 %r1, sh;
                 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1+2], 32; // error: PTX0634
                 ld.shared.u32 %r1, [sh];
                 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
            ],
            right: &[
                "# .reqntid 1
                 mov.u32 %r1, bars;
                 add.u32 %r2, %r1, 16;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2];",
                "# .reqntid 32
                 mov.u32 %r1, sh;
                 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1+4], 32;
                 ld.shared.u32 %r1, [sh+4];
                 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;",
            ],
        },
        Rule {
            code: 635,
            wrong: &[
                // The address of Tensor Memory goes to the own CTA.
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u32 %r1, word;
                 mapa.shared::cluster.u32 %r2, %r1, 1;
                 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 32; // error: PTX0635
                 ld.shared.u32 %r3, [word];
                 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;",
                // A state is for the owner of the mbarrier.
                "# .reqntid 1 .reqnctapercluster 2
                 cvta.shared.u64 %d1, bar;
                 mapa.u64 %d2, %d1, 1;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 mbarrier.arrive_drop.release.cluster.b64 %d3, [%d2]; // error: PTX0635
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                "# .reqntid 1 .reqnctapercluster 4
                 mov.u32 %r1, %cluster_ctarank;
                 xor.b32 %r1, %r1, 1;
                 cvta.shared.u64 %d1, bar;
                 mapa.u64 %d2, %d1, %r1;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 mbarrier.arrive.expect_tx.release.cluster.b64 %d3, [%d2], 64; // warning: PTX0635
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                // `cvta` of a cluster address by the form for the own CTA.
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u64 %d1, sh;
                 mapa.shared::cluster.u64 %d2, %d1, 1;
                 cvta.shared.u64 %d3, %d2; // warning: PTX0635
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.u32 %r1, [%d3];
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
            ],
            right: &[
                "# .reqntid 1 .reqnctapercluster 2
                 cvta.shared.u64 %d1, bar;
                 mapa.u64 %d2, %d1, 1;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 mbarrier.arrive_drop.release.cluster.b64 _, [%d2];
                 mbarrier.arrive.b64 %d4, [%d1];
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u64 %d1, sh;
                 mapa.shared::cluster.u64 %d2, %d1, 1;
                 cvta.shared::cluster.u64 %d3, %d2;
                 cvta.to.shared::cluster.u64 %d4, %d3;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.u32 %r1, [%d3];
                 ld.shared::cluster.u32 %r2, [%d4];
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                // What CUDA C++ has for the way back.
                "# .reqntid 32 .reqnctapercluster 2
                 cvta.shared.u64 %d1, sh;
                 mapa.u64 %d2, %d1, 1;
                 cvta.to.shared.u64 %d3, %d2;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.shared::cluster.u32 %r1, [%d3];
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                // The rank is the own one.
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u32 %r1, %cluster_ctarank;
                 cvta.shared.u64 %d1, bar;
                 mapa.u64 %d2, %d1, %r1;
                 cvta.to.shared.u64 %d3, %d2;
                 mbarrier.arrive.b64 %d4, [%d2];",
            ],
        },
    ]);
}

#[test]
fn multicast_reaches_other_ctas() {
    rules(&[
        Rule {
            code: 655,
            wrong: &[
                // The other CTA may not have started, let alone initialised.
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 @%p1 fence.mbarrier_init.release.cluster;
                 bar.sync 0;
                 ld.param.u64 %d1, [a];
                 @!%p1 bra W;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
                 mov.u32 %r2, %cluster_ctarank;
                 setp.ne.u32 %p2, %r2, 0;
                 @%p2 bra W;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sh], [%d1], 1024, [bar], 3; // error: PTX0655
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 2;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 3; // error: PTX0655
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
                 mov.u32 %r2, %cluster_ctarank;
                 setp.ne.u32 %p2, %r2, 0;
                 @!%p2 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [answer], [bar]; // error: PTX0655
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                // The mbarrier of another CTA, by its address.
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mov.u32 %r1, bar;
                 mapa.shared::cluster.u32 %r2, %r1, 0;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r2]; // error: PTX0655
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
            ],
            right: &[
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 @%p1 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.param.u64 %d1, [a];
                 @!%p1 bra W;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
                 mov.u32 %r2, %cluster_ctarank;
                 setp.ne.u32 %p2, %r2, 0;
                 @%p2 bra W;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sh], [%d1], 1024, [bar], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 2;
                 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive.relaxed;
                 barrier.cluster.wait;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
            ],
        },
        Rule {
            code: 619,
            wrong: &[
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 barrier.cluster.arrive.relaxed; // warning: PTX0619
                 barrier.cluster.wait;
                 ld.param.u64 %d1, [a];
                 @!%p1 bra W;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
                 mov.u32 %r2, %cluster_ctarank;
                 setp.ne.u32 %p2, %r2, 0;
                 @%p2 bra W;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sh], [%d1], 1024, [bar], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                // Initialised in a loop.
                "# .reqntid 64 .reqnctapercluster 2
                 mov.u32 %r9, %tid.x;
                 setp.ne.u32 %p5, %r9, 0;
                 @%p5 bra READY;
                 mov.u32 %r3, bars;
                 mov.u32 %r4, 0;
                 I:
                 mbarrier.init.shared::cta.b64 [%r3], 2;
                 add.u32 %r3, %r3, 8;
                 add.u32 %r4, %r4, 1;
                 setp.lt.u32 %p1, %r4, 4;
                 @%p1 bra I;
                 READY:
                 barrier.cluster.arrive.relaxed; // warning: PTX0619
                 barrier.cluster.wait;
                 @!%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bars], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bars], 0;
                 @!%p3 bra W;",
                // A stage of a ring.
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bars], 2;
                 mbarrier.init.shared::cta.b64 [bars+8], 2;
                 barrier.cluster.arrive.relaxed; // warning: PTX0619
                 barrier.cluster.wait;
                 mov.u32 %r1, bars;
                 mov.u32 %r2, 0;
                 L:
                 and.b32 %r3, %r2, 1;
                 shl.b32 %r4, %r3, 3;
                 add.u32 %r5, %r1, %r4;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r5], 3;
                 shr.u32 %r6, %r2, 1;
                 and.b32 %r6, %r6, 1;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], %r6;
                 @!%p3 bra W;
                 add.u32 %r2, %r2, 1;
                 setp.lt.u32 %p1, %r2, 8;
                 @%p1 bra L;",
            ],
            right: &[
                // The same loop, with the fence behind it by the thread that initialised.
                "# .reqntid 64 .reqnctapercluster 2
                 mov.u32 %r9, %tid.x;
                 setp.ne.u32 %p5, %r9, 0;
                 @%p5 bra READY;
                 mov.u32 %r3, bars;
                 mov.u32 %r4, 0;
                 I:
                 mbarrier.init.shared::cta.b64 [%r3], 2;
                 add.u32 %r3, %r3, 8;
                 add.u32 %r4, %r4, 1;
                 setp.lt.u32 %p1, %r4, 4;
                 @%p1 bra I;
                 fence.mbarrier_init.release.cluster;
                 READY:
                 barrier.cluster.arrive.relaxed;
                 barrier.cluster.wait;
                 @!%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bars], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bars], 0;
                 @!%p3 bra W;",
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 2;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 2;
                 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive.relaxed;
                 barrier.cluster.wait;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
            ],
        },
        Rule {
            code: 658,
            wrong: &[
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 2;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 3;
                 W:
                 mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [bar], 0; // warning: PTX0658
                 @!%p3 bra W;",
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.param.u64 %d1, [a];
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
                 mov.u32 %r2, %cluster_ctarank;
                 setp.ne.u32 %p2, %r2, 0;
                 @!%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sh], [%d1], 1024, [bar], 3;
                 W:
                 mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [bar], 0; // warning: PTX0658
                 @!%p3 bra W;",
            ],
            right: &[
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 2;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 3;
                 W:
                 mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                // What everybody writes.
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 2;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
            ],
        },
        Rule {
            code: 613,
            wrong: &[
                "# .reqntid 1 .reqnctapercluster 2
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.param.u64 %d1, [a];
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024; // error: PTX0613
                 mov.u32 %r2, %cluster_ctarank;
                 setp.ne.u32 %p2, %r2, 0;
                 @!%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sh], [%d1], 1024, [bar], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bars], 1;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 mov.u32 %r3, bars;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bars], 1;
                 mbarrier.arrive.shared::cta.b64 _, [%r3+8]; // error: PTX0613
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3+8], 0;
                 @!%p3 bra W;
                 V:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
                 @!%p3 bra V;",
            ],
            right: &[
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.param.u64 %d1, [a];
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
                 mov.u32 %r2, %cluster_ctarank;
                 setp.ne.u32 %p2, %r2, 0;
                 @!%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sh], [%d1], 1024, [bar], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                // In a loop, by an address that is computed.
                "# .reqntid 1 .reqnctapercluster 2
                 mov.u32 %r3, bars;
                 mov.u32 %r4, 0;
                 I:
                 mbarrier.init.shared::cta.b64 [%r3], 2;
                 add.u32 %r3, %r3, 8;
                 add.u32 %r4, %r4, 1;
                 setp.lt.u32 %p1, %r4, 4;
                 @%p1 bra I;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bars], 3;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bars], 0;
                 @!%p3 bra W;",
            ],
        },
    ]);
}

/// A ring of two stages in each CTA of a pair: the readers of both tell both producers. `{}` is the end of the producer, of the
/// consumer, and of the kernel.
fn pair(producer: &str, mark: &str, end: &str) -> String {
    super::module(&format!(
        "# .reqntid 64 .reqnctapercluster 2
         .shared .align 8 .b64 full[2]; .shared .align 8 .b64 empty[2]; .shared .align 128 .b8 tiles[2048];\n--
         mov.u32 %r1, %tid.x;
         mov.u32 %r11, full; mov.u32 %r12, empty; mov.u32 %r13, tiles;
         mov.u32 %r14, %cluster_ctarank; xor.b32 %r14, %r14, 1;
         mapa.shared::cluster.u32 %r15, %r12, %r14;
         ld.param.u64 %d1, [a]; ld.param.u32 %r20, [n];
         setp.ne.u32 %p1, %r1, 0;
         @%p1 bra READY;
         mbarrier.init.shared::cta.b64 [full], 1; mbarrier.init.shared::cta.b64 [full+8], 1;
         mbarrier.init.shared::cta.b64 [empty], 2; mbarrier.init.shared::cta.b64 [empty+8], 2;
         fence.mbarrier_init.release.cluster;
         READY:
         barrier.cluster.arrive;
         barrier.cluster.wait;
         mov.u32 %r2, 0; mov.u32 %r3, 0;
         setp.lt.u32 %p2, %r1, 32;
         @%p2 bra CONSUMER;
         elect.sync _|%p6, -1; @!%p6 bra DONE;
         mov.u32 %r4, 1;
         P:
         shl.b32 %r5, %r3, 3; add.u32 %r6, %r12, %r5; add.u32 %r7, %r11, %r5;
         shl.b32 %r8, %r3, 10; add.u32 %r9, %r13, %r8;
         PW: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r6], %r4;
         @!%p3 bra PW;
         mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 1024;
         cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%d1], 1024, [%r7];
         xor.b32 %r3, %r3, 1; setp.eq.u32 %p4, %r3, 0; @%p4 xor.b32 %r4, %r4, 1;
         add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r20;
         @%p5 bra P;
         {producer}
         bra DONE;
         CONSUMER:
         setp.eq.u32 %p7, %r1, 0;
         mov.u32 %r4, 0;
         C:
         shl.b32 %r5, %r3, 3; add.u32 %r6, %r11, %r5; add.u32 %r7, %r12, %r5; add.u32 %r16, %r15, %r5;
         CW: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r6], %r4;
         @!%p3 bra CW;
         shl.b32 %r8, %r3, 10; add.u32 %r9, %r13, %r8; ld.shared.u32 %r21, [%r9];
         bar.warp.sync -1;
         @%p7 mbarrier.arrive.shared::cta.b64 _, [%r7];
         @%p7 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r16]; {mark}
         xor.b32 %r3, %r3, 1; setp.eq.u32 %p4, %r3, 0; @%p4 xor.b32 %r4, %r4, 1;
         add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r20;
         @%p5 bra C;
         DONE:
         {end}"
    ))
}

#[test]
fn multicast_to_a_cta_that_has_left() {
    let kernel = |waits: &str, mark: &str, end: &str| {
        super::module(&format!(
            "# .reqntid 1 .reqnctapercluster 2
             mbarrier.init.shared::cta.b64 [bar], 1;
             fence.mbarrier_init.release.cluster;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             ld.param.u64 %d1, [a];
             mov.u32 %r2, %cluster_ctarank;
             setp.ne.u32 %p2, %r2, 0;
             @!%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sh], [%d1], 1024, [bar], 3; {mark}
             {waits}
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
             @!%p3 bra W;
             ld.shared.u32 %r3, [sh];
             DONE:
             {end}"
        ))
    };
    super::super::case(&kernel("@%p2 bra DONE;", "// warning: PTX0656", ""));
    super::super::case(&kernel("@%p2 bra DONE;", "", "barrier.cluster.arrive; barrier.cluster.wait;"));
    super::super::case(&kernel("", "", ""));
}

#[test]
fn arrivals_at_a_cta_that_has_left() {
    super::super::case(&pair("", "// warning: PTX0656", ""));
    super::super::case(&pair("", "", "barrier.cluster.arrive; barrier.cluster.wait;"));
    // The producer waits for its stages once more.
    let tail = "mov.u32 %r2, 0;
                T:
                shl.b32 %r5, %r3, 3; add.u32 %r6, %r12, %r5;
                TW: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r6], %r4;
                @!%p3 bra TW;
                xor.b32 %r3, %r3, 1; setp.eq.u32 %p4, %r3, 0; @%p4 xor.b32 %r4, %r4, 1;
                add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, 2;
                @%p5 bra T;";
    super::super::case(&pair(tail, "", ""));
}
