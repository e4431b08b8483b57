//! Matrix products for Hopper: C = A * B^T in bf16, f16 or e4m3 with sums in f32.
//!
//! A CTA computes tiles of 128 x `BN` elements one after the other. One thread loads blocks of A and B, 128 bytes along K, by tensor copies
//! into a ring of stages; two warpgroups multiply 64 rows each by `wgmma`, and write their part of C through shared memory by tensor stores.
//! While they write, the ring fills for the next tile. The copies cut what lies outside of the matrices, so that M, N and K need not be
//! multiples of a tile. docs/kernels.md tells how the kernel came about, with the time of each step.

use crate::Error;
use half::{bf16, f16};
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};

ptx! {
    // where a tile is shared, sums go to stages that no copy fills any more: the rule sees that a loop fills them
    <sm_90a, ptx 8.6, allow(PTX0646)>
    use crate::parts::{products, results, ring, tiles};

    const BM: u32 = 128;
    /// Rows of tiles in a group.
    const GROUP: u32 = 16;
    /// Registers of a thread that loads, and of one that multiplies.
    const FEW: u32 = 40;
    const MANY: u32 = 232;

    .extern .shared .align 1024 .b8 memory[];

    /// `BN` is the width of a tile. `TYPE` is 0 for bf16, 1 for f16, 2 for e4m3 with C in bf16; 4 and 5 are 0 and 1 with C in f32. Sums of
    /// e4m3 are multiplied by `scale`. A and B have boxes of 128 bytes x 128 and x BN, C boxes of 128 bytes x 64, all with the 128-byte
    /// swizzle.
    ///
    /// If `PAIR` is 0, the CTAs of a cluster share a tile: each multiplies a part of K, and there are as many clusters as tiles, at least.
    /// If it is 1, two CTAs have a tile each, one below the other: each loads half of the rows of B for both.
    .visible .entry gemm<const BN: u32 in [256, 192, 128], const TYPE: u32 in [0, 1, 2, 4, 5], const PAIR: u32 in [0, 1]>(
        .param .align 64 .b8 a[128]: &TensorMap,
        .param .align 64 .b8 b[128]: &TensorMap,
        .param .align 64 .b8 c[128]: &TensorMap,
        .param .u32 m,
        .param .u32 n,
        .param .u32 k,
        .param .f32 scale)
    .reqntid 384 .minnctapersm 1
    {
        const IN: u32 = TYPE % 4;
        const OUT: u32 = TYPE / 4;
        /// Elements of a block along K: 128 bytes, the width of the swizzle.
        const BK: u32 = 64 << IN / 2;
        // Three stages of 48 KiB, four of 40, or five of 32. After them C: 64 rows x 2 BN bytes for each consumer, in blocks of 128 bytes
        // x 64 rows; then the mbarriers.
        const STAGES: u32 = 7 - BN / 64;
        const A_BYTES: u32 = BM * 128;
        const STAGE: u32 = (BM + BN) * 128;
        const BLOCK: u32 = 64 * 128;
        const RESULT: u32 = STAGES * STAGE;
        const BARRIERS: u32 = RESULT + BM * BN * 2;
        // barriers of the CTA: 0 of all threads, 1 and 2 of a consumer, this one of both
        const PARTS: u32 = 3;

        .reg .pred %keep<2>, %mine<BN / 64>;
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
            ring::init!(%barriers, STAGES, 2 << PAIR);
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
            // two warpgroups multiply
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
                results::places16!(%place<4>, %from, %w);
            } else {
                results::places32!(%place<4>, %from, %w);
            }
            @if PAIR == 0 {
                // 64 columns of a shared tile are written by the CTA of their rank
                @for J in 0..BN / 64 {
                    %x = (%split - 1) & J;
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
                        barrier.cta.sync PARTS, 256;
                        let %sums = %base + 16 * (%t - 128);
                        @for I in 0..BN / 8 {
                            st.shared.v4.f32 [%sums + 4096 * I], {%d{4 * I}..=%d{4 * I + 3}};
                        }
                        barrier.cluster.arrive.release;
                        barrier.cluster.wait.acquire;
                        let %other = %rank;
                        loop {
                            %other = %other + 1;
                            if %other == %split { %other = 0; }
                            if %other == %rank { break; }
                            mapa.shared::cluster.u32 %peer, %sums, %other;
                            @for J in 0..BN / 64 {
                                if %mine{J} {
                                    @for I in 8 * J..8 * J + 8 {
                                        ld.shared::cluster.v4.f32 {%e0..=%e3}, [%peer + 4096 * I];
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
                // C in f32 goes through the same memory in two halves
                @for HALF in 0..=OUT {
                    @%first cp.async.bulk.wait_group.read 0;
                    barrier.cta.sync %named, 128;
                    @if TYPE == 0 || TYPE == 2 { results::store16.bf16x2!({%d0..=%d{BN / 2 - 1}}, %place<4>, BN, BLOCK); }
                    @if TYPE == 1 { results::store16.f16x2!({%d0..=%d{BN / 2 - 1}}, %place<4>, BN, BLOCK); }
                    @if OUT == 1 { results::store32!({%d{BN / 4 * HALF}..=%d{BN / 4 * HALF + BN / 4 - 1}}, %place<4>, BN / 2); }
                    fence.proxy.async.shared::cta;
                    barrier.cta.sync %named, 128;
                    if %first {
                        @for J in 0..BN / 64 {
                            const OFFSET: u32 = (64 >> OUT) * J + BN / 2 * HALF;
                            const WRITER: u32 = OFFSET / 64;
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

/// The sizes of a product: A is `m` x `k`, B is `n` x `k`, C is `m` x `n`, all row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Rows of A and C.
    pub m: usize,
    /// Rows of B, columns of C.
    pub n: usize,
    /// Columns of A and B.
    pub k: usize,
}

/// Multiprocessors of an H100 SXM and of an H200.
pub const MULTIPROCESSORS: u32 = 132;

/// The widths of tiles, and the time of 64 elements of K, measured on an H200, in hundredths of that of the widest tile.
const COSTS: [(u32, u64); 3] = [(256, 100), (192, 74), (128, 51)];
/// The time of a tile without that of K, and what is added to it where CTAs exchange sums.
const TILE: u64 = 400;
const EXCHANGE: u64 = 470;

/// What the CTAs of a cluster do together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cluster {
    /// A cluster is a CTA, with tiles of its own.
    Alone,
    /// This many CTAs, 2, 4 or 8, have a part of K of a tile each, and add up their sums.
    Split(u32),
    /// Two CTAs have a tile each, one below the other, and load B together. It is of use where rows of A and B do not begin at multiples of
    /// 128 bytes, because loads are slower then.
    Pair,
}

impl Cluster {
    /// CTAs of a cluster.
    pub fn ctas(self) -> u32 {
        match self {
            Cluster::Alone => 1,
            Cluster::Split(ctas) => ctas,
            Cluster::Pair => 2,
        }
    }

    /// Clusters that run at a time, if each CTA needs a multiprocessor. A cluster is in one group of some 18 multiprocessors: an H100 and an
    /// H200 have room for 30 clusters of 4 CTAs.
    fn resident(self, multiprocessors: u32) -> u32 {
        let clusters = match self.ctas() {
            4 => multiprocessors / 4 * 10 / 11,
            8 => multiprocessors / 8 * 7 / 8,
            ctas => multiprocessors / ctas,
        };
        clusters.max(1)
    }
}

/// How a product is launched: the width of its tiles, and the number of CTAs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    shape: Shape,
    width: u32,
    cluster: Cluster,
    ctas: u32,
}

impl Plan {
    /// A plan with tiles of 128 x `width` elements, 128, 192 or 256. There is a CTA for each multiprocessor, but no more than keep the
    /// last wave as full as the others.
    ///
    /// # Errors
    /// A dimension is 0 or 2^32 or more, or `width` or the cluster is none of these. K is split only if all tiles are computed at a time, and
    /// if each CTA has 64 elements of K.
    pub fn new(shape: Shape, width: u32, cluster: Cluster, multiprocessors: u32) -> Result<Plan, Error> {
        let Shape { m, n, k } = shape;
        for (name, has) in [("m", m), ("n", n), ("k", k)] {
            if has == 0 || u32::try_from(has).is_err() {
                return Err(Error::Dimension { name, has, wants: "from 1 to 2^32 - 1" });
            }
        }
        if !COSTS.iter().any(|(known, _)| *known == width) {
            return Err(Error::Dimension { name: "width", has: width as usize, wants: "128, 192 or 256" });
        }
        let rows = if cluster == Cluster::Pair { 256 } else { 128 };
        let tiles = u32::try_from(m.div_ceil(rows) * n.div_ceil(width as usize));
        let tiles = tiles.map_err(|_| Error::Dimension { name: "m", has: m, wants: "less than 2^32 tiles" })?;
        let clusters = cluster.resident(multiprocessors);
        match cluster {
            Cluster::Split(2 | 4 | 8) if tiles <= clusters && k.div_ceil(64) >= cluster.ctas() as usize => {}
            Cluster::Split(ctas) => {
                return Err(Error::Dimension { name: "split", has: ctas as usize, wants: "2, 4 or 8 where that fits" });
            }
            Cluster::Alone | Cluster::Pair => {}
        }
        Ok(Plan { shape, width, cluster, ctas: tiles.div_ceil(tiles.div_ceil(clusters)) * cluster.ctas() })
    }

    /// The plan for a shape: the one that needs the least time, which is estimated from the number of waves.
    ///
    /// # Errors
    /// As [`new`](Plan::new).
    pub fn of(shape: Shape, multiprocessors: u32) -> Result<Plan, Error> {
        let plans = Plan::all(shape, multiprocessors);
        match plans.min_by_key(|plan| plan.cost(multiprocessors)) {
            Some(plan) => Ok(plan),
            None => Plan::new(shape, 256, Cluster::Alone, multiprocessors),
        }
    }

    /// Every plan for a shape.
    pub fn all(shape: Shape, multiprocessors: u32) -> impl Iterator<Item = Plan> {
        let clusters = [Cluster::Alone, Cluster::Split(2), Cluster::Split(4), Cluster::Split(8), Cluster::Pair];
        let plan = move |width, cluster| Plan::new(shape, width, cluster, multiprocessors).ok();
        COSTS.iter().flat_map(move |(width, _)| clusters.map(|cluster| plan(*width, cluster))).flatten()
    }

    /// The time of the launch, in hundredths of that of a block of 128 x 256 x 64.
    fn cost(&self, multiprocessors: u32) -> u64 {
        let Shape { m, n, k } = self.shape;
        let aligned = k % 64 == 0;
        let block = COSTS.iter().find(|(width, _)| *width == self.width).map_or(0, |(_, cost)| *cost);
        let (rows, parts, exchange) = match self.cluster {
            Cluster::Alone => (128, 1, 0),
            Cluster::Split(parts) => (128, parts, EXCHANGE),
            Cluster::Pair => (256, 1, 0),
        };
        // loads take longer where rows are not aligned, and pairs make fewer
        let percent = match (aligned, self.cluster) {
            (true, Cluster::Pair) => 103,
            (true, _) => 100,
            (false, Cluster::Pair) => 120,
            (false, _) => 140,
        };
        let tiles = (m.div_ceil(rows) * n.div_ceil(self.width as usize)) as u64 * u64::from(self.cluster.ctas());
        let blocks = k.div_ceil(64).div_ceil(parts as usize) as u64;
        tiles.div_ceil(u64::from(multiprocessors.max(1))) * (blocks * block * percent / 100 + TILE + exchange)
    }

    /// Columns of a tile of C.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// What the CTAs of a cluster do together.
    pub fn cluster(&self) -> Cluster {
        self.cluster
    }

    /// CTAs of the launch.
    pub fn ctas(&self) -> u32 {
        self.ctas
    }

    /// Bytes of shared memory: the stages, a tile of C in 16 bits, and the mbarriers.
    pub fn shared_memory(&self) -> u32 {
        let stages = 7 - self.width / 64;
        stages * ((128 + self.width) * 128 + 16) + 256 * self.width
    }
}

fn operand<T: bytemuck::Pod>(
    x: &[T],
    element: ElementType,
    [rows, k]: [usize; 2],
    box_rows: u32,
) -> Result<TensorMap<'_>, Error> {
    let map =
        TensorMap::tiled(x, element).dims([k as u64, rows as u64]).box_dims([128 / size_of::<T>() as u32, box_rows]);
    Ok(map.swizzle(Swizzle::B128).build()?)
}

macro_rules! front {
    ($(#[$doc:meta])* $name:ident $(($scale:ident))?, $from:ty, $input:ident, $to:ty, $output:ident, $type:literal) => {
        $(#[$doc])*
        ///
        /// `k` and `n` are multiples of 8 (`k` of 16 for e4m3, `n` of 4 if C is f32), because a tensor map has rows of multiples of 16 bytes;
        /// `m` is any number.
        ///
        /// # Errors
        /// A length does not fit the shape, a dimension is not such a multiple, or the launch fails.
        pub fn $name(device: &impl Device, a: &[$from], b: &[$from], c: &mut [$to], plan: Plan $(, $scale: f32)?) -> Result<Report, Error> {
            let scale = [$($scale,)? 1.0][0];
            let Shape { m, n, k } = plan.shape;
            Error::unless_length("a", a.len(), m * k)?;
            Error::unless_length("b", b.len(), n * k)?;
            Error::unless_length("c", c.len(), m * n)?;
            let pair = u32::from(plan.cluster == Cluster::Pair);
            let a = operand(a, ElementType::$input, [m, k], 128)?;
            let b = operand(b, ElementType::$input, [n, k], plan.width >> pair)?;
            let c = TensorMap::tiled(c, ElementType::$output).dims([n as u64, m as u64]).box_dims([128 / size_of::<$to>() as u32, 64]);
            let c = c.swizzle(Swizzle::B128).build()?;
            let launch = Launch::grid(plan.ctas).cluster(plan.cluster.ctas()).dynamic_shared(plan.shared_memory()).programmatic();
            let arguments = (&a, &b, &c, m as u32, n as u32, k as u32, scale);
            Ok(match (plan.width, plan.cluster) {
                (256, Cluster::Pair) => gemm::<256, $type, 1>.launch(device, launch, arguments),
                (192, Cluster::Pair) => gemm::<192, $type, 1>.launch(device, launch, arguments),
                (_, Cluster::Pair) => gemm::<128, $type, 1>.launch(device, launch, arguments),
                (256, _) => gemm::<256, $type, 0>.launch(device, launch, arguments),
                (192, _) => gemm::<192, $type, 0>.launch(device, launch, arguments),
                _ => gemm::<128, $type, 0>.launch(device, launch, arguments),
            }?)
        }
    };
}
front!(
    /// C = A * B^T of bf16, rounded to bf16.
    bf16_bf16, bf16, Bf16, bf16, Bf16, 0);
front!(
    /// C = A * B^T of bf16, in f32.
    bf16_f32, bf16, Bf16, f32, F32, 4);
front!(
    /// C = A * B^T of f16, rounded to f16.
    f16_f16, f16, F16, f16, F16, 1);
front!(
    /// C = A * B^T of f16, in f32.
    f16_f32, f16, F16, f32, F32, 5);
front!(
    /// C = scale * A * B^T of e4m3 (`torch.float8_e4m3fn`), rounded to bf16. The sums are those of the tensor cores, which keep fewer bits
    /// than f32.
    e4m3_bf16(scale), u8, U8, bf16, Bf16, 2);
