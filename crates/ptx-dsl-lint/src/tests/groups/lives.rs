//! The life of an mbarrier, and what it publishes: PTX0613, PTX0614, PTX0616 to PTX0619, PTX0671, PTX0674.

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
                 mbarrier.arrive.shared::cta.b64 _, [bar]; // error: PTX0613
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
                 barrier.cluster.arrive.relaxed; // warning: PTX0619
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
                 barrier.cluster.arrive.relaxed; // warning: PTX0619
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
fn arrivals_that_publish_nothing() {
    rules(&[Rule {
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
    }]);
}
