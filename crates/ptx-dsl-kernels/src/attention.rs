//! Attention for Hopper, forward: O = softmax(scale * Q * K^T) * V for each head, in bf16 with sums in f32.
//!
//! A CTA computes 128 rows of one head. One thread loads Q, then blocks of 128 keys and their values, into a ring of two stages each. Two
//! warpgroups have 64 rows each. Scores, weights and sums stay in registers: the scores of the first `wgmma` are, as bf16, the first
//! operand of the second. A warpgroup issues the scores of the next block before the sums of this one, and computes exponentials while
//! the tensor cores add up; the two warpgroups take turns, so that one multiplies while the other has exponentials to compute.
//!
//! Blocks come from the last to the first, because only the last one has keys that do not count: those after the end, and with a causal
//! mask those after the row.

use crate::Error;
use half::bf16;
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};

ptx! {
    <sm_90a, ptx 8.6>
    use crate::parts::{products, results, ring, weights};

    /// Rows of a CTA, and keys of a block.
    const ROWS: u32 = 128;
    const STAGES: u32 = 2;
    /// 128 rows of 64 elements, which a tensor copy writes with the 128-byte swizzle.
    const BOX: u32 = 16384;

    .extern .shared .align 1024 .b8 memory[];

    /// Asks for all columns of 128 rows of a head, in boxes of 64.
    .inline fetch(.reg .b64 %map, .b32 to, .b32 row, .b32 head, .b32 barrier, const D: u32) {
        .reg .b32 %to;
        mov.b32 %to, to;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], D / 64 * BOX;
        @for J in 0..D / 64 {
            cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
                [%to + BOX * J], [%map, {64 * J, row, head}], [barrier];
        }
    }

    /// `D` elements are in a row. Row i sees keys up to i if `CAUSAL` is 1, else all. The maps have boxes of 64 x 128 x 1 elements, that of
    /// O 64 x 64 x 1, over elements, rows and heads. `scale` is that of the scores, times log2(e).
    .visible .entry attention<const D: u32 in [128, 64], const CAUSAL: u32 in [0, 1]>(
        .param .align 64 .b8 q[128]: &TensorMap,
        .param .align 64 .b8 k[128]: &TensorMap,
        .param .align 64 .b8 v[128]: &TensorMap,
        .param .align 64 .b8 o[128]: &TensorMap,
        .param .u32 keys,
        .param .f32 scale)
    .reqntid 384 .minnctapersm 1
    {
        // Q, which becomes O; the stages of K; the stages of V; the mbarriers of K, of V, and of Q
        const BYTES: u32 = D / 64 * BOX;
        const KEYS: u32 = BYTES;
        const VALUES: u32 = KEYS + STAGES * BYTES;
        const BARRIERS: u32 = VALUES + STAGES * BYTES;
        // barriers of the CTA: the turns of the warpgroups, and one for the epilogue of each
        const TURN: u32 = 1;
        const EPILOGUE: u32 = 3;
        /// With 64 elements of a row the unit for exponentials is the bottleneck.
        const SOFT: u32 = 128 / D - 1;

        .reg .pred %p, %add<2>;
        .reg .b32 %qdesc, %kdesc, %vdesc, %x, %y, %limit<2>, %place<4>, %p<32>;
        .reg .b64 %q, %k, %v, %o;
        .reg .f32 %scale, %max<2>, %factor<2>, %sum<2>, %s<64>, %o<D / 2>;

        let %t = %tid.x;
        let %group = %t / 128;
        shfl.sync.idx.b32 %group, %group, 0, 31, 0xffffffff;
        let %base = memory;
        let %kbarriers = %base + BARRIERS;
        let %vbarriers = %kbarriers + 16 * STAGES;
        let %qbarrier = %vbarriers + 16 * STAGES;
        mov.b64 %q, q;
        cvta.param.u64 %q, %q;
        mov.b64 %k, k;
        cvta.param.u64 %k, %k;
        mov.b64 %v, v;
        cvta.param.u64 %v, %v;
        mov.b64 %o, o;
        cvta.param.u64 %o, %o;
        // with a causal mask the longest rows come first
        let %row = %ctaid.x * ROWS;
        let %blocks = (keys + (ROWS - 1)) / ROWS;
        @if CAUSAL == 1 {
            %row = (%nctaid.x - 1 - %ctaid.x) * ROWS;
            %blocks = min(%blocks, %row / ROWS + 1);
        }
        let %head = %ctaid.y;
        let %last = (%blocks - 1) * ROWS;
        if %t == 0 {
            prefetch.tensormap [%q];
            prefetch.tensormap [%k];
            prefetch.tensormap [%v];
            prefetch.tensormap [%o];
            mbarrier.init.shared::cta.b64 [%qbarrier], 1;
            ring::init!(%vbarriers, STAGES, 2);
            ring::init!(%kbarriers, STAGES, 2);
        }
        barrier.cta.sync 0;

        if %group == 0 {
            // one thread loads: Q, then blocks of keys and their values from the last to the first
            setmaxnreg.dec.sync.aligned.u32 24;
            if %t != 0 { bra done; }
            fetch!(%q, %base, %row, %head, %qbarrier, D);
            let %stage = 0;
            let %parity = 1;
            let %key = %last;
            let %left = %blocks;
            loop {
                let %kfull = %kbarriers + 8 * %stage;
                let %kempty = %kfull + 8 * STAGES;
                ring::wait!(%kempty, %parity);
                let %to = %base + %stage * BYTES + KEYS;
                fetch!(%k, %to, %key, %head, %kfull, D);
                let %vfull = %vbarriers + 8 * %stage;
                let %vempty = %vfull + 8 * STAGES;
                ring::wait!(%vempty, %parity);
                %to = %to + (VALUES - KEYS);
                fetch!(%v, %to, %key, %head, %vfull, D);
                ring::next!(%stage, %parity, STAGES);
                %key = %key - ROWS;
                %left = %left - 1;
                if %left == 0 { break; }
            }
        } else {
            // two warpgroups compute
            setmaxnreg.inc.sync.aligned.u32 240;
            %group = %group - 1;
            let %turn = %group + TURN;
            let %other = (%group ^ 1) + TURN;
            let %named = %group + EPILOGUE;
            let %w = %t % 128;
            let %first = %w == 0;
            setp.ne.u32 %add0, %base, %base;
            setp.eq.u32 %add1, %base, %base;
            let %mine = %base + %group * (64 * 128);
            products::rows!(%qdesc, %mine);
            %x = %base + KEYS;
            products::rows!(%kdesc, %x);
            %x = %base + VALUES;
            products::columns!(%vdesc, %x, BOX);
            ld.param.f32 %scale, [scale];
            %row = %row + %group * 64;
            @for I in 0..D / 2 { mov.f32 %o{I}, 0f00000000; }
            @for R in 0..2 {
                mov.f32 %max{R}, 0fFF800000;
                mov.f32 %sum{R}, 0f00000000;
                // the last key that the thread's row sees, from the first column of the thread in the last block
                %x = keys - 1;
                @if CAUSAL == 1 { %x = min(%x, %row + (%w >> 5) * 16 + (%w >> 2 & 7) + 8 * R); }
                %limit{R} = %x - %last - (%w & 3) * 2;
            }
            // the first turn is that of warpgroup 0
            if %group == 1 { barrier.cta.arrive.aligned TURN, 256; }
            %x = 0;
            ring::wait!(%qbarrier, %x);
            // the ring of V is a block behind that of K
            let %stage = 0;
            let %parity = 0;
            let %vstage = 0;
            let %vparity = 0;
            let %left = %blocks;
            @peel FIRST loop {
                let %kfull = %kbarriers + 8 * %stage;
                ring::wait!(%kfull, %parity);
                barrier.cta.sync.aligned %turn, 256;
                wgmma.fence.sync.aligned;
                let %kblock = %kdesc + %stage * (BYTES / 16);
                @for S in 0..D / 16 {
                    %x = %qdesc + (BOX / 16 * (S / 4) + 2 * (S % 4));
                    %y = %kblock + (BOX / 16 * (S / 4) + 2 * (S % 4));
                    products::multiply.bf16!({%s0..=%s63}, %x, %y, %add{S > 0}, 128);
                }
                wgmma.commit_group.sync.aligned;
                let %vfull = %vbarriers + 8 * %vstage;
                let %vblock = %vdesc + %vstage * (BYTES / 16);
                @if FIRST == 0 {
                    // meanwhile the sums get the new maximum; then the weights of the block before times its values
                    weights::rescale!({%o0..=%o{D / 2 - 1}}, {%factor0, %factor1}, D);
                    ring::wait!(%vfull, %vparity);
                    wgmma.fence.sync.aligned;
                    @for S in 0..ROWS / 16 {
                        %x = %vblock + 128 * S;
                        products::accumulate!({%o0..=%o{D / 2 - 1}}, {%p{4 * S}..=%p{4 * S + 3}}, %x, %add1, D);
                    }
                    wgmma.commit_group.sync.aligned;
                }
                // the other's turn; after the last one there is none
                if %left > 1 || %group == 0 { barrier.cta.arrive.aligned %other, 256; }
                wgmma.wait_group.sync.aligned 1 - FIRST;
                @%first mbarrier.arrive.shared::cta.b64 _, [%kfull + 8 * STAGES];
                @if FIRST {
                    %stage = 1;
                    @for I in 0..64 {
                        setp.lt.s32 %p, %limit{I / 2 & 1}, 8 * (I / 4) + (I & 1);
                        @%p mov.f32 %s{I}, 0fFF800000;
                    }
                    weights::weigh!({%s0..=%s63}, {%max0, %max1}, {%sum0, %sum1}, {%factor0, %factor1}, %scale, 128);
                } else {
                    ring::next!(%stage, %parity, STAGES);
                    weights::weigh!({%s0..=%s63}, {%max0, %max1}, {%sum0, %sum1}, {%factor0, %factor1}, %scale, 128, SOFT);
                    wgmma.wait_group.sync.aligned 0;
                    @%first mbarrier.arrive.shared::cta.b64 _, [%vfull + 8 * STAGES];
                    ring::next!(%vstage, %vparity, STAGES);
                }
                @for I in 0..32 { cvt.rn.bf16x2.f32 %p{I}, %s{2 * I + 1}, %s{2 * I}; }
                %left = %left - 1;
                if %left == 0 { break; }
            }
            weights::rescale!({%o0..=%o{D / 2 - 1}}, {%factor0, %factor1}, D);
            let %vlast = %vbarriers + 8 * %vstage;
            ring::wait!(%vlast, %vparity);
            let %vblock = %vdesc + %vstage * (BYTES / 16);
            wgmma.fence.sync.aligned;
            @for S in 0..ROWS / 16 {
                %x = %vblock + 128 * S;
                products::accumulate!({%o0..=%o{D / 2 - 1}}, {%p{4 * S}..=%p{4 * S + 3}}, %x, %add1, D);
            }
            wgmma.commit_group.sync.aligned;
            weights::finish!({%sum0, %sum1});
            wgmma.wait_group.sync.aligned 0;
            weights::rescale!({%o0..=%o{D / 2 - 1}}, {%sum0, %sum1}, D);

            // O takes the place of the warpgroup's rows of Q
            results::places16!(%place<4>, %mine, %w);
            results::store16.bf16x2!({%o0..=%o{D / 2 - 1}}, %place<4>, D, BOX);
            fence.proxy.async.shared::cta;
            barrier.cta.sync %named, 128;
            if %first {
                @for J in 0..D / 64 {
                    cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%o, {64 * J, %row, %head}], [%mine + BOX * J];
                }
                cp.async.bulk.commit_group;
                cp.async.bulk.wait_group 0;
            }
        }
    done:
        ret;
    }
}

