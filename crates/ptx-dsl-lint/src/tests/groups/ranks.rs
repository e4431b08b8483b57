//! CTAs that the cluster does not have: PTX0694, PTX0695.

use super::{Rule, rules};

#[test]
fn ctas_that_the_cluster_does_not_have() {
    rules(&[
        Rule {
            code: 694,
            wrong: &[
                "# .reqntid 1 .reqnctapercluster 1
                 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [bar]; // error: PTX0694",
                "# .reqntid 1 .reqnctapercluster 3
                 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [bar]; // warning: PTX0694",
                "# .reqntid 1 .maxclusterrank 1
                 tcgen05.shift.cta_group::2.down [%r1]; // error: PTX0694",
            ],
            right: &[
                "# .reqntid 1 .reqnctapercluster 1
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];",
                "# .reqntid 1 .reqnctapercluster 2, 3
                 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [bar];",
                "# .reqntid 1 .maxclusterrank 3
                 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [bar];",
                "# .reqntid 1
                 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [bar];",
            ],
        },
        Rule {
            code: 695,
            wrong: &[
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 7; // error: PTX0695
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                // Through registers, in a kernel of at most four.
                "# .reqntid 1 .maxclusterrank 4
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 mov.u32 %r1, 1;
                 shl.b32 %r1, %r1, 4;
                 cvt.u16.u32 %h1, %r1;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], %h1; // error: PTX0695
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                "# .reqntid 1 .reqnctapercluster 2
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 mov.u32 %r1, sh;
                 mapa.shared::cluster.u32 %r2, %r1, 2; // error: PTX0695
                 ld.shared::cluster.u32 %r3, [%r2];
                 barrier.cluster.arrive;
                 barrier.cluster.wait;",
            ],
            right: &[
                "# .reqntid 1 .reqnctapercluster 2
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 2;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
                // All 16, and how many there are is not said.
                "# .reqntid 1
                 mbarrier.init.shared::cta.b64 [bar], 1;
                 barrier.cluster.arrive;
                 barrier.cluster.wait;
                 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], 0xffff;
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
                 @!%p3 bra W;",
            ],
        },
    ]);
}
