//! The life of an mbarrier and the bytes it expects: PTX0613, PTX0614, PTX0616 to PTX0619, PTX0643, PTX0644, PTX0669, PTX0671,
//! PTX0674.

use super::{Rule, rules};

#[test]
fn who_initialises_and_when() {
    rules(&[
        Rule {
            code: 613,
            wrong: &[
                "# .reqntid 1
                 mov.u32 %r1, bar;
                 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16; // error: PTX0613
                 mbarrier.init.shared::cta.b64 [%r1], 1;",
                // In a branch; the other has it right.
                "# .reqntid 1
                 ld.param.u32 %r1, [n];
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 bra LATE;
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 bra END;
                 LATE:
                 mbarrier.arrive.shared::cta.b64 _, [bar]; // error: PTX0613
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 END:",
                // Another one of the array.
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bars], 1;
                 mbarrier.arrive.shared::cta.b64 _, [bars+8]; // error: PTX0613
                 mbarrier.init.shared::cta.b64 [bars+8], 1;",
                // Nobody does.
                "# .reqntid 32
                 mbarrier.arrive.shared::cta.b64 _, [bar]; // warning: PTX0613
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
                 @!%p1 bra W;",
            ],
            right: &[
                "# .reqntid 1
                 mov.u32 %r1, bars;
                 mov.u32 %r2, 0;
                 L:
                 mbarrier.init.shared::cta.b64 [%r1], 1;
                 add.u32 %r1, %r1, 8;
                 add.u32 %r2, %r2, 1;
                 setp.lt.u32 %p1, %r2, 4;
                 @%p1 bra L;
                 mbarrier.arrive.shared::cta.b64 _, [bars+8];",
                // Another warp does it, and all meet.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.ge.u32 %p1, %r1, 32;
                 @%p1 bra USE;
                 elect.sync _|%p2, -1;
                 @%p2 mbarrier.init.shared::cta.b64 [bar], 32;
                 bar.sync 0;
                 bra END;
                 USE:
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 END:",
            ],
        },
        Rule {
            code: 614,
            wrong: &[
                "# .reqntid 64
                 mbarrier.init.shared::cta.b64 [bar], 64; // warning: PTX0614
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar];",
                "# .reqntid 64
                 elect.sync _|%p1, -1;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64; // warning: PTX0614
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar];",
            ],
            right: &[
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.ne.u32 %p1, %r1, 32;
                 @%p1 bra N;
                 mbarrier.init.shared::cta.b64 [bar], 64;
                 N:
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar];",
                "# .reqntid 32
                 elect.sync _|%p1, -1;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar];",
                // Each lane its own object.
                "# .reqntid 4
                 mov.u32 %r1, %tid.x;
                 mov.u32 %r2, bars;
                 mad.lo.u32 %r3, %r1, 8, %r2;
                 mbarrier.init.shared::cta.b64 [%r3], 1;
                 mbarrier.arrive.shared::cta.b64 _, [%r3];",
            ],
        },
        Rule {
            code: 616,
            wrong: &[
                "# .reqntid 128
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
                 mbarrier.arrive.shared::cta.b64 %d1, [bar]; // error: PTX0616
                 W:
                 mbarrier.test_wait.shared::cta.b64 %p2, [bar], %d1;
                 @!%p2 bra W;",
                // A fence is no meeting.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.ne.u32 %p1, %r1, 0;
                 @%p1 bra GO;
                 mbarrier.init.shared::cta.b64 [bars+16], 64;
                 fence.mbarrier_init.release.cluster;
                 GO:
                 mov.u32 %r2, bars;
                 mbarrier.arrive.shared::cta.b64 _, [%r2+16]; // error: PTX0616
                 bar.sync 0;",
            ],
            right: &[
                "# .reqntid 128
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 mbarrier.arrive.shared::cta.b64 %d1, [bar];
                 W:
                 mbarrier.test_wait.shared::cta.b64 %p2, [bar], %d1;
                 @!%p2 bra W;",
                // The thread that initialises is the one that uses it.
                "# .reqntid 128
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @!%p1 bra N;
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;
                 N:",
                // One warp, by its own barrier.
                "# .reqntid 32
                 elect.sync _|%p1, -1;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
                 bar.warp.sync -1;
                 mbarrier.arrive.shared::cta.b64 _, [bar];",
            ],
        },
    ]);
}

