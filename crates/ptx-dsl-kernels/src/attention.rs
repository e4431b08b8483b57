//! Attention for Hopper, forward: O = softmax(scale * Q * K^T) * V for each head, in bf16 with sums in f32.
//!
//! A CTA computes 128 rows of one head (192, if they have 64 elements), then others, until all are done. One thread loads Q, and blocks of 128 keys and their
//! values into a ring each, for the next rows too. Two or three warpgroups have 64 rows each. Scores, weights and sums stay in
//! registers: the scores of the first `wgmma` are, as bf16, the first operand of the second. A warpgroup issues the scores of the next block
//! before the sums of this one, and computes exponentials while the tensor cores add up; the warpgroups take turns, so that one multiplies
//! while the others have exponentials to compute.
//!
//! Blocks come from the last to the first, because only the last ones have keys that do not count: those after the end, and with a causal
//! mask those after the row.

use crate::Error;
use crate::gemm::MULTIPROCESSORS;
use half::bf16;
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;
use ptx_dsl::tensor_map::{ElementType, Swizzle, TensorMap};

ptx! {
    <sm_90a, ptx 8.6>
    use crate::parts::{products, results, ring, weights};

    /// Keys of a block.
    const KEYS: u32 = 128;
    /// A block of 64 columns of keys or values, which a tensor copy writes with the 128-byte swizzle.
    const BOX: u32 = KEYS * 128;

    .extern .shared .align 1024 .b8 memory[];

    /// Asks for all columns of some rows of a head, in boxes of 64.
    .inline fetch(.reg .b64 %map, .b32 to, .b32 row, .b32 head, .b32 barrier, const D: u32, const BYTES: u32) {
        .reg .b32 %to;
        mov.b32 %to, to;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], D / 64 * BYTES;
        @for J in 0..D / 64 {
            cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
                [%to + BYTES * J], [%map, {64 * J, row, head}], [barrier];
        }
    }

    /// The rows of a piece of work: where they begin, how many blocks of keys they see, and where the next piece is. Pieces are numbered head
    /// by head. With a causal mask a piece is two tiles, the first from the end and the first from the beginning, so that all pieces are
    /// equally long; `%half` is 0 or 1, and the tile in the middle has no second half.
    .inline place(
        .b32 piece, .b32 half, .b32 length, .b32 keys, .reg .b32 %row, .reg .b32 %blocks, const ROWS: u32, const CAUSAL: u32)
    {
        .reg .b32 %tiles, %mirrored;
        %tiles = length + (ROWS - 1);
        div.u32 %tiles, %tiles, ROWS;
        %blocks = (keys + (KEYS - 1)) / KEYS;
        mov.b32 %row, piece;
        @if CAUSAL == 1 {
            %mirrored = %tiles - 1 - piece;
            // beyond the middle, or in it for the second time
            if piece * 2 + half >= %tiles { %blocks = 0; }
            if half == 0 { %row = %mirrored; }
            %blocks = min(%blocks, (%row * ROWS + (ROWS + KEYS - 1)) / KEYS);
        } else {
            if piece >= %tiles { %blocks = 0; }
        }
        %row = %row * ROWS;
    }

    /// Which piece of which head, and in a batch of several lengths where its sequence begins, and how long it is.
    .inline find(
        .b32 work, .b32 pieces, .b32 heads, .reg .b64 %starts, .reg .b32 %piece, .reg .b32 %head, .reg .b32 %start, .reg .b32 %length,
        .reg .b32 %keys, const SEVERAL: u32)
    {
        div.u32 %head, work, pieces;
        %piece = work - %head * pieces;
        @if SEVERAL == 1 {
            let %sequence = %head;
            div.u32 %sequence, %head, heads;
            %head = %head - %sequence * heads;
            let %at = %starts + %sequence as u64 * 4;
            ld.global.nc.u32 %start, [%at];
            ld.global.nc.u32 %length, [%at + 4];
            %length = %length - %start;
            %keys = %length;
        }
    }

    /// `D` elements are in a row. Row i sees keys up to i if `CAUSAL` is 1, else all. The maps are over elements, rows and heads, and have boxes
    /// of 64 columns: those of Q have as many rows as a CTA, 128 or 192, those of K and V 128, those of O 64. A head has `pieces` of
    /// work. `scale` is that of the scores, times log2(e), and positive.
    ///
    /// If `SEVERAL` is 1, the rows of a head are those of several sequences, one after the other: sequence i begins at row `starts[i]`, and a row
    /// sees the keys of its sequence. Then O is written to `out`, which has `total` rows for each head, and the map of O is not used.
    .visible .entry attention<const D: u32 in [128, 64], const CAUSAL: u32 in [0, 1], const SEVERAL: u32 in [0, 1]>(
        .param .align 64 .b8 q[128]: &TensorMap,
        .param .align 64 .b8 k[128]: &TensorMap,
        .param .align 64 .b8 v[128]: &TensorMap,
        .param .align 64 .b8 o[128]: &TensorMap,
        .param .u32 queries,
        .param .u32 keys,
        .param .u32 pieces,
        .param .u32 heads,
        .param .u32 works,
        .param .f32 scale,
        .param .u64 .ptr .global .align 4 starts: &[u32],
        .param .u64 .ptr .global .align 16 out: &mut [bf16],
        .param .u32 total)
    .reqntid 640 - 2 * D .minnctapersm 1
    {
        /// Warpgroups that compute: more of them hide more of the exponentials, if a row is short enough for their registers.
        const GROUPS: u32 = 4 - D / 64;
        const ROWS: u32 = 64 * GROUPS;
        const QBOX: u32 = ROWS * 128;
        /// Stages of K and of V.
        const STAGES: u32 = 6 - D / 32;
        // Q of these rows and of the next, then O, the stages of K, the stages of V, and the mbarriers of K, of V, and of Q
        const BYTES: u32 = D / 64 * BOX;
        const QBYTES: u32 = D / 64 * QBOX;
        const OUT: u32 = 2 * QBYTES;
        const KSTAGES: u32 = OUT + QBYTES;
        const VSTAGES: u32 = KSTAGES + STAGES * BYTES;
        const BARRIERS: u32 = VSTAGES + STAGES * BYTES;
        // barriers of the CTA: the turns of the warpgroups, and one for the epilogue of each
        const TURN: u32 = 1;
        const EPILOGUE: u32 = 1 + GROUPS;
        const LAST: u32 = GROUPS - 1;
        /// Registers of a thread that loads, and of one that computes.
        const FEW: u32 = 8 + 8 * GROUPS;
        const MANY: u32 = 400 - 80 * GROUPS;

        .reg .pred %p, %grown, %add<2>;
        .reg .b32 %qdesc, %kdesc, %vdesc, %x, %y, %limit<2>, %place<4>, %p<32>, %row, %head, %blocks, %piece, %start, %length, %keys;
        .reg .b64 %q, %k, %v, %o, %starts;
        .reg .f32 %scale, %max<2>, %factor<2>, %sum<2>, %s<64>, %o<D / 2>;

        let %t = %tid.x;
        let %group = %t / 128;
        shfl.sync.idx.b32 %group, %group, 0, 31, 0xffffffff;
        let %base = memory;
        let %kbarriers = %base + BARRIERS;
        let %vbarriers = %kbarriers + 16 * STAGES;
        let %qfull = %vbarriers + 16 * STAGES;
        mov.b64 %q, q;
        cvta.param.u64 %q, %q;
        mov.b64 %k, k;
        cvta.param.u64 %k, %k;
        mov.b64 %v, v;
        cvta.param.u64 %v, %v;
        mov.b64 %o, o;
        cvta.param.u64 %o, %o;
        ld.param.u64 %starts, [starts];
        let %work = %ctaid.x;
        let %half = 0;
        if %t == 0 {
            prefetch.tensormap [%q];
            prefetch.tensormap [%k];
            prefetch.tensormap [%v];
            prefetch.tensormap [%o];
            ring::init!(%qfull, 2, GROUPS);
            ring::init!(%vbarriers, STAGES, GROUPS);
            ring::init!(%kbarriers, STAGES, GROUPS);
        }
        barrier.cta.sync 0;

        let %stage = 0;
        let %qstage = 0;
        let %qparity = 0;
        if %group == 0 {
            // one thread loads: Q, then blocks of keys and their values from the last to the first
            setmaxnreg.dec.sync.aligned.u32 FEW;
            if %t != 0 { bra done; }
            let %parity = 1;
            %qparity = 1;
            while %work < works {
                %start = 0;
                %length = queries;
                %keys = keys;
                find!(%work, pieces, heads, %starts, %piece, %head, %start, %length, %keys, SEVERAL);
                place!(%piece, %half, %length, %keys, %row, %blocks, ROWS, CAUSAL);
                if %blocks != 0 {
                    let %full = %qfull + 8 * %qstage;
                    ring::wait!(%full + 16, %qparity);
                    %row = %row + %start;
                    let %place = %base + %qstage * QBYTES;
                    fetch!(%q, %place, %row, %head, %full, D, QBOX);
                    ring::next!(%qstage, %qparity, 2);
                    let %key = (%blocks - 1) * KEYS + %start;
                    loop {
                        let %kfull = %kbarriers + 8 * %stage;
                        let %kempty = %kfull + 8 * STAGES;
                        ring::wait!(%kempty, %parity);
                        let %to = %base + %stage * BYTES + KSTAGES;
                        fetch!(%k, %to, %key, %head, %kfull, D, BOX);
                        let %vfull = %vbarriers + 8 * %stage;
                        let %vempty = %vfull + 8 * STAGES;
                        ring::wait!(%vempty, %parity);
                        %to = %to + (VSTAGES - KSTAGES);
                        fetch!(%v, %to, %key, %head, %vfull, D, BOX);
                        ring::next!(%stage, %parity, STAGES);
                        %key = %key - KEYS;
                        %blocks = %blocks - 1;
                        if %blocks == 0 { break; }
                    }
                }
                @if CAUSAL == 1 {
                    %half = %half ^ 1;
                    if %half == 0 { %work = %work + %nctaid.x; }
                } else {
                    %work = %work + %nctaid.x;
                }
            }
        } else {
            // the other warpgroups compute
            setmaxnreg.inc.sync.aligned.u32 MANY;
            %group = %group - 1;
            let %turn = %group + TURN;
            let %other = %turn + 1;
            if %group == LAST { %other = TURN; }
            let %named = %group + EPILOGUE;
            let %w = %t % 128;
            let %first = %w == 0;
            setp.ne.u32 %add0, %base, %base;
            setp.eq.u32 %add1, %base, %base;
            let %mine = %base + %group * (64 * 128);
            products::rows!(%qdesc, %mine);
            %mine = %mine + OUT;
            results::places16!(%place<4>, %mine, %w);
            %x = %base + KSTAGES;
            products::rows!(%kdesc, %x);
            %x = %base + VSTAGES;
            products::columns!(%vdesc, %x, BOX);
            ld.param.f32 %scale, [scale];
            // the ring of V is a block behind that of K
            let %parity = 0;
            let %vstage = 0;
            let %vparity = 0;
            let %qempty = 0;
            let %qblock = 0;
            // the first turn is that of warpgroup 0
            if %group == LAST { barrier.cta.arrive.aligned TURN, 256; }
            while %work < works {
                %start = 0;
                %length = queries;
                %keys = keys;
                find!(%work, pieces, heads, %starts, %piece, %head, %start, %length, %keys, SEVERAL);
                place!(%piece, %half, %length, %keys, %row, %blocks, ROWS, CAUSAL);
                if %blocks != 0 {
                    %row = %row + %group * 64;
                    ring::wait!(%qfull + 8 * %qstage, %qparity);
                    %qempty = %qfull + 16 + 8 * %qstage;
                    %qblock = %qdesc + %qstage * (QBYTES / 16);
                    ring::next!(%qstage, %qparity, 2);
                    // blocks that none of the warpgroup's rows sees pass by
                    let %own = 0;
                    if %row < %length {
                        %own = %blocks;
                        @if CAUSAL == 1 { %own = min(%own, (%row + (64 + KEYS - 1)) / KEYS); }
                    }
                    while %blocks > %own {
                        let %kfull = %kbarriers + 8 * %stage;
                        ring::wait!(%kfull, %parity);
                        barrier.cta.sync.aligned %turn, 256;
                        barrier.cta.arrive.aligned %other, 256;
                        @%first mbarrier.arrive.shared::cta.b64 _, [%kfull + 8 * STAGES];
                        ring::next!(%stage, %parity, STAGES);
                        let %vfull = %vbarriers + 8 * %vstage;
                        ring::wait!(%vfull, %vparity);
                        @%first mbarrier.arrive.shared::cta.b64 _, [%vfull + 8 * STAGES];
                        ring::next!(%vstage, %vparity, STAGES);
                        %blocks = %blocks - 1;
                    }
                    if %own == 0 { @%first mbarrier.arrive.shared::cta.b64 _, [%qempty]; }
                }
                if %blocks != 0 {
                    let %last = (%blocks - 1) * KEYS;
                    @for I in 0..D / 2 { mov.f32 %o{I}, 0f00000000; }
                    @for R in 0..2 {
                        // no infinity, whose difference from itself has no value
                        mov.f32 %max{R}, 0fFF7FFFFF;
                        mov.f32 %sum{R}, 0f00000000;
                        // the last key that the thread's row sees, from the first column of the thread in the last block
                        %x = %keys - 1;
                        @if CAUSAL == 1 { %x = min(%x, %row + (%w >> 5) * 16 + (%w >> 2 & 7) + 8 * R); }
                        %limit{R} = %x - %last - (%w & 3) * 2;
                    }
                    @peel FIRST loop {
                        let %kfull = %kbarriers + 8 * %stage;
                        ring::wait!(%kfull, %parity);
                        barrier.cta.sync.aligned %turn, 256;
                        wgmma.fence.sync.aligned;
                        let %kblock = %kdesc + %stage * (BYTES / 16);
                        @for S in 0..D / 16 {
                            %x = %qblock + (QBOX / 16 * (S / 4) + 2 * (S % 4));
                            %y = %kblock + (BOX / 16 * (S / 4) + 2 * (S % 4));
                            products::multiply.bf16!({%s0..=%s63}, %x, %y, %add{S > 0}, 128);
                        }
                        wgmma.commit_group.sync.aligned;
                        let %vfull = %vbarriers + 8 * %vstage;
                        let %vblock = %vdesc + %vstage * (BYTES / 16);
                        @if FIRST == 0 {
                            // meanwhile the sums get the new maximum; then the weights of the block before times its values
                            if %grown { weights::rescale!({%o0..=%o{D / 2 - 1}}, {%factor0, %factor1}, D); }
                            ring::wait!(%vfull, %vparity);
                            wgmma.fence.sync.aligned;
                            @for S in 0..KEYS / 16 {
                                %x = %vblock + 128 * S;
                                products::accumulate!({%o0..=%o{D / 2 - 1}}, {%p{4 * S}..=%p{4 * S + 3}}, %x, %add1, D);
                            }
                            wgmma.commit_group.sync.aligned;
                        }
                        barrier.cta.arrive.aligned %other, 256;
                        wgmma.wait_group.sync.aligned 1 - FIRST;
                        @%first mbarrier.arrive.shared::cta.b64 _, [%kfull + 8 * STAGES];
                        ring::next!(%stage, %parity, STAGES);
                        @if FIRST {
                            @for I in 0..64 {
                                setp.lt.s32 %p, %limit{I / 2 & 1}, 8 * (I / 4) + (I & 1);
                                @%p mov.f32 %s{I}, 0fFF800000;
                            }
                            weights::weigh!({%s0..=%s63}, {%max0, %max1}, {%sum0, %sum1}, {%factor0, %factor1}, %scale, %grown, 128);
                        } else {
                            weights::weigh!({%s0..=%s63}, {%max0, %max1}, {%sum0, %sum1}, {%factor0, %factor1}, %scale, %grown, 128);
                            wgmma.wait_group.sync.aligned 0;
                            @%first mbarrier.arrive.shared::cta.b64 _, [%vfull + 8 * STAGES];
                            ring::next!(%vstage, %vparity, STAGES);
                        }
                        @for I in 0..32 { cvt.rn.bf16x2.f32 %p{I}, %s{2 * I + 1}, %s{2 * I}; }
                        %blocks = %blocks - 1;
                        if %blocks == 0 { break; }
                    }
                    // Q has been read
                    @%first mbarrier.arrive.shared::cta.b64 _, [%qempty];
                    if %grown { weights::rescale!({%o0..=%o{D / 2 - 1}}, {%factor0, %factor1}, D); }
                    let %vlast = %vbarriers + 8 * %vstage;
                    ring::wait!(%vlast, %vparity);
                    let %vblock = %vdesc + %vstage * (BYTES / 16);
                    wgmma.fence.sync.aligned;
                    @for S in 0..KEYS / 16 {
                        %x = %vblock + 128 * S;
                        products::accumulate!({%o0..=%o{D / 2 - 1}}, {%p{4 * S}..=%p{4 * S + 3}}, %x, %add1, D);
                    }
                    wgmma.commit_group.sync.aligned;
                    weights::finish!({%sum0, %sum1});
                    wgmma.wait_group.sync.aligned 0;
                    @%first mbarrier.arrive.shared::cta.b64 _, [%vlast + 8 * STAGES];
                    ring::next!(%vstage, %vparity, STAGES);
                    weights::rescale!({%o0..=%o{D / 2 - 1}}, {%sum0, %sum1}, D);

                    // the store of the rows before has read their O
                    @%first cp.async.bulk.wait_group.read 0;
                    barrier.cta.sync %named, 128;
                    results::store16.bf16x2!({%o0..=%o{D / 2 - 1}}, %place<4>, D, 128, QBOX);
                    fence.proxy.async.shared::cta;
                    barrier.cta.sync %named, 128;
                    @if SEVERAL == 0 {
                        if %first {
                            @for J in 0..D / 64 {
                                cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%o, {64 * J, %row, %head}], [%mine + QBOX * J];
                            }
                            cp.async.bulk.commit_group;
                        }
                    } else {
                        // what follows are rows of another sequence: no tensor store. A thread has a piece of 16 bytes of every eighth or
                        // sixteenth row
                        let %line = %w / (D / 8);
                        let %column = %w % (D / 8);
                        let %from = %mine + %line * 128 + ((%column ^ %line) % 8) * 16 + %column / 8 * QBOX;
                        %row = %row + %line;
                        let %to = out + ((%head * total + %start + %row) as u64) * (2 * D) + (%column as u64) * 16;
                        @for I in 0..D / 16 {
                            if %row + 1024 / D * I < %length {
                                ld.shared.v4.b32 {%p0..=%p3}, [%from + 131072 / D * I];
                                st.global.v4.b32 [%to + 2048 * I], {%p0..=%p3};
                            }
                        }
                    }
                }
                @if CAUSAL == 1 {
                    %half = %half ^ 1;
                    if %half == 0 { %work = %work + %nctaid.x; }
                } else {
                    %work = %work + %nctaid.x;
                }
            }
            // the last turn that was given
            if %group == 0 { barrier.cta.sync.aligned TURN, 256; }
            @%first cp.async.bulk.wait_group 0;
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

/// Rows that a CTA computes at a time.
const fn rows(dimension: u32) -> u32 {
    if dimension == 64 { 192 } else { 128 }
}

/// Bytes of shared memory of an instance: Q twice and O, the stages of K and of V, and the mbarriers.
pub const fn shared_memory(dimension: u32) -> u32 {
    let stages = 6 - dimension / 32;
    dimension / 64 * 128 * (3 * rows(dimension) + 2 * stages * 128) + 32 * stages + 32
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
    if dimension != 64 && dimension != 128 {
        return Err(Error::Dimension { name: "dimension", has: dimension, wants: "64 or 128" });
    }
    let height = rows(dimension as u32);
    let count = Error::unless_u32("keys", keys)?;
    let pieces = pieces(Error::unless_u32("queries", queries)?, dimension, causal);
    let works = Error::unless_u32("heads", pieces as usize * heads)?;
    let q = map(q, [dimension, queries, heads], height)?;
    let k = map(k, [dimension, keys, heads], 128)?;
    let v = map(v, [dimension, keys, heads], 128)?;
    let o = map(o, [dimension, queries, heads], 64)?;
    let size = (queries as u32, count, pieces, heads as u32, works);
    launch(device, (&q, &k, &v, &o), size, scale, (&[], &mut [], 0), (dimension, causal))
}

/// Pieces of work of a head: tiles, or with a causal mask two of them.
fn pieces(queries: u32, dimension: usize, causal: bool) -> u32 {
    let tiles = queries.div_ceil(rows(dimension as u32));
    if causal { tiles.div_ceil(2) } else { tiles }
}

/// Launches an instance. Without `starts` there is one sequence of `queries` rows and `keys` keys.
fn launch(
    device: &impl Device,
    (q, k, v, o): (&TensorMap, &TensorMap, &TensorMap, &TensorMap),
    (queries, keys, pieces, heads, works): (u32, u32, u32, u32, u32),
    scale: f32,
    (starts, out, total): (&[u32], &mut [bf16], u32),
    (dimension, causal): (usize, bool),
) -> Result<Report, Error> {
    let launch = Launch::grid(works.min(MULTIPROCESSORS)).dynamic_shared(shared_memory(dimension as u32));
    let scale = scale * std::f32::consts::LOG2_E;
    let several = !starts.is_empty();
    let arguments = (q, k, v, o, queries, keys, pieces, heads, works, scale, starts, out, total);
    Ok(match (dimension, causal, several) {
        (128, false, false) => attention::<128, 0, 0>.launch(device, launch, arguments),
        (128, false, true) => attention::<128, 0, 1>.launch(device, launch, arguments),
        (128, true, false) => attention::<128, 1, 0>.launch(device, launch, arguments),
        (128, true, true) => attention::<128, 1, 1>.launch(device, launch, arguments),
        (_, false, false) => attention::<64, 0, 0>.launch(device, launch, arguments),
        (_, false, true) => attention::<64, 0, 1>.launch(device, launch, arguments),
        (_, true, false) => attention::<64, 1, 0>.launch(device, launch, arguments),
        (_, true, true) => attention::<64, 1, 1>.launch(device, launch, arguments),
    }?)
}

/// Attention within each of several sequences: Q, K, V and O are `heads` x rows x `dimension`, and sequence i has the rows from `starts[i]` up to
/// `starts[i + 1]` of each head. It may be empty. With `causal` a row sees no later one. A NaN or an infinity in the values of a sequence can
/// make NaNs of the rows of the one before.
///
/// # Errors
/// A length does not fit, `starts` does not ascend from 0, the dimension is neither 64 nor 128, or the launch fails.
#[expect(clippy::too_many_arguments, reason = "four matrices and their sizes")]
pub fn attention_lengths_bf16(
    device: &impl Device,
    q: &[bf16],
    k: &[bf16],
    v: &[bf16],
    o: &mut [bf16],
    starts: &[u32],
    [heads, dimension]: [usize; 2],
    causal: bool,
    scale: f32,
) -> Result<Report, Error> {
    if dimension != 64 && dimension != 128 {
        return Err(Error::Dimension { name: "dimension", has: dimension, wants: "64 or 128" });
    }
    let total = starts.last().copied().unwrap_or(0) as usize;
    if starts.first() != Some(&0) || !starts.is_sorted() {
        return Err(Error::Dimension { name: "starts", has: starts.len(), wants: "ascending numbers from 0" });
    }
    for (name, has) in [("q", q.len()), ("k", k.len()), ("v", v.len()), ("o", o.len())] {
        Error::unless_length(name, has, heads * total * dimension)?;
    }
    Error::unless_u32("heads", heads * total)?;
    let longest = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    if longest == 0 || heads == 0 {
        return Ok(Report::default());
    }
    let pieces = pieces(longest, dimension, causal);
    let works = Error::unless_u32("starts", pieces as usize * heads * (starts.len() - 1))?;
    let sizes = [dimension, total, heads];
    let (q, k, v) = (map(q, sizes, rows(dimension as u32))?, map(k, sizes, 128)?, map(v, sizes, 128)?);
    let size = (longest, longest, pieces, heads as u32, works);
    launch(device, (&q, &k, &v, &q), size, scale, (starts, o, total as u32), (dimension, causal))
}
