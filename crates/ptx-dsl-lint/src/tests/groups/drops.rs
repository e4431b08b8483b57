//! Threads that drop out of an mbarrier, and bytes that nobody expects: PTX0642, PTX0663, PTX0668, PTX0693.

use super::{Rule, rules};

#[test]
fn dropping_out_is_arriving() {
    rules(&[
        Rule {
            code: 642,
            wrong: &[
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
                 bar.sync 0;
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; // error: PTX0642
                 @!%p2 bra W;",
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 setp.lt.u32 %p3, %r1, 32;
                 @%p3 mbarrier.arrive.shared::cta.b64 _, [bar];
                 @%p1 mbarrier.arrive_drop.shared::cta.b64 _, [bar], 16;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; // error: PTX0642
                 @!%p2 bra W;",
            ],
            right: &[
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 setp.lt.u32 %p3, %r1, 32;
                 @%p3 mbarrier.arrive.shared::cta.b64 _, [bar];
                 @!%p3 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;
                 @%p3 mbarrier.arrive.shared::cta.b64 _, [bar];
                 V:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1;
                 @!%p2 bra V;",
                // How many drop out is not known.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 ld.param.u32 %r2, [n];
                 @%p1 mbarrier.arrive_drop.shared::cta.b64 _, [bar], %r2;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
            ],
        },
        Rule {
            code: 663,
            wrong: &[
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
                 bar.sync 0;
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar]; // warning: PTX0663",
                "# .reqntid 128
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 bar.sync 0;
                 setp.ge.u32 %p2, %r1, 96;
                 @%p2 mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [bar]; // warning: PTX0663",
            ],
            right: &[
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar];",
                "# .reqntid 128
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 bar.sync 0;
                 @%p1 mbarrier.arrive_drop.shared::cta.b64 _, [bar];",
            ],
        },
        Rule {
            code: 668,
            wrong: &[
                // One thread, once too often.
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 2;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
                 mbarrier.arrive.shared::cta.b64 _, [bar]; // error: PTX0668",
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 3;
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar], 3;
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar]; // error: PTX0668",
                // All threads drop out, wait, and come again.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;
                 mbarrier.arrive.shared::cta.b64 _, [bar]; // error: PTX0668",
                // By a state, in two halves.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 setp.lt.u32 %p3, %r1, 32;
                 @%p3 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
                 @!%p3 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;
                 @%p3 mbarrier.arrive_drop.shared::cta.b64 _, [bar]; // error: PTX0668",
            ],
            right: &[
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 2;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar];",
                // Half of the threads go on.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 setp.lt.u32 %p3, %r1, 32;
                 @%p3 mbarrier.arrive.shared::cta.b64 _, [bar];
                 @!%p3 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;
                 @%p3 mbarrier.arrive.shared::cta.b64 _, [bar];",
                // Initialised again.
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive_drop.shared::cta.b64 _, [bar];
                 mbarrier.inval.shared::cta.b64 [bar];
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 mbarrier.arrive.shared::cta.b64 _, [bar];",
            ],
        },
    ]);
}

#[test]
fn bytes_that_nobody_expects() {
    rules(&[Rule {
        code: 693,
        wrong: &[
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             @!%p1 bra W;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 512, [bar]; // error: PTX0693
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             ld.shared.u32 %r2, [sh];",
            // Expected on another stage of the array.
            "# .reqntid 1
             mbarrier.init.shared::cta.b64 [bars], 1;
             mbarrier.init.shared::cta.b64 [bars+8], 1;
             ld.param.u64 %d1, [a];
             mov.u32 %r3, bars;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3+8], 512;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 512, [%r3]; // error: PTX0693
             mbarrier.arrive.shared::cta.b64 _, [bars];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bars], 0;
             @!%p2 bra W;
             ld.shared.u32 %r2, [sh];",
            // A response.
            "# .reqntid 1
             mbarrier.init.shared::cta.b64 [bar], 1;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [answer], [bar]; // error: PTX0693
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             ld.shared.b128 %q1, [answer];
             clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q1;",
            // A ring.
            "# .reqntid 1
             mbarrier.init.shared::cta.b64 [bars], 1;
             mbarrier.init.shared::cta.b64 [bars+8], 1;
             ld.param.u64 %d1, [a]; ld.param.u32 %r9, [n];
             mov.u32 %r1, bars; mov.u32 %r2, sh; mov.u32 %r3, 0; mov.u32 %r4, 0;
             L:
             and.b32 %r5, %r3, 1; shl.b32 %r6, %r5, 3; add.u32 %r7, %r1, %r6;
             mbarrier.arrive.shared::cta.b64 _, [%r7];
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 512, [%r7]; // error: PTX0693
             shr.u32 %r8, %r3, 1; and.b32 %r8, %r8, 1;
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r7], %r8;
             @!%p2 bra W;
             add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %r9;
             @%p3 bra L;",
        ],
        right: &[
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             @!%p1 bra W;
             mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 512;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 512, [bar];
             mbarrier.arrive.shared::cta.b64 _, [bar];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             ld.shared.u32 %r2, [sh];",
            // Expected by an address that is computed.
            "# .reqntid 1
             mbarrier.init.shared::cta.b64 [bars], 1;
             ld.param.u64 %d1, [a]; ld.param.u32 %r9, [n];
             shl.b32 %r8, %r9, 3;
             mov.u32 %r3, bars;
             add.u32 %r8, %r3, %r8;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 512;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 512, [%r3];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bars], 0;
             @!%p2 bra W;
             ld.shared.u32 %r2, [sh];",
            // The peer expects what is stored there.
            "# .reqntid 1 .reqnctapercluster 2
             mbarrier.init.shared::cta.b64 [bar], 1;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1;
             mov.u32 %r2, bar; mov.u32 %r3, sh;
             mapa.shared::cluster.u32 %r4, %r2, %r1;
             mapa.shared::cluster.u32 %r5, %r3, %r1;
             st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], 7, [%r4];
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             ld.shared.u32 %r2, [sh];",
        ],
    }]);
}