#[test]
fn the_life_of_an_object() {
    rules(&[
        Rule {
            code: 617,
            wrong: &[
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 mbarrier.init.shared::cta.b64 [bar], 2; // error: PTX0617",
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 mov.u32 %r2, bars;
                 setp.ne.u32 %p1, %r1, 0;
                 @%p1 bra N;
                 mbarrier.init.shared::cta.b64 [%r2], 64;
                 mbarrier.init.shared::cta.b64 [%r2+8], 64;
                 mbarrier.init.shared::cta.b64 [bars+8], 64; // error: PTX0617
                 N:
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bars];",
            ],
            right: &[
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 mbarrier.inval.shared::cta.b64 [bar];
                 mbarrier.init.shared::cta.b64 [bar], 2;",
                // In two branches.
                "# .reqntid 1
                 ld.param.u32 %r1, [n];
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 bra A;
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 bra B;
                 A:
                 mbarrier.init.shared::cta.b64 [bar], 2;
                 B:
                 mbarrier.arrive.shared::cta.b64 _, [bar];",
            ],
        },
        Rule {
            code: 618,
            wrong: &[
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 st.shared.u64 [bar], 0; // error: PTX0618",
                "# .reqntid 1
                 mov.u32 %r1, bars;
                 mbarrier.init.shared::cta.b64 [%r1+8], 1;
                 add.u32 %r2, %r1, 12;
                 atom.shared.add.u32 %r3, [%r2], 1; // error: PTX0618",
                // Read as data.
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 ld.shared.u64 %d1, [bar]; // error: PTX0618",
            ],
            right: &[
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 mbarrier.inval.shared::cta.b64 [bar];
                 st.shared.u64 [bar], 0;
                 ld.shared.u64 %d1, [bar];",
                "# .reqntid 1
                 mov.u32 %r1, bars;
                 mbarrier.init.shared::cta.b64 [%r1+8], 1;
                 st.shared.u64 [%r1], 1;
                 st.shared.u64 [%r1+16], 1;",
            ],
        },
        Rule {
            code: 674,
            wrong: &[
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 mbarrier.inval.shared::cta.b64 [bar];
                 mbarrier.arrive.shared::cta.b64 _, [bar]; // error: PTX0674",
                "# .reqntid 1
                 mov.u32 %r1, bars;
                 mbarrier.init.shared::cta.b64 [%r1], 1;
                 mbarrier.arrive.shared::cta.b64 %d1, [%r1];
                 mbarrier.inval.shared::cta.b64 [bars];
                 W:
                 mbarrier.test_wait.shared::cta.b64 %p1, [%r1], %d1; // error: PTX0674
                 @!%p1 bra W;",
            ],
            right: &[
                "# .reqntid 1
                 mov.u32 %r2, 0;
                 L:
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.shared::cta.b64 %d1, [bar];
                 W:
                 mbarrier.test_wait.shared::cta.b64 %p1, [bar], %d1;
                 @!%p1 bra W;
                 mbarrier.inval.shared::cta.b64 [bar];
                 add.u32 %r2, %r2, 1;
                 setp.lt.u32 %p2, %r2, 4;
                 @%p2 bra L;",
                // Made again by another thread.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 setp.eq.u32 %p2, %r1, 1;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 %d1, [bar];
                 W:
                 mbarrier.test_wait.shared::cta.b64 %p3, [bar], %d1;
                 @!%p3 bra W;
                 bar.sync 0;
                 @%p1 mbarrier.inval.shared::cta.b64 [bar];
                 bar.sync 0;
                 @%p2 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar];",
            ],
        },
        Rule {
            code: 619,
            wrong: &[
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u32 %r1, bar;
                 mapa.shared::cluster.u32 %r2, %r1, 1;
                 mov.u32 %r3, %tid.x;
                 setp.eq.u32 %p1, %r3, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 barrier.cluster.arrive.relaxed; // error: PTX0619
                 barrier.cluster.wait.acquire;
                 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                // Another thread fences.
                "# .reqntid 64 .reqnctapercluster 2
                 cvta.shared.u64 %d1, bar;
                 mapa.u64 %d2, %d1, 1;
                 mov.u32 %r3, %tid.x;
                 setp.eq.u32 %p1, %r3, 0;
                 setp.eq.u32 %p2, %r3, 32;
                 @%p1 mbarrier.init.b64 [%d1], 128;
                 @%p2 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive.relaxed; // error: PTX0619
                 barrier.cluster.wait.acquire;
                 mbarrier.arrive.release.cluster.b64 _, [%d2];
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
            ],
            right: &[
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u32 %r1, bar;
                 mapa.shared::cluster.u32 %r2, %r1, 1;
                 mov.u32 %r3, %tid.x;
                 setp.eq.u32 %p1, %r3, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 @%p1 fence.mbarrier_init.release.cluster;
                 barrier.cluster.arrive.relaxed;
                 barrier.cluster.wait.acquire;
                 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
                "# .reqntid 32 .reqnctapercluster 2
                 mov.u32 %r1, bar;
                 mapa.shared::cluster.u32 %r2, %r1, 1;
                 mov.u32 %r3, %tid.x;
                 setp.eq.u32 %p1, %r3, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 barrier.cluster.arrive.release;
                 barrier.cluster.wait.acquire;
                 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
            ],
        },
    ]);
}

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
        Rule {
            code: 671,
            wrong: &[
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 mov.u32 %r3, sh;
                 mad.lo.u32 %r4, %r1, 4, %r3;
                 st.shared.u32 [%r4], %r1;
                 mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar]; // warning: PTX0671
                 W:
                 mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;
                 ld.shared.u32 %r5, [sh+64];",
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 cvta.shared.u64 %d1, sh;
                 mov.u32 %r2, 0;
                 mov.u32 %r9, 0;
                 L:
                 st.u32 [%d1], %r2;
                 mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar]; // warning: PTX0671
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], %r9;
                 @!%p2 bra W;
                 xor.b32 %r9, %r9, 1;
                 add.u32 %r2, %r2, 1;
                 setp.lt.u32 %p3, %r2, 8;
                 @%p3 bra L;",
            ],
            right: &[
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 st.shared.u32 [sh], %r1;
                 fence.acq_rel.cta;
                 mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;
                 ld.shared.u32 %r5, [sh];",
                // Nothing was stored that it would tell of.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 ld.shared.u32 %r5, [sh];
                 mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
            ],
        },
    ]);
}
