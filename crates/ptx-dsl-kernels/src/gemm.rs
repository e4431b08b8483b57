//! Matrix products for Hopper: C = A * B^T in bf16 or f16 with sums in f32.
//!
//! A CTA computes tiles of 128 x `BN` elements one after the other. One thread loads blocks of A and B, 64 elements along K, by tensor copies
//! into a ring of stages; two warpgroups multiply 64 rows each by `wgmma`, and write their part of C through shared memory by tensor stores.
//! While they write, the ring fills for the next tile. The copies cut what lies outside of the matrices, so that M, N and K need not be
//! multiples of a tile. docs/kernels.md tells how the kernel came about, with the time of each step.

use crate::Error;
use half::{bf16, f16};
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};

ptx! {
    <sm_90a, ptx 8.6>
    use crate::parts::{ring, tiles};

    const BM: u32 = 128;
    /// Elements of a block along K: 128 bytes, the width of the swizzle.
    const BK: u32 = 64;
    const GROUP: u32 = 16;
    /// Registers of a thread that loads, and of one that multiplies.
    const FEW: u32 = 40;
    const MANY: u32 = 232;

    .extern .shared .align 1024 .b8 memory[];

    /// `BN` is the width of a tile. `IN` is 0 for bf16, 1 for f16. `OUT` is 0 if C is of that type, 1 if it is f32. A and B have boxes of
    /// 64 x 128 and 64 x BN elements, C boxes of 128 bytes x 64, all with the 128-byte swizzle.
    .visible .entry gemm<const BN: u32 in [256, 192, 128, 64], const IN: u32 in [0, 1], const OUT: u32 in [0, 1]>(
        .param .align 64 .b8 a[128]: &TensorMap,
        .param .align 64 .b8 b[128]: &TensorMap,
        .param .align 64 .b8 c[128]: &TensorMap,
        .param .u32 m,
        .param .u32 n,
        .param .u32 k)
    .reqntid 384 .minnctapersm 1
    {
        // Three stages of 48 KiB, or five of 32. After them C: 64 rows x 2 BN bytes for each consumer, in blocks of 128 bytes x 64 rows.
        const STAGES: u32 = 7 - BN / 64;
        const A_BYTES: u32 = BM * BK * 2;
        const STAGE: u32 = (BM + BN) * BK * 2;
        const BLOCK: u32 = 64 * 128;
        const RESULT: u32 = STAGES * STAGE;
        const BARRIERS: u32 = RESULT + BM * BN * 2;
        // the barriers of the CTA: that of all threads, one of each consumer, one for their order
        const START: u32 = 5;

        .reg .pred %p, %none, %all, %first;
        .reg .b32 %t, %group, %base, %barriers, %m, %n, %k, %rows, %columns, %tiles, %tile, %step, %row, %column, %at;
        .reg .b32 %stage, %parity, %full, %empty, %to, %from, %ahead, %named, %w, %x, %y, %part;
        .reg .b32 %alow, %blow, %adesc, %bdesc, %high, %place<4>, %h<4>;
        .reg .b64 %a, %b, %c, %da, %db;
        .reg .f32 %d<BN / 2>;

        mov.u32 %t, %tid.x;
        shr.u32 %group, %t, 7;
        shfl.sync.idx.b32 %group, %group, 0, 31, 0xffffffff;
        mov.u32 %base, memory;
        add.u32 %barriers, %base, BARRIERS;
        ld.param.u32 %m, [m];
        ld.param.u32 %n, [n];
        ld.param.u32 %k, [k];
        add.u32 %rows, %m, BM - 1;
        div.u32 %rows, %rows, BM;
        add.u32 %columns, %n, BN - 1;
        div.u32 %columns, %columns, BN;
        mul.lo.u32 %tiles, %rows, %columns;
        mov.u32 %tile, %ctaid.x;
        mov.u32 %step, %nctaid.x;
        setp.ge.u32 %p, %tile, %tiles;
        @%p bra done;
        mov.b64 %a, a;
        cvta.param.u64 %a, %a;
        mov.b64 %b, b;
        cvta.param.u64 %b, %b;
        mov.b64 %c, c;
        cvta.param.u64 %c, %c;
        setp.ne.u32 %p, %t, 0;
        @%p bra ready;
        prefetch.tensormap [%a];
        prefetch.tensormap [%b];
        prefetch.tensormap [%c];
        ring::init!(%barriers, STAGES, 2);
    ready:
        barrier.cta.sync 0;
        mov.u32 %stage, 0;
        griddepcontrol.launch_dependents;
        setp.ne.u32 %p, %group, 0;
        @%p bra multiply;

        // the thread that loads
        setmaxnreg.dec.sync.aligned.u32 FEW;
        setp.ne.u32 %p, %t, 0;
        @%p bra done;
        mov.u32 %parity, 1;
        griddepcontrol.wait;
    load:
        tiles::grouped!(%tile, %rows, %columns, %row, %column, GROUP);
        mul.lo.u32 %row, %row, BM;
        mul.lo.u32 %column, %column, BN;
        mov.u32 %at, 0;
    copy:
        mad.lo.u32 %full, %stage, 8, %barriers;
        add.u32 %empty, %full, 8 * STAGES;
        ring::wait!(%empty, %parity);
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], STAGE;
        mad.lo.u32 %to, %stage, STAGE, %base;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%to], [%a, {%at, %row}], [%full];
        add.u32 %to, %to, A_BYTES;
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%to], [%b, {%at, %column}], [%full];
        ring::next!(%stage, %parity, STAGES);
        add.u32 %at, %at, BK;
        setp.lt.u32 %p, %at, %k;
        @%p bra copy;
        add.u32 %tile, %tile, %step;
        setp.lt.u32 %p, %tile, %tiles;
        @%p bra load;
        bra done;

        // the warpgroups that multiply
    multiply:
        setmaxnreg.inc.sync.aligned.u32 MANY;
        sub.u32 %group, %group, 1;
        add.u32 %named, %group, 1;
        and.b32 %w, %t, 127;
        setp.eq.u32 %first, %w, 0;
        // descriptors: 128-byte swizzle, 1024 bytes from eight rows to the next
        mov.u32 %high, 0x40000040;
        setp.ne.u32 %all, %high, 0;
        setp.eq.u32 %none, %high, 0;
        shr.u32 %x, %base, 4;
        add.u32 %x, %x, 0x10000;
        mad.lo.u32 %adesc, %group, 64 * BK * 2 / 16, %x;
        add.u32 %bdesc, %x, A_BYTES / 16;
        // where a lane writes C: a piece of 16 bytes of a row, permuted by the row
        mad.lo.u32 %from, %group, 64 * BN * 2, %base;
        add.u32 %from, %from, RESULT;
        shr.u32 %x, %w, 5;
        mul.lo.u32 %x, %x, 16;
        @if OUT == 0 {
            // stmatrix: row lane mod 16, piece lane / 16
            and.b32 %y, %w, 15;
            add.u32 %x, %x, %y;
            shr.u32 %y, %w, 4;
            and.b32 %y, %y, 1;
        } else {
            // two f32 of row lane / 4, piece lane / 2 mod 2
            shr.u32 %y, %w, 2;
            and.b32 %y, %y, 7;
            add.u32 %x, %x, %y;
            shr.u32 %y, %w, 1;
            and.b32 %y, %y, 1;
        }
        mad.lo.u32 %to, %x, 128, %from;
        and.b32 %x, %x, 7;
        xor.b32 %y, %y, %x;
        mad.lo.u32 %to, %y, 16, %to;
        @if OUT == 1 {
            and.b32 %x, %w, 1;
            mad.lo.u32 %to, %x, 8, %to;
        }
        @for I in 0..4 { xor.b32 %place{I}, %to, 32 * I; }
        mov.u32 %parity, 0;
        // consumer 1 starts when consumer 0 has multiplied a block: while one writes its part of C, the other multiplies
        mov.u32 %ahead, 1;
        setp.ne.u32 %p, %group, 1;
        @%p bra tile;
        mov.u32 %ahead, 0;
        barrier.cta.sync.aligned START, 256;
    tile:
        tiles::grouped!(%tile, %rows, %columns, %row, %column, GROUP);
        mul.lo.u32 %row, %row, BM;
        mul.lo.u32 %column, %column, BN;
        mad.lo.u32 %row, %group, 64, %row;
        mov.u32 %at, 0;
        // the first block of K replaces the sums of the tile before, the others add to them
        @for REST in 0..=1 {
          block{REST}:
            mad.lo.u32 %full, %stage, 8, %barriers;
            ring::wait!(%full, %parity);
            mad.lo.u32 %alow, %stage, STAGE / 16, %adesc;
            mad.lo.u32 %blow, %stage, STAGE / 16, %bdesc;
            wgmma.fence.sync.aligned;
            @for S in 0..BK / 16 {
                add.u32 %x, %alow, 2 * S;
                mov.b64 %da, {%x, %high};
                add.u32 %x, %blow, 2 * S;
                mov.b64 %db, {%x, %high};
                @if IN == 0 {
                    @if REST + S == 0 {
                        wgmma.mma_async.sync.aligned.m64n{BN}k16.f32.bf16.bf16 {%d0..=%d{BN / 2 - 1}}, %da, %db, %none, 1, 1, 0, 0;
                    } else {
                        wgmma.mma_async.sync.aligned.m64n{BN}k16.f32.bf16.bf16 {%d0..=%d{BN / 2 - 1}}, %da, %db, %all, 1, 1, 0, 0;
                    }
                } else {
                    @if REST + S == 0 {
                        wgmma.mma_async.sync.aligned.m64n{BN}k16.f32.f16.f16 {%d0..=%d{BN / 2 - 1}}, %da, %db, %none, 1, 1, 0, 0;
                    } else {
                        wgmma.mma_async.sync.aligned.m64n{BN}k16.f32.f16.f16 {%d0..=%d{BN / 2 - 1}}, %da, %db, %all, 1, 1, 0, 0;
                    }
                }
            }
            wgmma.commit_group.sync.aligned;
            wgmma.wait_group.sync.aligned 0;
            @%first mbarrier.arrive.shared::cta.b64 _, [%full + 8 * STAGES];
            ring::next!(%stage, %parity, STAGES);
            sub.u32 %ahead, %ahead, 1;
            setp.ne.u32 %p, %ahead, 0;
            @%p bra started{REST};
            barrier.cta.arrive.aligned START, 256;
          started{REST}:
            add.u32 %at, %at, BK;
            @if REST == 0 {
                setp.ge.u32 %p, %at, %k;
                @%p bra write;
            } else {
                setp.lt.u32 %p, %at, %k;
                @%p bra block{REST};
            }
        }

    write:
        // C in f32 goes through the same memory in two halves
        @for HALF in 0..=OUT {
            @%first cp.async.bulk.wait_group.read 0;
            barrier.cta.sync %named, 128;
            @for J in 0..BN / 64 {
                @for I in 0..4 {
                    @if OUT == 0 {
                        @for H in 0..4 {
                            @if IN == 0 {
                                cvt.rn.bf16x2.f32 %h{H}, %d{32 * J + 8 * I + 2 * H + 1}, %d{32 * J + 8 * I + 2 * H};
                            } else {
                                cvt.rn.f16x2.f32 %h{H}, %d{32 * J + 8 * I + 2 * H + 1}, %d{32 * J + 8 * I + 2 * H};
                            }
                        }
                        stmatrix.sync.aligned.m8n8.x4.shared.b16 [%place{I} + BLOCK * J], {%h0..=%h3};
                    } else {
                        st.shared.v2.f32 [%place{I} + BLOCK * J],
                            {%d{BN / 4 * HALF + 16 * J + 4 * I}, %d{BN / 4 * HALF + 16 * J + 4 * I + 1}};
                        st.shared.v2.f32 [%place{I} + BLOCK * J + 1024],
                            {%d{BN / 4 * HALF + 16 * J + 4 * I + 2}, %d{BN / 4 * HALF + 16 * J + 4 * I + 3}};
                    }
                }
            }
            fence.proxy.async.shared::cta;
            barrier.cta.sync %named, 128;
            @!%first bra stored{HALF};
            @for J in 0..BN / 64 {
                add.u32 %x, %from, BLOCK * J;
                add.u32 %part, %column, (64 >> OUT) * J + BN / 2 * HALF;
                cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%c, {%part, %row}], [%x];
            }
            cp.async.bulk.commit_group;
          stored{HALF}:
        }
        add.u32 %tile, %tile, %step;
        setp.lt.u32 %p, %tile, %tiles;
        @%p bra tile;
        @%first cp.async.bulk.wait_group 0;
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

