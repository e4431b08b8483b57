//! Matrix products for Blackwell: C = A * B^T in bf16 or f16 with sums in f32, by `tcgen05`.
//!
//! Two CTAs compute tiles of 256 x 256 elements together: each loads 128 rows of A and 128 of B, and has 128 rows of C. One thread of the even
//! CTA multiplies for both (`.cta_group::2`), so that each half of B is loaded once. Sums are in Tensor Memory, in two buffers: while four
//! warps write a tile, the next one is multiplied.
//!
//! There is a pair of CTAs for each tile, but few of them start: a pair that begins a tile asks for the next one by cancelling the launch of
//! its pair (cluster launch control). So the work is shared out as CTAs become free, and nobody counts.
//!
//! No GPU has run this kernel yet: it is tested on the host, with its schedules, and by ptxas.

use crate::Error;
use crate::gemm::Shape;
use half::{bf16, f16};
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, Tensor, TensorMap};

ptx! {
    <sm_100a, ptx 8.6>
    use crate::parts::{ring, tiles};

    const STAGES: u32 = 5;
    /// 128 rows of 128 bytes, of A or of B.
    const HALF: u32 = 16384;
    const STAGE: u32 = 2 * HALF;
    /// After the stages two boxes of 64 columns x 128 rows of C, then the mbarriers.
    const RESULT: u32 = STAGES * STAGE;
    const BARRIERS: u32 = RESULT + 2 * HALF;
    /// Rows of tiles in a group.
    const GROUP: u32 = 8;
    /// The upper half of a descriptor of shared memory: 128-byte swizzle, 1,024 bytes from eight rows to the next.
    const SWIZZLED: u32 = 0x40004040;

    .extern .shared .align 1024 .b8 memory[];

    /// Waits for the answer to a request for a tile, and reads it. `%tile` is the next tile if there is one. `taken` is the mbarrier of the
    /// even CTA, which waits until all readers of both have read.
    .inline read_answer(.b32 fresh, .b32 parity, .b32 answer, .b32 taken, .reg .pred %more, .reg .b32 %tile) {
        .reg .b128 %handle;
        .reg .pred %done;
      again:
        mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [fresh], parity;
        @!%done bra again;
        ld.shared.b128 %handle, [answer];
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %more, %handle;
        @%more clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%tile, _, _, _}, %handle;
        @%more shr.u32 %tile, %tile, 1;
        // the next answer is written by the asynchronous proxy
        fence.proxy.async;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [taken];
    }

    /// `TYPE` is 0 for bf16, 1 for f16. A and B have boxes of 64 columns x 128 rows, as C has, all with the 128-byte swizzle. There are two CTAs
    /// for each tile.
    .visible .entry gemm_pair<const TYPE: u32 in [0, 1]>(
        .param .align 64 .b8 a[128]: &TensorMap,
        .param .align 64 .b8 b[128]: &TensorMap,
        .param .align 64 .b8 c[128]: &TensorMap,
        .param .u32 m,
        .param .u32 n,
        .param .u32 k)
    .reqntid 256 .reqnctapercluster 2 .minnctapersm 1
    {
        // M = 256, N = 256, sums in f32
        const KIND: u32 = 0x10400490 - 0x480 * TYPE;
        // barriers of the CTA: 0 of all threads, this one of the warps that write C
        const WRITERS: u32 = 1;

        .shared .align 16 .b8 answer[16];
        .shared .align 4 .b32 tensor;
        .reg .pred %p, %more, %add, %leader;
        .reg .b32 %row, %column, %x, %tmem, %v<64>, %h<4>;
        .reg .b16 %both;
        .reg .b64 %a, %b, %c, %adesc, %bdesc;

        let %t = %tid.x;
        let %warp = %t / 32;
        shfl.sync.idx.b32 %warp, %warp, 0, 31, 0xffffffff;
        let %rank = %cluster_ctarank;
        let %base = memory;
        // mbarriers: `full` and `empty` of the ring, `ready` and `drained` of both buffers of sums, `fresh` and `taken` of the answer. `full`,
        // `drained` and `taken` are those of the even CTA
        let %barriers = %base + BARRIERS;
        let %ready = %barriers + 16 * STAGES;
        let %drained = %ready + 16;
        let %fresh = %ready + 32;
        let %taken = %ready + 40;
        let %rows = (m + 255) / 256;
        let %columns = (n + 255) / 256;
        let %tile = %clusterid.x;
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
            @for I in 0..2 {
                mbarrier.init.shared::cta.b64 [%ready + 8 * I], 1;
                mbarrier.init.shared::cta.b64 [%drained + 8 * I], 8;
            }
            mbarrier.init.shared::cta.b64 [%fresh], 1;
            // of both CTAs: who loads, who asks, and four warps that write; and who multiplies
            mbarrier.init.shared::cta.b64 [%taken], 13;
            ring::init!(%barriers, STAGES, 1);
        }
        if %warp == 3 {
            tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tensor], 512;
            tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;
        }
        tcgen05.fence::before_thread_sync;
        barrier.cluster.arrive.release;
        barrier.cluster.wait.acquire;
        tcgen05.fence::after_thread_sync;
        ld.shared.b32 %tmem, [tensor];
        mapa.shared::cluster.u32 %taken, %taken, 0;
        let %answered = 0;

        if %t == 0 {
            // loads half of the rows of A and of B
            let %stage = 0;
            let %parity = 1;
            loop {
                tiles::grouped!(%tile, %rows, %columns, %row, %column, GROUP);
                %row = %row * 256 + %rank * 128;
                %column = %column * 256 + %rank * 128;
                let %at = 0;
                while %at < k {
                    let %full = %barriers + 8 * %stage;
                    ring::wait!(%full + 8 * STAGES, %parity);
                    if %rank == 0 { mbarrier.arrive.expect_tx.shared::cta.b64 _, [%full], 2 * STAGE; }
                    let %to = %base + %stage * STAGE;
                    mapa.shared::cluster.u32 %full, %full, 0;
                    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2
                        [%to], [%a, {%at, %row}], [%full];
                    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2
                        [%to + HALF], [%b, {%at, %column}], [%full];
                    ring::next!(%stage, %parity, STAGES);
                    %at = %at + 64;
                }
                read_answer!(%fresh, %answered, answer, %taken, %more, %tile);
                %answered = %answered ^ 1;
                if !%more { break; }
            }
        } else if %t == 32 && %rank == 0 {
            // multiplies for both CTAs
            let %stage = 0;
            let %parity = 0;
            let %buffer = 0;
            let %free = 1;
            mov.u16 %both, 3;
            loop {
                ring::wait!(%drained + 8 * %buffer, %free);
                tcgen05.fence::after_thread_sync;
                let %sums = %tmem + 256 * %buffer;
                setp.ne.u32 %add, %base, %base;
                let %at = 0;
                while %at < k {
                    let %full = %barriers + 8 * %stage;
                    ring::wait!(%full, %parity);
                    tcgen05.fence::after_thread_sync;
                    %x = (%base + %stage * STAGE) / 16 + 0x10000;
                    let %low = %x;
                    @for S in 0..4 {
                        %low = %x + 2 * S;
                        mov.b64 %adesc, {%low, SWIZZLED};
                        %low = %low + HALF / 16;
                        mov.b64 %bdesc, {%low, SWIZZLED};
                        tcgen05.mma.cta_group::2.kind::f16 [%sums], %adesc, %bdesc, KIND, %add;
                        @if S == 0 { setp.eq.u32 %add, %base, %base; }
                    }
                    tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%full + 8 * STAGES], %both;
                    ring::next!(%stage, %parity, STAGES);
                    %at = %at + 64;
                }
                tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%ready + 8 * %buffer], %both;
                ring::next!(%buffer, %free, 2);
                read_answer!(%fresh, %answered, answer, %taken, %more, %tile);
                %answered = %answered ^ 1;
                if !%more { break; }
            }
        } else if %t == 64 {
            // asks for the next tile, for both CTAs
            let %free = 1;
            let %own = %ready + 40;
            loop {
                mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [%fresh], 16;
                if %rank == 0 {
                    ring::wait!(%own, %free);
                    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [answer], [%fresh];
                }
                read_answer!(%fresh, %answered, answer, %taken, %more, %tile);
                %answered = %answered ^ 1;
                %free = %free ^ 1;
                if !%more { break; }
            }
        } else if %warp >= 4 {
            // four warps write 32 rows each
            let %lane = %t % 32;
            let %within = %t % 128;
            let %first = %within == 0;
            let %mine = %base + RESULT + %within * 128;
            let %swizzle = (%within % 8) * 16;
            let %buffer = 0;
            let %parity = 0;
            mapa.shared::cluster.u32 %drained, %drained, 0;
            loop {
                tiles::grouped!(%tile, %rows, %columns, %row, %column, GROUP);
                %row = %row * 256 + %rank * 128;
                %column = %column * 256;
                ring::wait!(%ready + 8 * %buffer, %parity);
                tcgen05.fence::after_thread_sync;
                let %sums = %tmem + 256 * %buffer + (%warp % 4 << 21);
                @for J in 0..4 {
                    tcgen05.ld.sync.aligned.32x32b.x64.b32 {%v0..=%v63}, [%sums + 64 * J];
                    tcgen05.wait::ld.sync.aligned;
                    @if J == 3 {
                        // the buffer is free for the tile after the next
                        tcgen05.fence::before_thread_sync;
                        bar.warp.sync -1;
                        if %lane == 0 { mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%drained + 8 * %buffer]; }
                    }
                    // the store before the last one has read its box
                    @%first cp.async.bulk.wait_group.read 1;
                    barrier.cta.sync WRITERS, 128;
                    @for I in 0..8 {
                        @for H in 0..4 {
                            @if TYPE == 0 { cvt.rn.bf16x2.f32 %h{H}, %v{8 * I + 2 * H + 1}, %v{8 * I + 2 * H}; }
                            @if TYPE == 1 { cvt.rn.f16x2.f32 %h{H}, %v{8 * I + 2 * H + 1}, %v{8 * I + 2 * H}; }
                        }
                        st.shared.v4.b32 [%mine + (%swizzle ^ 16 * I) + HALF * (J % 2)], {%h0..=%h3};
                    }
                    fence.proxy.async.shared::cta;
                    barrier.cta.sync WRITERS, 128;
                    if %first {
                        cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%c, {%column + 64 * J, %row}], [%base + (RESULT + HALF * (J % 2))];
                        cp.async.bulk.commit_group;
                    }
                }
                ring::next!(%buffer, %parity, 2);
                if %lane == 0 {
                    read_answer!(%fresh, %answered, answer, %taken, %more, %tile);
                    selp.b32 %x, 1, 0, %more;
                }
                shfl.sync.idx.b32 %x, %x, 0, 31, 0xffffffff;
                shfl.sync.idx.b32 %tile, %tile, 0, 31, 0xffffffff;
                %answered = %answered ^ 1;
                if %x == 0 { break; }
            }
            @%first cp.async.bulk.wait_group 0;
        }
        bar.warp.sync -1;
        // no CTA ends before the other's arrivals and products
        tcgen05.fence::before_thread_sync;
        barrier.cluster.arrive.release;
        barrier.cluster.wait.acquire;
        tcgen05.fence::after_thread_sync;
        if %warp == 3 { tcgen05.dealloc.cta_group::2.sync.aligned.b32 %tmem, 512; }
        ret;
    }
}

