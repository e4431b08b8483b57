//! Phases of mbarriers: parities, states, counts: PTX0642 to PTX0644, PTX0663, PTX0666 to PTX0669.

use super::{Rule, rules};

#[test]
fn the_same_parity_again() {
    rules(&[Rule {
        code: 666,
        wrong: &[
            // A loop that copies and waits for parity 0 each time.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             fence.mbarrier_init.release.cluster;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             ld.param.u32 %r4, [n];
             mov.u32 %r2, 0;
             mov.u32 %r3, sh;
             L:
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
             @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 1024, [bar];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; // error: PTX0666
             @!%p2 bra W;
             ld.shared.u32 %r5, [%r3];
             fence.proxy.async.shared::cta;
             bar.sync 0;
             add.u64 %d1, %d1, 1024;
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, %r4;
             @%p3 bra L;",
            // All threads arrive and wait, with the sense of the test the other way round.
            "# .reqntid 64
             mov.u32 %r1, %tid.x;
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra GO;
             mbarrier.init.shared::cta.b64 [bar], 64;
             GO:
             bar.sync 0;
             mov.u32 %r2, 0;
             L:
             mbarrier.arrive.shared::cta.b64 _, [bar];
             W:
             mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 0; // error: PTX0666
             @%p2 bra DONE;
             nanosleep.u32 20;
             bra W;
             DONE:
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 8;
             @%p3 bra L;",
            // The loop's condition at its head.
            "# .reqntid 64
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
             bar.sync 0;
             ld.param.u32 %r4, [n];
             mov.u32 %r2, 0;
             L:
             setp.ge.u32 %p3, %r2, %r4;
             @%p3 bra END;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             W:
             mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 0; // error: PTX0666
             @!%p2 bra W;
             add.u32 %r2, %r2, 1;
             bra L;
             END:",
            // Twice in a row.
            "# .reqntid 1
             mbarrier.init.shared::cta.b64 [bar], 1;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             W1:
             mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
             @!%p1 bra W1;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             W2:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; // error: PTX0666
             @!%p2 bra W2;",
            // A consumer in a role of its own frees a slot that the producer waits for.
            "# .reqntid 160
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             @%p1 mbarrier.init.shared::cta.b64 [bars], 128;
             fence.mbarrier_init.release.cluster;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             ld.param.u32 %r4, [n];
             mov.u32 %r2, 0;
             mov.u32 %r3, sh;
             mov.u32 %r9, 0;
             setp.lt.u32 %p2, %r1, 128;
             @%p2 bra CONSUMER;
             setp.ne.u32 %p3, %r1, 128;
             @%p3 bra END;
             PRODUCER:
             E:
             mbarrier.try_wait.parity.shared::cta.b64 %p4, [bars], 1; // error: PTX0666
             @!%p4 bra E;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 1024, [bar];
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p5, %r2, %r4;
             @%p5 bra PRODUCER;
             bra END;
             CONSUMER:
             F:
             mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], %r9;
             @!%p4 bra F;
             ld.shared.u32 %r5, [%r3];
             fence.proxy.async.shared::cta;
             mbarrier.arrive.shared::cta.b64 _, [bars];
             xor.b32 %r9, %r9, 1;
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p5, %r2, %r4;
             @%p5 bra CONSUMER;
             END:",
        ],
        right: &[
            // The parity is flipped.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             fence.mbarrier_init.release.cluster;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             ld.param.u32 %r4, [n];
             mov.u32 %r2, 0;
             mov.u32 %r9, 0;
             mov.u32 %r3, sh;
             L:
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
             @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 1024, [bar];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], %r9;
             @!%p2 bra W;
             xor.b32 %r9, %r9, 1;
             ld.shared.u32 %r5, [%r3];
             fence.proxy.async.shared::cta;
             bar.sync 0;
             add.u64 %d1, %d1, 1024;
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, %r4;
             @%p3 bra L;",
            // Unrolled by two.
            "# .reqntid 1
             mbarrier.init.shared::cta.b64 [bar], 1;
             mov.u32 %r2, 0;
             L:
             mbarrier.arrive.shared::cta.b64 _, [bar];
             W1:
             mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
             @!%p1 bra W1;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             W2:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 1;
             @!%p2 bra W2;
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 8;
             @%p3 bra L;",
            // One phase, asked for again in each iteration.
            "# .reqntid 64
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
             bar.sync 0;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             mov.u32 %r2, 0;
             L:
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             ld.shared.u32 %r3, [word];
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 8;
             @%p3 bra L;",
            // Copied in the first round only.
            "# .reqntid 128
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             mov.u32 %r2, 0;
             L:
             setp.ne.u32 %p4, %r2, 0;
             @%p4 bra W;
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
             @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 64, [bar];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;
             ld.shared.u32 %r3, [sh];
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 8;
             @%p3 bra L;",
            // A new object in each iteration.
            "# .reqntid 1
             mov.u32 %r2, 0;
             L:
             mbarrier.init.shared::cta.b64 [bar], 1;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
             @!%p1 bra W;
             mbarrier.inval.shared::cta.b64 [bar];
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 8;
             @%p3 bra L;",
            // Work is done while it waits.
            "# .reqntid 1
             mbarrier.init.shared::cta.b64 [bar], 8;
             mov.u32 %r2, 0;
             L:
             mbarrier.arrive.shared::cta.b64 _, [bar];
             mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 0;
             @%p1 bra DONE;
             st.shared.u32 [word], %r2;
             add.u32 %r2, %r2, 1;
             bra L;
             DONE:",
            // Arrivals of several rounds make one phase.
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
             bar.sync 0;
             mov.u32 %r2, 0;
             L:
             mbarrier.arrive.shared::cta.b64 _, [bar];
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 4;
             @%p3 bra L;
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
             @!%p1 bra W;",
        ],
    }]);
}

