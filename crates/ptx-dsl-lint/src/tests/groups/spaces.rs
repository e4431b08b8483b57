//! Which state space an address is in: PTX0630, `cvta`: PTX0631, and the CTA of a mapped one: PTX0635.

use super::{Rule, rules};

#[test]
fn accesses_by_addresses_of_other_spaces() {
    rules(&[Rule {
        code: 630,
        wrong: &[
            // A shared address as a generic one, in a loop.
            "mov.u64 %d1, sh;
             mov.u32 %r1, 0;
             L:
             ld.u32 %r2, [%d1]; // error: PTX0630
             add.u64 %d1, %d1, 4;
             add.u32 %r1, %r1, 1;
             setp.lt.u32 %p1, %r1, 8;
             @%p1 bra L;",
            // As a global one, with an index, predicated.
            "mov.u32 %r1, %tid.x;
             setp.lt.u32 %p1, %r1, 64;
             mov.u64 %d1, sh;
             mad.wide.u32 %d2, %r1, 4, %d1;
             @%p1 st.global.u32 [%d2], %r1; // error: PTX0630",
            // Chosen between two of the same space.
            "ld.param.u32 %r1, [n];
             setp.eq.u32 %p1, %r1, 0;
             mov.u64 %d1, sh;
             mov.u64 %d2, other;
             selp.b64 %d3, %d1, %d2, %p1;
             ld.global.u32 %r2, [%d3]; // error: PTX0630",
            // The same by branches.
            "ld.param.u32 %r1, [n];
             setp.eq.u32 %p1, %r1, 0;
             mov.u64 %d3, sh;
             @%p1 bra N;
             mov.u64 %d3, other;
             N:
             atom.global.add.u32 %r2, [%d3], 1; // error: PTX0630",
            // A global variable as shared memory; the address was cut to 32 bits or not.
            "mov.u64 %d1, g;
             ld.shared.u32 %r1, [%d1+4]; // error: PTX0630",
            // What a parameter points to.
            "ld.param.u64 %d1, [a];
             cvta.to.global.u64 %d2, %d1;
             st.shared.u32 [%d2], 1; // error: PTX0630",
            // The generic address of shared memory in an access to the window.
            "cvta.shared.u64 %d1, sh;
             add.u64 %d2, %d1, 64;
             ld.shared.u32 %r1, [%d2]; // error: PTX0630",
            // Spilt and loaded again.
            ".local .align 8 .b64 slot;
             mov.u64 %d1, sh;
             st.local.u64 [slot], %d1;
             bar.sync 0;
             ld.local.u64 %d2, [slot];
             ld.global.u32 %r1, [%d2]; // error: PTX0630",
            // Spilt as nvcc does it: the depot by its generic address.
            ".local .align 8 .b8 depot[32];
             mov.b64 %d1, depot;
             cvta.local.u64 %d2, %d1;
             mov.u64 %d3, sh;
             st.u64 [%d2+8], %d3;
             add.u64 %d4, %d2, 8;
             ld.u64 %d5, [%d4];
             st.global.u32 [%d5], 1; // error: PTX0630",
            // A mapped address in the window of shared memory as a generic one.
            "mov.u32 %r1, sh;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             cvt.u64.u32 %d1, %r2;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             ld.u32 %r3, [%d1]; // error: PTX0630
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // An mbarrier by a local variable's address; an mbarrier of global memory.
            "cvta.global.u64 %d1, g;
             mbarrier.init.b64 [%d1], 1; // error: PTX0630",
            ".local .align 8 .b64 slot;
             mov.u64 %d1, slot;
             cvta.local.u64 %d2, %d1;
             mbarrier.init.b64 [%d2], 1; // error: PTX0630",
            // Vectors and matrices.
            "cvta.shared.u64 %d1, sh;
             ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%d1]; // error: PTX0630",
            // The constant bank is no global memory.
            "mov.u64 %d1, c;
             ld.global.u32 %r1, [%d1]; // error: PTX0630",
            // Bulk copies.
            "mov.u64 %d1, g;
             mov.u32 %r1, sh;
             ld.param.u64 %d2, [a];
             cp.async.bulk.prefetch.L2.global [%d2], 64;
             mov.u64 %d3, sh;
             cp.async.bulk.global.shared::cta.bulk_group [%d3], [%r1], 64; // error: PTX0630
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // Tensors' maps in shared memory, or in a parameter by the address in its own space.
            "cvta.shared.u64 %d1, sh;
             mov.u32 %r1, 0;
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [other]; // error: PTX0630
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            "mov.b64 %d1, map;
             mov.u32 %r1, 0;
             cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%d1, {%r1}]; // error: PTX0630
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [other]; // error: PTX0630
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // `cp.async` from shared memory.
            "mov.u64 %d1, sh;
             mov.u32 %r1, other;
             cp.async.ca.shared.global [%r1], [%d1], 4; // error: PTX0630
             cp.async.wait_all;",
            // With a register of another name after a copy, rounded down.
            "mov.u32 %r1, sh;
             and.b32 %r2, %r1, -16;
             mov.b32 %r9, %r2;
             cvt.u64.u32 %d1, %r9;
             ld.volatile.global.u32 %r3, [%d1]; // error: PTX0630",
        ],
        right: &[
            // The way nvcc writes it.
            "mov.u64 %d1, sh;
             cvta.shared.u64 %d2, %d1;
             mov.u32 %r1, %tid.x;
             mul.wide.u32 %d3, %r1, 4;
             add.s64 %d4, %d2, %d3;
             st.u32 [%d4], %r1;
             bar.sync 0;
             cvta.to.shared.u64 %d5, %d4;
             ld.shared.u32 %r2, [%d5];",
            // Generic by choice: shared or global.
            "ld.param.u64 %d1, [any];
             cvta.shared.u64 %d2, sh;
             ld.param.u32 %r1, [n];
             setp.eq.u32 %p1, %r1, 0;
             selp.b64 %d3, %d1, %d2, %p1;
             ld.u32 %r2, [%d3];",
            // Global addresses are the same number.
            "ld.param.u64 %d1, [a];
             ld.global.u32 %r1, [%d1];
             ld.u32 %r1, [%d1];
             mov.u64 %d2, g;
             ld.u32 %r2, [%d2];
             cvta.global.u64 %d3, %d2;
             ld.global.u32 %r2, [%d3];",
            // 32 bits for shared memory, and back.
            "cvta.shared.u64 %d1, sh;
             cvta.to.shared.u64 %d2, %d1;
             cvt.u32.u64 %r1, %d2;
             ld.shared.u32 %r2, [%r1+4];",
            // A difference of addresses is a number.
            "mov.u32 %r1, sh;
             mov.u32 %r2, other;
             sub.u32 %r3, %r2, %r1;
             cvt.u64.u32 %d1, %r3;
             ld.param.u64 %d2, [a];
             add.u64 %d3, %d2, %d1;
             ld.global.u32 %r4, [%d3];",
            // One slot that holds first one and then the other.
            ".local .align 8 .b64 slot;
             mov.u64 %d1, sh;
             st.local.u64 [slot], %d1;
             ld.local.u64 %d2, [slot];
             ld.shared.u32 %r1, [%d2];
             ld.param.u64 %d3, [a];
             st.local.u64 [slot], %d3;
             ld.local.u64 %d4, [slot];
             ld.global.u32 %r1, [%d4];",
            // A slot that somebody else may write: its address is in a register.
            ".local .align 8 .b8 depot[16];
             mov.u64 %d1, depot;
             cvta.local.u64 %d2, %d1;
             mov.u64 %d3, sh;
             st.u64 [%d2], %d3;
             ld.param.u64 %d4, [any];
             ld.param.u32 %r1, [n];
             mad.wide.u32 %d5, %r1, 8, %d2;
             st.u64 [%d5], %d4;
             ld.u64 %d6, [%d2];
             ld.u32 %r2, [%d6];",
            // A table of addresses, loaded by an index.
            ".local .align 8 .b64 table[2];
             cvta.shared.u64 %d1, sh;
             ld.param.u64 %d2, [any];
             st.local.u64 [table], %d1;
             st.local.u64 [table+8], %d2;
             mov.u32 %r1, %tid.x;
             and.b32 %r2, %r1, 1;
             mov.u64 %d3, table;
             mad.wide.u32 %d4, %r2, 8, %d3;
             ld.local.u64 %d5, [%d4];
             ld.u32 %r3, [%d5];",
            // Packed and unpacked.
            "mov.u64 %d1, sh;
             cvta.shared.u64 %d2, %d1;
             mov.b64 {%r1, %r2}, %d2;
             mov.b64 %d3, {%r1, %r2};
             ld.u32 %r3, [%d3];",
            // A peer's memory by both kinds of addresses.
            "# .reqntid 128 .reqnctapercluster 2
             mov.u32 %r1, sh;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             cvta.shared.u64 %d1, sh;
             mapa.u64 %d2, %d1, 1;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             ld.shared::cluster.u32 %r3, [%r2];
             ld.u32 %r4, [%d2];
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // A map where it belongs.
            "mov.b64 %d1, map;
             cvta.param.u64 %d2, %d1;
             ld.param.u64 %d3, [any];
             mov.u32 %r1, 0;
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d2, {%r1}], [other];
             cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d3, {%r1}], [other];
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // Generic addresses of kernel parameters and constants.
            "mov.b64 %d1, map;
             cvta.param.u64 %d2, %d1;
             ld.u32 %r1, [%d2];
             cvta.const.u64 %d3, c;
             ld.u32 %r2, [%d3+8];
             ld.const.u32 %r3, [c+4];",
        ],
    }]);
}