/// The sizes of an attention: Q and O are `heads` x `queries` x `dimension`, K and V `heads` x `keys` x `dimension`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Heads of all members of a batch.
    pub heads: usize,
    /// Rows of Q and O.
    pub queries: usize,
    /// Rows of K and V.
    pub keys: usize,
    /// Elements of a row: 64 or 128.
    pub dimension: usize,
    /// Row i sees keys 0 to i.
    pub causal: bool,
}

/// Bytes of shared memory of an instance.
pub const fn shared_memory(dimension: u32) -> u32 {
    dimension / 64 * 16384 * 5 + 72
}

fn map<'a>(
    x: impl Into<ptx_dsl::tensor_map::Tensor<'a>>,
    sizes: [usize; 3],
    rows: u32,
) -> Result<TensorMap<'a>, Error> {
    let map = TensorMap::tiled(x, ElementType::Bf16).dims(sizes.map(|size| size as u64)).box_dims([64, rows, 1]);
    Ok(map.swizzle(Swizzle::B128).build()?)
}

/// O = softmax(scale * Q * K^T) * V for each head. The weights are rounded to bf16, the sums are f32.
///
/// # Errors
/// A length does not fit the shape, the dimension is neither 64 nor 128, there are no keys, or the launch fails.
pub fn attention_bf16(
    device: &impl Device,
    q: &[bf16],
    k: &[bf16],
    v: &[bf16],
    o: &mut [bf16],
    shape: Shape,
    scale: f32,
) -> Result<Report, Error> {
    let Shape { heads, queries, keys, dimension, causal } = shape;
    Error::unless_length("q", q.len(), heads * queries * dimension)?;
    Error::unless_length("k", k.len(), heads * keys * dimension)?;
    Error::unless_length("v", v.len(), heads * keys * dimension)?;
    Error::unless_length("o", o.len(), heads * queries * dimension)?;
    let count = Error::unless_u32("keys", keys)?;
    let grid = (Error::unless_u32("queries", queries)?.div_ceil(128), Error::unless_u32("heads", heads)?);
    let q = map(q, [dimension, queries, heads], 128)?;
    let k = map(k, [dimension, keys, heads], 128)?;
    let v = map(v, [dimension, keys, heads], 128)?;
    let o = map(o, [dimension, queries, heads], 64)?;
    let launch = Launch::grid(grid).dynamic_shared(shared_memory(dimension as u32));
    let arguments = (&q, &k, &v, &o, count, scale * std::f32::consts::LOG2_E);
    Ok(match (dimension, causal) {
        (128, false) => attention::<128, 0>.launch(device, launch, arguments),
        (128, true) => attention::<128, 1>.launch(device, launch, arguments),
        (64, false) => attention::<64, 0>.launch(device, launch, arguments),
        (64, true) => attention::<64, 1>.launch(device, launch, arguments),
        _ => return Err(Error::Dimension { name: "dimension", has: dimension, wants: "64 or 128" }),
    }?)
}