#[test]
fn states_over_phases() {
    rules(&[Rule {
        code: 667,
        wrong: &[
            // The state of the first phase for the second.
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
             bar.sync 0;
             mbarrier.arrive.shared::cta.b64 %d1, [bar];
             W1:
             mbarrier.test_wait.shared::cta.b64 %p2, [bar], %d1;
             @!%p2 bra W1;
             mbarrier.arrive.shared::cta.b64 %d2, [bar];
             W2:
             mbarrier.test_wait.shared::cta.b64 %p2, [bar], %d1; // error: PTX0667
             @!%p2 bra W2;",
            // In a loop, with a copy of the register.
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
             bar.sync 0;
             mov.u32 %r2, 0;
             mbarrier.arrive.shared::cta.b64 %d1, [bar];
             mov.b64 %d2, %d1;
             L:
             W:
             mbarrier.try_wait.shared::cta.b64 %p2, [bar], %d2; // warning: PTX0667
             @!%p2 bra W;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 8;
             @%p3 bra L;",
            // Of another object.
            "# .reqntid 1
             mbarrier.init.shared::cta.b64 [bar], 1;
             mbarrier.init.shared::cta.b64 [bars], 1;
             mbarrier.arrive.shared::cta.b64 %d1, [bar];
             mbarrier.arrive.shared::cta.b64 %d2, [bars];
             W:
             mbarrier.test_wait.shared::cta.b64 %p2, [bar], %d2; // error: PTX0667
             @!%p2 bra W;",
            // Spilt, and with the parity in between.
            "# .reqntid 1
             .local .align 8 .b64 slot;
             mbarrier.init.shared::cta.b64 [bar], 1;
             mbarrier.arrive.shared::cta.b64 %d1, [bar];
             st.local.u64 [slot], %d1;
             W1:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W1;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             ld.local.u64 %d3, [slot];
             W2:
             mbarrier.try_wait.shared::cta.b64 %p2, [bar], %d3; // error: PTX0667
             @!%p2 bra W2;",
        ],
        right: &[
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
             bar.sync 0;
             mov.u32 %r2, 0;
             L:
             mbarrier.arrive.shared::cta.b64 %d1, [bar];
             W:
             mbarrier.try_wait.shared::cta.b64 %p2, [bar], %d1;
             @!%p2 bra W;
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 8;
             @%p3 bra L;",
            // The state of the iteration before: arrive first, wait in the next one.
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
             bar.sync 0;
             mov.u32 %r2, 0;
             mbarrier.arrive.shared::cta.b64 %d1, [bar];
             L:
             W:
             mbarrier.try_wait.shared::cta.b64 %p2, [bar], %d1;
             @!%p2 bra W;
             mbarrier.arrive.shared::cta.b64 %d1, [bar];
             add.u32 %r2, %r2, 1;
             setp.lt.u32 %p3, %r2, 8;
             @%p3 bra L;",
            // One arrives with bytes, the others without.
            "# .reqntid 32
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
             bar.sync 0;
             ld.param.u64 %d3, [a];
             @!%p1 bra OTHERS;
             mbarrier.arrive.expect_tx.shared::cta.b64 %d1, [bar], 16;
             cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d3], 16, [bar];
             bra W;
             OTHERS:
             mbarrier.arrive.shared::cta.b64 %d1, [bar];
             W:
             mbarrier.test_wait.shared::cta.b64 %p2, [bar], %d1;
             @!%p2 bra W;
             ld.shared.u32 %r2, [sh];",
            // Two objects in turn.
            "# .reqntid 1
             mbarrier.init.shared::cta.b64 [bar], 1;
             mbarrier.init.shared::cta.b64 [bars], 1;
             mbarrier.arrive.shared::cta.b64 %d1, [bar];
             mbarrier.arrive.shared::cta.b64 %d2, [bars];
             W:
             mbarrier.test_wait.shared::cta.b64 %p2, [bar], %d1;
             @!%p2 bra W;
             V:
             mbarrier.test_wait.shared::cta.b64 %p2, [bars], %d2;
             @!%p2 bra V;",
        ],
    }]);
}

