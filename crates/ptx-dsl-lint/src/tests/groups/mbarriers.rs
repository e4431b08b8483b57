//! The bytes that an mbarrier expects, and its first parity: PTX0643, PTX0644, PTX0669.

use super::{Rule, rules};

#[test]
fn bytes_and_parities() {
    rules(&[
        Rule {
            code: 643,
            wrong: &[
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 bar.sync 0;
                 ld.param.u64 %d1, [a];
                 @!%p1 bra W;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024; // error: PTX0643
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 512, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
                // Two copies, and the bytes of one; other instructions and a branch in between.
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 mov.u32 %r5, bar;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
                 bar.sync 0;
                 ld.param.u64 %d1, [a];
                 ld.param.u32 %r2, [n];
                 setp.eq.u32 %p3, %r2, 0;
                 @!%p1 bra W;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512; // error: PTX0643
                 @%p3 bra K;
                 add.u64 %d1, %d1, 4096;
                 K:
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 512, [%r5];
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [other], [%d1], 512, [%r5];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
                // In each round of a loop.
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 ld.param.u64 %d1, [a];
                 mov.u32 %r2, 0;
                 mov.u32 %r9, 0;
                 L:
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256; // error: PTX0643
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 128, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], %r9;
                 @!%p2 bra W;
                 xor.b32 %r9, %r9, 1;
                 add.u32 %r2, %r2, 1;
                 setp.lt.u32 %p3, %r2, 8;
                 @%p3 bra L;",
                // A stage of a ring, whichever it is.
                "# .reqntid 160
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bars], 1;
                 @%p1 mbarrier.init.shared::cta.b64 [bars+8], 1;
                 @%p1 mbarrier.init.shared::cta.b64 [bars+16], 128;
                 @%p1 mbarrier.init.shared::cta.b64 [bars+24], 128;
                 bar.sync 0;
                 ld.param.u64 %d1, [a];
                 ld.param.u32 %r20, [n];
                 mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r10, sh; mov.u32 %r11, bars;
                 setp.lt.u32 %p2, %r1, 128;
                 @%p2 bra CONSUMER;
                 setp.ne.u32 %p3, %r1, 128;
                 @%p3 bra DONE;
                 PRODUCER:
                 shl.b32 %r5, %r3, 3;
                 add.u32 %r7, %r11, %r5;
                 xor.b32 %r8, %r4, 1;
                 E:
                 mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r7+16], %r8;
                 @!%p7 bra E;
                 shl.b32 %r9, %r3, 9;
                 add.u32 %r13, %r10, %r9;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 256; // error: PTX0643
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%d1], 256, [%r7];
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13+256], [%d1], 256, [%r7];
                 add.u32 %r2, %r2, 1; xor.b32 %r3, %r3, 1; setp.eq.u32 %p4, %r3, 0; @%p4 xor.b32 %r4, %r4, 1;
                 setp.lt.u32 %p5, %r2, %r20;
                 @%p5 bra PRODUCER;
                 bra DONE;
                 CONSUMER:
                 shl.b32 %r5, %r3, 3;
                 add.u32 %r6, %r11, %r5;
                 F:
                 mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r6], %r4;
                 @!%p7 bra F;
                 shl.b32 %r9, %r3, 9;
                 add.u32 %r13, %r10, %r9;
                 ld.shared.u32 %r16, [%r13];
                 mbarrier.arrive.shared::cta.b64 _, [%r6+16];
                 add.u32 %r2, %r2, 1; xor.b32 %r3, %r3, 1; setp.eq.u32 %p4, %r3, 0; @%p4 xor.b32 %r4, %r4, 1;
                 setp.lt.u32 %p5, %r2, %r20;
                 @%p5 bra CONSUMER;
                 DONE:",
                // A response has 16 bytes.
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 8; // error: PTX0643
                 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
            ],
            right: &[
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 bar.sync 0;
                 ld.param.u64 %d1, [a];
                 @!%p1 bra W;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 512, [bar];
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [other], [%d1], 512, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
                // A stage of a ring, whichever it is.
                "# .reqntid 160
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bars], 1;
                 @%p1 mbarrier.init.shared::cta.b64 [bars+8], 1;
                 @%p1 mbarrier.init.shared::cta.b64 [bars+16], 128;
                 @%p1 mbarrier.init.shared::cta.b64 [bars+24], 128;
                 bar.sync 0;
                 ld.param.u64 %d1, [a];
                 ld.param.u32 %r20, [n];
                 mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r10, sh; mov.u32 %r11, bars;
                 setp.lt.u32 %p2, %r1, 128;
                 @%p2 bra CONSUMER;
                 setp.ne.u32 %p3, %r1, 128;
                 @%p3 bra DONE;
                 PRODUCER:
                 shl.b32 %r5, %r3, 3;
                 add.u32 %r7, %r11, %r5;
                 xor.b32 %r8, %r4, 1;
                 E:
                 mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r7+16], %r8;
                 @!%p7 bra E;
                 shl.b32 %r9, %r3, 9;
                 add.u32 %r13, %r10, %r9;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r7], 512;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%d1], 256, [%r7];
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13+256], [%d1], 256, [%r7];
                 add.u32 %r2, %r2, 1; xor.b32 %r3, %r3, 1; setp.eq.u32 %p4, %r3, 0; @%p4 xor.b32 %r4, %r4, 1;
                 setp.lt.u32 %p5, %r2, %r20;
                 @%p5 bra PRODUCER;
                 bra DONE;
                 CONSUMER:
                 shl.b32 %r5, %r3, 3;
                 add.u32 %r6, %r11, %r5;
                 F:
                 mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r6], %r4;
                 @!%p7 bra F;
                 shl.b32 %r9, %r3, 9;
                 add.u32 %r13, %r10, %r9;
                 ld.shared.u32 %r16, [%r13];
                 mbarrier.arrive.shared::cta.b64 _, [%r6+16];
                 add.u32 %r2, %r2, 1; xor.b32 %r3, %r3, 1; setp.eq.u32 %p4, %r3, 0; @%p4 xor.b32 %r4, %r4, 1;
                 setp.lt.u32 %p5, %r2, %r20;
                 @%p5 bra CONSUMER;
                 DONE:",
                // Expected once for the copies of a loop.
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 ld.param.u64 %d1, [a];
                 mov.u32 %r2, 0;
                 mov.u32 %r3, sh;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
                 L:
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 128, [bar];
                 add.u32 %r3, %r3, 128;
                 add.u32 %r2, %r2, 1;
                 setp.lt.u32 %p3, %r2, 4;
                 @%p3 bra L;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
                // One of two copies by a condition, the bytes by the same.
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 ld.param.u64 %d1, [a];
                 ld.param.u32 %r2, [n];
                 setp.eq.u32 %p1, %r2, 0;
                 selp.u32 %r3, 128, 256, %p1;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r3;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 128, [bar];
                 @!%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [other], [%d1], 128, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 ld.param.u64 %d1, [a];
                 ld.param.u32 %r2, [n];
                 setp.eq.u32 %p1, %r2, 0;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
                 @%p1 bra SECOND;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 128, [bar];
                 bra W;
                 SECOND:
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [other], [%d1], 128, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
            ],
        },
        Rule {
            code: 644,
            wrong: &[
                // The consumers are others than the one who copies.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 bar.sync 0;
                 setp.ge.u32 %p4, %r1, 32;
                 @%p4 bra W;
                 ld.param.u64 %d1, [a];
                 @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
                 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar];
                 bra END;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1; // error: PTX0644
                 @!%p2 bra W;
                 ld.shared.u32 %r2, [sh];
                 END:",
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1; // error: PTX0644
                 @!%p2 bra W;",
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 bar.sync 0;
                 ld.param.u64 %d1, [a];
                 @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
                 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1; // error: PTX0644
                 @!%p2 bra W;",
            ],
            right: &[
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 V:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1;
                 @!%p2 bra V;",
                // The phase before the first.
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
                 bar.sync 0;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1;
                 @!%p2 bra W;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 V:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra V;",
            ],
        },
    ]);
}