/// The widths of tiles, and the time that a tile takes, measured on an H200, in hundredths of the widest.
const COSTS: [(u32, usize); 4] = [(256, 100), (192, 77), (128, 54), (64, 32)];

/// How a product is launched: the width of its tiles, and the number of CTAs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    shape: Shape,
    width: u32,
    ctas: u32,
}

impl Plan {
    /// A plan with tiles of 128 x `width` elements, 64, 128, 192 or 256: one CTA for each multiprocessor, but no more than keep the last wave
    /// as full as the others.
    ///
    /// # Errors
    /// A dimension is 0 or 2^32 or more, or `width` is none of these.
    pub fn new(shape: Shape, width: u32, multiprocessors: u32) -> Result<Plan, Error> {
        let Shape { m, n, k } = shape;
        for (name, has) in [("m", m), ("n", n), ("k", k)] {
            if has == 0 || u32::try_from(has).is_err() {
                return Err(Error::Dimension { name, has, wants: "from 1 to 2^32 - 1" });
            }
        }
        if !COSTS.iter().any(|(known, _)| *known == width) {
            return Err(Error::Dimension { name: "width", has: width as usize, wants: "64, 128, 192 or 256" });
        }
        let tiles = u32::try_from(m.div_ceil(128) * n.div_ceil(width as usize));
        let tiles = tiles.map_err(|_| Error::Dimension { name: "m", has: m, wants: "less than 2^32 tiles" })?;
        Ok(Plan { shape, width, ctas: tiles.div_ceil(tiles.div_ceil(multiprocessors.max(1))) })
    }