#[test]
fn conversions_of_addresses() {
    rules(&[Rule {
        code: 631,
        wrong: &[
            "cvta.shared.u64 %d1, sh;
             cvta.shared.u64 %d2, %d1; // error: PTX0631
             ld.u32 %r1, [%d2];",
            "mov.u64 %d1, sh;
             cvta.to.shared.u64 %d2, %d1; // error: PTX0631
             ld.shared.u32 %r1, [%d2];",
            "mov.u64 %d1, sh;
             cvta.global.u64 %d2, %d1; // error: PTX0631",
            // Twice through a loop and a copy.
            "cvta.shared.u64 %d1, sh;
             mov.u32 %r1, %tid.x;
             mad.wide.u32 %d2, %r1, 4, %d1;
             @%p1 bra M;
             add.u64 %d2, %d2, 16;
             M:
             cvta.shared.u64 %d3, %d2; // error: PTX0631
             ld.u32 %r2, [%d3];",
            "ld.param.u64 %d1, [a];
             cvta.to.shared.u64 %d2, %d1; // error: PTX0631",
            ".local .align 8 .b8 slot[16];
             mov.u64 %d1, slot;
             cvta.to.local.u64 %d2, %d1; // error: PTX0631
             st.local.u32 [%d2], 0;",
            "cvta.const.u64 %d1, c;
             cvta.to.global.u64 %d2, %d1; // error: PTX0631
             ld.global.u32 %r1, [%d2];",
            // A generic address that was spilt.
            ".local .align 8 .b64 slot;
             cvta.shared.u64 %d1, sh;
             st.local.u64 [slot], %d1;
             ld.local.u64 %d2, [slot];
             cvta.shared.u64 %d3, %d2; // error: PTX0631
             ld.u32 %r1, [%d3];",
        ],
        right: &[
            "cvta.shared.u64 %d1, sh;
             cvta.to.shared.u64 %d2, %d1;
             cvta.shared.u64 %d3, %d2;
             ld.u32 %r1, [%d3];",
            // For global memory the two are the same, and compilers convert twice.
            "ld.param.u64 %d1, [a];
             cvta.to.global.u64 %d2, %d1;
             cvta.to.global.u64 %d3, %d2;
             cvta.global.u64 %d4, %d3;
             ld.global.u32 %r1, [%d4];",
            ".local .align 8 .b8 slot[16];
             mov.u64 %d1, slot;
             cvta.local.u64 %d2, %d1;
             cvta.to.local.u64 %d3, %d2;
             st.local.u32 [%d3], 0;",
            "ld.param.u64 %d1, [any];
             cvta.to.shared.u64 %d2, %d1;
             ld.shared.u32 %r1, [%d2];",
            "cvta.const.u64 %d1, c;
             cvta.to.const.u64 %d2, %d1;
             ld.const.u32 %r1, [%d2];",
        ],
    }]);
}