#[test]
fn between_ctas() {
    rules(&[
        Rule {
            code: 669,
            wrong: &[
                // The leader alone expects what goes to both.
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u32 %r1, %tid.x;
                 mov.u32 %r2, %cluster_ctarank;
                 setp.eq.u32 %p1, %r1, 0;
                 setp.ne.u32 %p3, %r2, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.param.u64 %d1, [a];
                 mov.u32 %r3, sh;
                 mov.u32 %r4, bar;
                 @%p3 bra WAIT;
                 @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 64; // error: PTX0669
                 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%d1], 64, [%r4], 3;
                 WAIT:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra WAIT;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                // As nvcc writes it: one thread of one CTA by a single comparison, constants and answers in registers.
                "# .reqnctapercluster 2, 1, 1
                 mov.u32 %r1, %tid.x;
                 mov.u32 %r2, bar;
                 setp.ne.s32 %p1, %r1, 0;
                 @%p1 bra A;
                 mov.u32 %r3, 1;
                 mbarrier.init.shared.b64 [%r2], %r3;
                 fence.mbarrier_init.release.cluster;
                 A:
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 mov.u32 %r4, %cluster_ctarank;
                 or.b32 %r5, %r4, %r1;
                 setp.ne.s32 %p2, %r5, 0;
                 @%p2 bra B;
                 mov.u32 %r9, 64;
                 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %d4, [%r2], %r9; // error: PTX0669
                 ld.param.u64 %d5, [any];
                 mov.u32 %r8, sh;
                 mov.u16 %h1, 3;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r8], [%d5], %r9, [%r2], %h1;
                 B:
                 mov.u32 %r13, 0;
                 mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r2], %r13;
                 selp.b32 %r11, 1, 0, %p5;
                 setp.eq.s32 %p3, %r11, 0;
                 @%p3 bra B;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                // By the number of the CTA, predicated, with a mask that is computed.
                "# .reqntid 1 .reqnctapercluster 4
                 mov.u32 %r2, %cluster_ctaid.x;
                 setp.eq.u32 %p1, %r2, 0;
                 ld.param.u32 %r5, [n];
                 cvt.u16.u32 %h1, %r5;
                 mbarrier.init.shared::cta.b64 [bars+8], 1;
                 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.param.u64 %d1, [a];
                 @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars+8], 64; // warning: PTX0669
                 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sh], [%d1], 64, [bars+8], %h1;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bars+8], 0;
                 @!%p2 bra W;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
            ],
            right: &[
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u32 %r1, %tid.x;
                 mov.u32 %r2, %cluster_ctarank;
                 setp.eq.u32 %p1, %r1, 0;
                 setp.ne.u32 %p3, %r2, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.param.u64 %d1, [a];
                 mov.u32 %r3, sh;
                 mov.u32 %r4, bar;
                 @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 64;
                 @%p3 bra WAIT;
                 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%d1], 64, [%r4], 3;
                 WAIT:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra WAIT;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                // The others do not wait, or the leader expects for them.
                "# .reqntid 1 .reqnctapercluster 2
                 mov.u32 %r2, %cluster_ctarank;
                 setp.ne.u32 %p3, %r2, 0;
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.param.u64 %d1, [a];
                 mov.u32 %r4, bar;
                 mapa.shared::cluster.u32 %r5, %r4, 1;
                 @%p3 bra WAIT;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 64;
                 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r5], 64;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sh], [%d1], 64, [%r4], 3;
                 WAIT:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra WAIT;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                // To itself only.
                "# .reqntid 1 .reqnctapercluster 2
                 mov.u32 %r2, %cluster_ctarank;
                 setp.ne.u32 %p3, %r2, 0;
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 ld.param.u64 %d1, [a];
                 @%p3 bra END;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
                 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sh], [%d1], 64, [bar], 1;
                 WAIT:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra WAIT;
                 END:
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
            ],
        },
    ]);
}