#[test]
fn counts_of_arrivals() {
    rules(&[
        Rule {
            code: 668,
            wrong: &[
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 4;
                 mbarrier.arrive.shared::cta.b64 _, [bar], 5; // error: PTX0668",
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 4;
                 mbarrier.arrive.noComplete.shared::cta.b64 %d1, [bar], 4; // error: PTX0668",
                // All threads together.
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
                 bar.sync 0;
                 mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %d1, [bar], 1; // error: PTX0668",
                // One after the other.
                "# .reqntid 1
                 mov.u32 %r1, bar;
                 mbarrier.init.shared::cta.b64 [%r1], 4;
                 mbarrier.arrive.noComplete.shared::cta.b64 %d1, [%r1], 3;
                 mbarrier.arrive.shared::cta.b64 _, [%r1], 2; // error: PTX0668",
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 4;
                 mbarrier.arrive.noComplete.shared::cta.b64 %d1, [bar], 2;
                 mbarrier.arrive.noComplete.shared::cta.b64 %d1, [bar], 2; // error: PTX0668",
                // The pending count of a state that has none.
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 4;
                 mbarrier.arrive.shared::cta.b64 %d1, [bar];
                 mbarrier.pending_count.b64 %r1, %d1; // warning: PTX0668",
            ],
            right: &[
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 4;
                 mbarrier.arrive.noComplete.shared::cta.b64 %d1, [bar], 3;
                 mbarrier.pending_count.b64 %r1, %d1;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 mbarrier.arrive.shared::cta.b64 _, [bar], 4;",
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %d1, [bar], 1;
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 %d1, [bar];
                 W:
                 mbarrier.test_wait.shared::cta.b64 %p2, [bar], %d1;
                 @!%p2 bra W;",
                // The count is not known.
                "# .reqntid 1
                 ld.param.u32 %r1, [n];
                 mbarrier.init.shared::cta.b64 [bar], %r1;
                 mbarrier.arrive.shared::cta.b64 _, [bar], 5;",
            ],
        },
        Rule {
            code: 642,
            wrong: &[
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; // error: PTX0642
                 @!%p2 bra W;",
                // Only bytes are expected, nobody arrives.
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 bar.sync 0;
                 ld.param.u64 %d1, [a];
                 @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;
                 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%d1], 16, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; // error: PTX0642
                 @!%p2 bra W;",
                // One lane of each of two warps, and a count of all lanes.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 64;
                 bar.sync 0;
                 elect.sync _|%p3, -1;
                 @%p3 mbarrier.arrive.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; // error: PTX0642
                 @!%p2 bra W;",
            ],
            right: &[
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 2;
                 bar.sync 0;
                 elect.sync _|%p3, -1;
                 @%p3 mbarrier.arrive.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 128;
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar], 2;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
                 bar.sync 0;
                 ld.param.u64 %d1, [a];
                 cp.async.ca.shared.global [sh], [%d1], 16;
                 cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
            ],
        },
        Rule {
            code: 663,
            wrong: &[
                "# .reqntid 32
                 mov.u32 %r1, %tid.x;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
                 bar.sync 0;
                 mbarrier.arrive.shared::cta.b64 _, [bar]; // warning: PTX0663
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.lt.u32 %p4, %r1, 32;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 16;
                 bar.sync 0;
                 @%p4 mbarrier.arrive.shared::cta.b64 _, [bar]; // warning: PTX0663
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
            ],
            right: &[
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 setp.lt.u32 %p4, %r1, 32;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 32;
                 bar.sync 0;
                 @%p4 mbarrier.arrive.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
                // Each warp in its turn.
                "# .reqntid 64
                 mov.u32 %r1, %tid.x;
                 and.b32 %r2, %r1, 31;
                 setp.eq.u32 %p4, %r2, 0;
                 setp.eq.u32 %p1, %r1, 0;
                 @%p1 mbarrier.init.shared::cta.b64 [bar], 2;
                 bar.sync 0;
                 @%p4 mbarrier.arrive.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
                 @!%p2 bra W;",
            ],
        },
    ]);
}