#[test]
fn addresses_in_other_ctas() {
    rules(&[Rule {
        code: 635,
        wrong: &[
            // Kept in the register of the own address, narrowed by `cvta`.
            "# .reqntid 128 .reqnctapercluster 2
             cvta.shared.u64 %d1, sh;
             mapa.u64 %d2, %d1, 1;
             cvta.to.shared.u64 %d3, %d2;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             ld.shared.u32 %r1, [%d3]; // error: PTX0635
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            "# .reqntid 128 .reqnctapercluster 2
             mov.u32 %r1, sh;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             mov.u32 %r3, %tid.x;
             shl.b32 %r4, %r3, 2;
             add.u32 %r5, %r2, %r4;
             st.shared::cta.u32 [%r5], %r3; // error: PTX0635",
            // The rank is computed.
            "# .reqntid 128 .reqnctapercluster 4
             mov.u32 %r1, %cluster_ctarank;
             xor.b32 %r2, %r1, 1;
             mov.u32 %r3, bar;
             mapa.shared::cluster.u32 %r4, %r3, %r2;
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0; // warning: PTX0635
             @!%p1 bra W;",
            // Only the owner initialises, by a generic address.
            "# .reqntid 32 .reqnctapercluster 2
             cvta.shared.u64 %d1, bar;
             mapa.u64 %d2, %d1, 1;
             mbarrier.init.b64 [%d2], 1; // error: PTX0635",
            // A response comes to the own CTA.
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, answer;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             mov.u32 %r3, %tid.x;
             setp.eq.u32 %p1, %r3, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
             @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [bar]; // warning: PTX0635
             bar.sync 0;
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;",
            // The source of a bulk copy is in the own CTA.
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, sh;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             ld.param.u64 %d1, [a];
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r2], 64; // error: PTX0635
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // So is the destination of `cp.async`.
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, sh;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             ld.param.u64 %d1, [a];
             cp.async.ca.shared.global [%r2], [%d1], 4; // error: PTX0635
             cp.async.wait_all;",
            // Chosen between two that are both mapped.
            "# .reqntid 128 .reqnctapercluster 2
             mov.u32 %r1, sh;
             mov.u32 %r2, other;
             mapa.shared::cluster.u32 %r3, %r1, 1;
             mapa.shared::cluster.u32 %r4, %r2, 1;
             selp.b32 %r5, %r3, %r4, %p1;
             ld.shared.u32 %r6, [%r5]; // warning: PTX0635",
        ],
        right: &[
            "# .reqntid 128 .reqnctapercluster 2
             mov.u32 %r1, bar;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             mov.u32 %r9, %tid.x;
             setp.eq.u32 %p1, %r9, 0;
             @%p1 mbarrier.init.shared::cta.b64 [%r1], 256;
             fence.mbarrier_init.release.cluster;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r1], 0;
             @!%p2 bra W;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // The own rank.
            "# .reqntid 128 .reqnctapercluster 2
             mov.u32 %r1, sh;
             mov.u32 %r2, %cluster_ctarank;
             mov.u32 %r9, %r2;
             mapa.shared::cluster.u32 %r3, %r1, %r9;
             ld.shared.u32 %r4, [%r3];",
            // A cluster of one CTA has rank 0 only.
            "# .reqntid 128 .reqnctapercluster 1
             mov.u32 %r1, sh;
             mapa.shared::cluster.u32 %r3, %r1, 0;
             ld.shared::cluster.u32 %r4, [%r3];
             ld.shared.u32 %r4, [%r3];",
            // Generic accesses, and a loop over the ranks.
            "# .reqntid 128 .reqnctapercluster 4
             cvta.shared.u64 %d1, sh;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mov.u32 %r1, 0;
             mov.u32 %r2, 0;
             L:
             mapa.u64 %d2, %d1, %r1;
             ld.u32 %r3, [%d2];
             add.u32 %r2, %r2, %r3;
             add.u32 %r1, %r1, 1;
             setp.lt.u32 %p1, %r1, 4;
             @%p1 bra L;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // A copy into the peer, told by the peer's mbarrier.
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, sh;
             mov.u32 %r2, other;
             mov.u32 %r3, bar;
             mov.u32 %r4, %cluster_ctarank;
             xor.b32 %r5, %r4, 1;
             mapa.shared::cluster.u32 %r6, %r2, %r5;
             mapa.shared::cluster.u32 %r7, %r3, %r5;
             mov.u32 %r8, %tid.x;
             setp.eq.u32 %p1, %r8, 0;
             @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
             fence.mbarrier_init.release.cluster;
             @%p1 st.shared.u32 [%r1], 7;
             fence.proxy.async.shared::cta;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 64;
             @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r1], 64, [%r7];
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r3], 0;
             @!%p2 bra W;
             ld.shared.u32 %r9, [%r2];
             barrier.cluster.arrive;
             barrier.cluster.wait;",
        ],
    }]);
}