    /// The plan for a shape: with the tiles that need the least time, which is estimated from the number of waves.
    ///
    /// # Errors
    /// As [`new`](Plan::new).
    pub fn of(shape: Shape, multiprocessors: u32) -> Result<Plan, Error> {
        let cost = |(width, cost): &(u32, usize)| {
            let tiles = shape.m.div_ceil(128).saturating_mul(shape.n.div_ceil(*width as usize));
            tiles.div_ceil(multiprocessors.max(1) as usize).saturating_mul(*cost)
        };
        let width = COSTS.into_iter().min_by_key(cost).map_or(256, |(width, _)| width);
        Plan::new(shape, width, multiprocessors)
    }

    /// Columns of a tile of C.
    pub fn width(&self) -> u32 {
        self.width
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
    let map = TensorMap::tiled(x, element).dims([k as u64, rows as u64]).box_dims([64, box_rows]);
    Ok(map.swizzle(Swizzle::B128).build()?)
}

macro_rules! front {
    ($(#[$doc:meta])* $name:ident, $from:ty, $input:ident, $in:literal, $to:ty, $output:ident, $out:literal) => {
        $(#[$doc])*
        ///
        /// `k` and `n` are multiples of 8 (`n` of 4 if C is f32), because a tensor map has rows of multiples of 16 bytes; `m` is any number.
        ///
        /// # Errors
        /// A length does not fit the shape, a dimension is not such a multiple, or the launch fails.
        pub fn $name(device: &impl Device, a: &[$from], b: &[$from], c: &mut [$to], plan: Plan) -> Result<Report, Error> {
            let Shape { m, n, k } = plan.shape;
            Error::unless_length("a", a.len(), m * k)?;
            Error::unless_length("b", b.len(), n * k)?;
            Error::unless_length("c", c.len(), m * n)?;
            let a = operand(a, ElementType::$input, [m, k], 128)?;
            let b = operand(b, ElementType::$input, [n, k], plan.width)?;
            let c = TensorMap::tiled(c, ElementType::$output).dims([n as u64, m as u64]).box_dims([64 >> $out, 64]);
            let c = c.swizzle(Swizzle::B128).build()?;
            let launch = Launch::grid(plan.ctas).dynamic_shared(plan.shared_memory()).programmatic();
            let arguments = (&a, &b, &c, m as u32, n as u32, k as u32);
            Ok(match plan.width {
                256 => gemm::<256, $in, $out>.launch(device, launch, arguments),
                192 => gemm::<192, $in, $out>.launch(device, launch, arguments),
                128 => gemm::<128, $in, $out>.launch(device, launch, arguments),
                _ => gemm::<64, $in, $out>.launch(device, launch, arguments),
            }?)
        }
    };
}
front!(
    /// C = A * B^T of bf16, rounded to bf16.
    bf16_bf16, bf16, Bf16, 0, bf16, Bf16, 0);
front!(
    /// C = A * B^T of bf16, in f32.
    bf16_f32, bf16, Bf16, 0, f32, F32, 1);
front!(
    /// C = A * B^T of f16, rounded to f16.
    f16_f16, f16, F16, 1, f16, F16, 0);
front!(
    /// C = A * B^T of f16, in f32.
    f16_f32, f16, F16, 1, f32, F32, 1);
