//! Matrix products for Hopper: C = A * B^T in bf16, f16 or e4m3 with sums in f32.
//!
//! A CTA computes tiles of 128 x `BN` elements one after the other. One thread loads blocks of A and B, 128 bytes along K, by tensor copies
//! into a ring of stages; two warpgroups multiply 64 rows each by `wgmma`, and write their part of C through shared memory by tensor stores.
//! While they write, the ring fills for the next tile. The copies cut what lies outside of the matrices, so that M, N and K need not be
//! multiples of a tile. docs/kernels.md tells how the kernel came about, with the time of each step.

mod launches;
mod plan;

pub use launches::{bf16_bf16, bf16_f32, e4m3_bf16, e4m3_rows_bf16, f16_f16, f16_f32};
pub use plan::{Cluster, MULTIPROCESSORS, Plan, Shape};

use ptx_dsl::prelude::*;

ptx! {
    // where a tile is shared, sums go to stages that no copy fills any more: the rule sees that a loop fills them
    <sm_90a, ptx 8.6, allow(PTX0646)>
    use crate::parts::{products, results, ring, tiles};

    /// Rows of tiles in a group.
    const GROUP: u32 = 16;
    /// Registers of a thread that loads.
    const FEW: u32 = 40;

    .extern .shared .align 1024 .b8 memory[];

    /// `BN` is the width of a tile. `TYPE` is 0 for bf16, 1 for f16, 2 for e4m3 with C in bf16; 4 and 5 are 0 and 1 with C in f32. Sums of
    /// e4m3 are multiplied by `scale`, and if `scaled` is 1 by the scales of their row of A and of their row of B. A and B have boxes of 128 bytes x 128 and x BN, C boxes of 128 bytes x 64, all with the 128-byte
    /// swizzle.
    ///
    /// If `PAIR` is 0, the CTAs of a cluster share a tile: each multiplies a part of K, and there are as many clusters as tiles, at least.
    /// If it is 1, two CTAs have a tile each, one below the other: each loads half of the rows of B for both.
    .visible .entry gemm<const BN: u32 in [256, 192, 144, 128, 64], const TYPE: u32 in [0, 1, 2, 4, 5], const PAIR: u32 in [0, 1]>(
        .param .align 64 .b8 a[128]: &TensorMap,
        .param .align 64 .b8 b[128]: &TensorMap,
        .param .align 64 .b8 c[128]: &TensorMap,
        .param .u32 m,
        .param .u32 n,
        .param .u32 k,
        .param .f32 scale,
        .param .u32 scaled,
        .param .u64 .ptr .global .align 4 a_scales: &[f32],
        .param .u64 .ptr .global .align 8 b_scales: &[f32])
    .reqntid 384 - 64 / BN * 128 .minnctapersm 1
    {
        /// Rows of a tile: 64 for the narrowest, for few rows, else 128.
        const BM: u32 = 128 - 64 / BN * 64;
        const IN: u32 = TYPE % 4;
        const OUT: u32 = TYPE / 4;
        /// Elements of a block along K: 128 bytes, the width of the swizzle.
        const BK: u32 = 64 << IN / 2;
        // As many stages as there is room for. After them C: 64 rows x 2 BN bytes for each consumer, in boxes of BOX bytes x 64 rows; then
        // the mbarriers.
        const A_BYTES: u32 = BM * 128;
        const STAGE: u32 = (BM + BN) * 128;
        const STAGES: u32 = (231424 - BM * BN * 2) / (STAGE + 16);
        const ODD: u32 = BN / 16 % 2;
        const BOX: u32 = 128 >> 2 * ODD + (1 - ODD) * (BN / 32 % 2 | 2 - BM / 64);
        const BOXES: u32 = 2 * BN / BOX;
        const BLOCK: u32 = 64 * BOX;
        const RESULT: u32 = STAGES * STAGE;
        const BARRIERS: u32 = RESULT + BM * BN * 2;
        /// Registers of a thread that multiplies.
        const MANY: u32 = 200 + BM / 4;
        // barriers of the CTA: 0 of all threads, 1 and 2 of a consumer, this one of both
        const PARTS: u32 = 3;

        .reg .pred %some, %keep<2>, %mine<BOXES>;
        .reg .b16 %both;
        .reg .b32 %row, %column, %adesc, %bdesc, %place<4>, %peer, %x, %y;
        .reg .b64 %a, %b, %c;
        .reg .f32 %d<BN / 2>, %e<4>, %scale;

        let %t = %tid.x;
        let %group = %t / 128;
        shfl.sync.idx.b32 %group, %group, 0, 31, 0xffffffff;
        let %base = memory;
        let %barriers = %base + BARRIERS;
        let %rows = (m + ((BM << PAIR) - 1)) / (BM << PAIR);
        let %columns = n + (BN - 1);
        div.u32 %columns, %columns, BN;
        let %tiles = %rows * %columns;
        let %tile = %clusterid.x;
        let %step = %nclusterid.x;
        if %tile >= %tiles { bra done; }

        // the part of K that this CTA multiplies
        let %rank = %cluster_ctarank;
        let %split = %cluster_nctarank;
        let %begin = 0;
        let %end = k;
        @if PAIR == 0 {
            if %split > 1 {
                if %tiles > %step { trap; }
                let %blocks = (k + (BK - 1)) / BK;
                %begin = %blocks * %rank;
                %end = %begin + %blocks;
                div.u32 %begin, %begin, %split;
                div.u32 %end, %end, %split;
                %begin = %begin * BK;
                %end = %end * BK;
            }
        }

        mov.b64 %a, a;
        cvta.param.u64 %a, %a;
        mov.b64 %b, b;
        cvta.param.u64 %b, %b;
        mov.b64 %c, c;
        cvta.param.u64 %c, %c;
        if %t == 0 {
            prefetch.tensormap [%a];
            prefetch.tensormap [%b];
            prefetch.tensormap [%c];
            ring::init!(%barriers, STAGES, BM / 64 << PAIR);
        }
        @if PAIR == 0 {
            barrier.cta.sync 0;
        } else {
            barrier.cluster.arrive.release;
            barrier.cluster.wait.acquire;
        }
        let %stage = 0;
        griddepcontrol.launch_dependents;

        if %group == 0 {
            // one thread loads
            setmaxnreg.dec.sync.aligned.u32 FEW;
            if %t != 0 { bra done; }
            let %parity = 1;
            mov.u16 %both, 3;
            griddepcontrol.wait;
            while %tile < %tiles {
                tiles::grouped!(%tile, %rows, %columns, %row, %column, GROUP);
                @if PAIR == 0 {
                    %row = %row * BM;
                    %column = %column * BN;
                } else {
                    %row = (%row * 2 + %rank) * BM;
                    %column = %column * BN + %rank * (BN / 2);
                }
                let %at = %begin;
                while %at < %end {
                    let %full = %barriers + 8 * %stage;
                    let %empty = %full + 8 * STAGES;
                    ring::wait!(%empty, %parity);
                    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], STAGE;
                    let %to = %base + %stage * STAGE;
                    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
                        [%to], [%a, {%at, %row}], [%full];
                    @if PAIR == 0 {
                        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
                            [%to + A_BYTES], [%b, {%at, %column}], [%full];
                    } else {
                        let %half = %to + %rank * (BN / 2 * 128);
                        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
                            [%half + A_BYTES], [%b, {%at, %column}], [%full], %both;
                    }
                    ring::next!(%stage, %parity, STAGES);
                    %at = %at + BK;
                }
                %tile = %tile + %step;
            }
        } else {
            // the other warpgroups multiply, 64 rows each
            setmaxnreg.inc.sync.aligned.u32 MANY;
            %group = %group - 1;
            let %named = %group + 1;
            let %w = %t % 128;
            let %first = %w == 0;
            setp.ne.u32 %keep0, %base, %base;
            setp.eq.u32 %keep1, %base, %base;
            let %arows = %base + %group * (64 * 128);
            products::rows!(%adesc, %arows);
            let %brows = %base + A_BYTES;
            products::rows!(%bdesc, %brows);
            let %from = %base + %group * (64 * BN * 2) + RESULT;
            @if OUT == 0 {
                results::places16!(%place<4>, %from, %w, BOX);
            } else {
                results::places32!(%place<4>, %from, %w, BOX);
            }
            @if PAIR == 0 {
                // the CTAs of a shared tile take turns to write a box
                @for J in 0..BOXES {
                    rem.u32 %x, J, %split;
                    setp.eq.u32 %mine{J}, %x, %rank;
                }
            }
            let %parity = 0;
            while %tile < %tiles {
                tiles::grouped!(%tile, %rows, %columns, %row, %column, GROUP);
                @if PAIR == 0 {
                    %row = %row * BM + %group * 64;
                } else {
                    %row = (%row * 2 + %rank) * BM + %group * 64;
                }
                %column = %column * BN;
                let %at = %begin;
                @peel FIRST loop {
                    let %full = %barriers + 8 * %stage;
                    let %empty = %full + 8 * STAGES;
                    ring::wait!(%full, %parity);
                    let %ablock = %adesc + %stage * (STAGE / 16);
                    let %bblock = %bdesc + %stage * (STAGE / 16);
                    wgmma.fence.sync.aligned;
                    @for S in 0..4 {
                        // the first product replaces the sums of the tile before
                        %x = %ablock + 2 * S;
                        %y = %bblock + 2 * S;
                        @if IN == 0 { products::multiply.bf16!({%d0..=%d{BN / 2 - 1}}, %x, %y, %keep{1 - FIRST + S > 0}, BN); }
                        @if IN == 1 { products::multiply.f16!({%d0..=%d{BN / 2 - 1}}, %x, %y, %keep{1 - FIRST + S > 0}, BN); }
                        @if IN == 2 { products::multiply.e4m3!({%d0..=%d{BN / 2 - 1}}, %x, %y, %keep{1 - FIRST + S > 0}, BN); }
                    }
                    wgmma.commit_group.sync.aligned;
                    wgmma.wait_group.sync.aligned 0;
                    @if PAIR == 0 {
                        @%first mbarrier.arrive.shared::cta.b64 _, [%empty];
                    } else {
                        // the next copy of either CTA writes to the stages of both
                        @for R in 0..2 {
                            mapa.shared::cluster.u32 %peer, %empty, R;
                            @%first mbarrier.arrive.shared::cluster.b64 _, [%peer];
                        }
                    }
                    ring::next!(%stage, %parity, STAGES);
                    %at = %at + BK;
                    if %at >= %end { break; }
                }

                @if PAIR == 0 {
                    if %split > 1 {
                        // the stages are free: the sums of each thread lie there for the others
                        barrier.cta.sync PARTS, 2 * BM;
                        let %sums = %base + 16 * (%t - 128);
                        @for I in 0..BN / 8 {
                            st.shared.v4.f32 [%sums + 32 * BM * I], {%d{4 * I}..=%d{4 * I + 3}};
                        }
                        barrier.cluster.arrive.release;
                        barrier.cluster.wait.acquire;
                        let %other = %rank;
                        loop {
                            %other = %other + 1;
                            if %other == %split { %other = 0; }
                            if %other == %rank { break; }
                            mapa.shared::cluster.u32 %peer, %sums, %other;
                            @for J in 0..BOXES {
                                if %mine{J} {
                                    @for I in BOX / 16 * J..BOX / 16 * (J + 1) {
                                        ld.shared::cluster.v4.f32 {%e0..=%e3}, [%peer + 32 * BM * I];
                                        @for E in 0..4 { add.f32 %d{4 * I + E}, %d{4 * I + E}, %e{E}; }
                                    }
                                }
                            }
                        }
                        // no CTA ends before the others have read its sums
                        barrier.cluster.arrive;
                        barrier.cluster.wait;
                    }
                }
                @if IN == 2 {
                    ld.param.f32 %scale, [scale];
                    @for I in 0..BN / 2 { mul.f32 %d{I}, %d{I}, %scale; }
                }
                @if IN == 2 {
                    if scaled != 0 {
                        // a thread has the sums of two rows, and of two columns of eight
                        let %i = %row + (%w >> 5) * 16 + (%w >> 2 & 7);
                        @for R in 0..2 {
                            mov.f32 %e{R}, 0f00000000;
                            %some = %i + 8 * R < m;
                            @%some ld.global.nc.f32 %e{R}, [a_scales + 4 * %i + 32 * R];
                        }
                        let %j = %column + (%w & 3) * 2;
                        @for I in 0..BN / 8 {
                            mov.f32 %e2, 0f00000000;
                            mov.f32 %e3, 0f00000000;
                            %some = %j + 8 * I < n;
                            @%some ld.global.nc.v2.f32 {%e2, %e3}, [b_scales + 4 * %j + 32 * I];
                            @for E in 0..4 {
                                mul.f32 %d{4 * I + E}, %d{4 * I + E}, %e{E / 2};
                                mul.f32 %d{4 * I + E}, %d{4 * I + E}, %e{2 + E % 2};
                            }
                        }
                    }
                }
                // C in f32 goes through the same memory in two halves
                @for HALF in 0..=OUT {
                    @%first cp.async.bulk.wait_group.read 0;
                    barrier.cta.sync %named, 128;
                    @if TYPE == 0 || TYPE == 2 { results::store16.bf16x2!({%d0..=%d{BN / 2 - 1}}, %place<4>, BN, BOX, BLOCK); }
                    @if TYPE == 1 { results::store16.f16x2!({%d0..=%d{BN / 2 - 1}}, %place<4>, BN, BOX, BLOCK); }
                    @if OUT == 1 { results::store32!({%d{BN / 4 * HALF}..=%d{BN / 4 * HALF + BN / 4 - 1}}, %place<4>, BN / 2, BOX); }
                    fence.proxy.async.shared::cta;
                    barrier.cta.sync %named, 128;
                    if %first {
                        @for J in 0..BOXES {
                            const OFFSET: u32 = (BOX / 2 >> OUT) * J + BN / 2 * HALF;
                            const WRITER: u32 = 2 * OFFSET / BOX;
                            @if PAIR == 0 {
                                @%mine{WRITER} cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
                                    [%c, {%column + OFFSET, %row}], [%from + BLOCK * J];
                            } else {
                                cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
                                    [%c, {%column + OFFSET, %row}], [%from + BLOCK * J];
                            }
                        }
                        cp.async.bulk.commit_group;
                    }
                }
                %tile = %tile + %step;
            }
            @%first cp.async.bulk.wait_group 0;
        }
        @if PAIR == 1 {
            // no CTA ends before the other has copied to it and arrived there
            barrier.cluster.arrive;
            barrier.cluster.wait;
        }
    done:
        ret;
    }
}