/// Bytes of shared memory: the stages, two boxes of C, and the mbarriers.
const SHARED_MEMORY: u32 = 6 * 32768 + 16 * 5 + 48;

fn map<'a>(
    x: impl Into<Tensor<'a>>,
    element: ElementType,
    [rows, columns]: [usize; 2],
) -> Result<TensorMap<'a>, Error> {
    let map = TensorMap::tiled(x, element).dims([columns as u64, rows as u64]).box_dims([64, 128]);
    Ok(map.swizzle(Swizzle::B128).build()?)
}

macro_rules! front {
    ($(#[$doc:meta])* $name:ident, $ty:ty, $element:ident, $kind:literal) => {
        $(#[$doc])*
        ///
        /// `k` and `n` are multiples of 8, because a tensor map has rows of multiples of 16 bytes; `m` is any number.
        ///
        /// # Errors
        /// A length does not fit the shape, a dimension is 0, too large or not such a multiple, or the launch fails.
        pub fn $name(device: &impl Device, a: &[$ty], b: &[$ty], c: &mut [$ty], shape: Shape) -> Result<Report, Error> {
            let Shape { m, n, k } = shape;
            Error::unless_length("a", a.len(), m * k)?;
            Error::unless_length("b", b.len(), n * k)?;
            Error::unless_length("c", c.len(), m * n)?;
            let [rows, columns, depth] = [("m", m), ("n", n), ("k", k)].map(|(name, size)| Error::unless_u32(name, size));
            let (rows, columns, depth) = (rows?, columns?, depth?);
            let grid = Error::unless_u32("tiles", m.div_ceil(256) * n.div_ceil(256) * 2)?;
            let (a, b, c) = (map(a, ElementType::$element, [m, k])?, map(b, ElementType::$element, [n, k])?, map(c, ElementType::$element, [m, n])?);
            let launch = Launch::grid(grid).dynamic_shared(SHARED_MEMORY);
            Ok(gemm_pair::<$kind>.launch(device, launch, (&a, &b, &c, rows, columns, depth))?)
        }
    };
}
front!(
    /// C = A * B^T of bf16, rounded to bf16.
    bf16_bf16, bf16, Bf16, 0);
front!(
    /// C = A * B^T of f16, rounded to f16.
    f16_f16, f16, F16, 1);