#[test]
fn data_and_its_mbarrier() {
    rules(&[Rule {
        code: 664,
        wrong: &[
            // The data goes to the peer, and the own mbarrier is told.
            "# .reqntid 1 .reqnctapercluster 2
             mov.u32 %r1, sh;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             mbarrier.init.shared::cta.b64 [bar], 1;
             fence.mbarrier_init.release.cluster;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
             fence.proxy.async.shared::cta;
             cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2], [other], 64, [bar]; // error: PTX0664
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0;
             @!%p1 bra W;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // By a rank that is computed.
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, word;
             mov.u32 %r3, %cluster_ctarank;
             xor.b32 %r4, %r3, 1;
             mapa.shared::cluster.u32 %r2, %r1, %r4;
             mov.u32 %r5, %tid.x;
             mov.u32 %r6, bar;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %r5, [%r6]; // warning: PTX0664
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // To two different ones.
            "# .reqntid 32 .reqnctapercluster 4
             mov.u32 %r1, word;
             mov.u32 %r6, bar;
             mapa.shared::cluster.u32 %r2, %r1, 1;
             mapa.shared::cluster.u32 %r3, %r6, 2;
             mov.u32 %r5, %tid.x;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %r5, [%r3]; // error: PTX0664
             barrier.cluster.arrive;
             barrier.cluster.wait;",
        ],
        right: &[
            "# .reqntid 32 .reqnctapercluster 2
             mov.u32 %r1, word;
             mov.u32 %r3, %cluster_ctarank;
             xor.b32 %r4, %r3, 1;
             mapa.shared::cluster.u32 %r2, %r1, %r4;
             mov.u32 %r5, %tid.x;
             mov.u32 %r6, bar;
             mapa.shared::cluster.u32 %r7, %r6, %r4;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %r5, [%r7];
             barrier.cluster.arrive;
             barrier.cluster.wait;",
            // To its own CTA, and to all by a mask.
            "# .reqntid 1 .reqnctapercluster 2
             mov.u32 %r1, sh;
             ld.param.u64 %d1, [a];
             mbarrier.init.shared::cta.b64 [bar], 1;
             fence.mbarrier_init.release.cluster;
             barrier.cluster.arrive;
             barrier.cluster.wait;
             mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
             mov.u32 %r3, %cluster_ctarank;
             setp.eq.u32 %p3, %r3, 0;
             @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%d1], 64, [bar], 3;
             W:
             mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0;
             @!%p1 bra W;
             barrier.cluster.arrive;
             barrier.cluster.wait;",
        ],
    }]);
}
