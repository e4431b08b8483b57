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
    use crate::parts::ring;

    /// Rows of a CTA, and keys of a block.
    const ROWS: u32 = 128;
    const STAGES: u32 = 2;
    /// 128 rows of 64 elements, which a tensor copy writes with the 128-byte swizzle.
    const BOX: u32 = 16384;

    .extern .shared .align 1024 .b8 memory[];

    /// Asks for `count` boxes of 64 columns of a block of rows of a head.
    .inline fetch(.reg .b64 %map, .b32 to, .b32 row, .b32 head, .b32 barrier, const D: u32) {
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], D / 64 * BOX;
        @for J in 0..D / 64 {
            .reg .b32 %to{J};
            add.u32 %to{J}, to, BOX * J;
            cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%to{J}], [%map, {64 * J, row, head}], [barrier];
        }
    }

    /// 2^x for x up to 0, with a relative error of 2^-13.7, by multiplications: 2^n for the nearest integer n, times a polynomial. Weights have
    /// 8 bits.
    .inline power(.reg .f32 %x) {
        .reg .f32 %n, %p;
        .reg .b32 %bits, %exponent;
        max.f32 %x, %x, 0fC2FC0000;
        // adding 3 * 2^22 rounds to an integer, in the low bits
        add.f32 %n, %x, 0f4B400000;
        mov.b32 %exponent, %n;
        add.f32 %n, %n, 0fCB400000;
        sub.f32 %x, %x, %n;
        mov.f32 %p, 0f3D61FBB0;
        fma.rn.f32 %p, %p, %x, 0f3E786F0D;
        fma.rn.f32 %p, %p, %x, 0f3F31798D;
        fma.rn.f32 %p, %p, %x, 0f3F7FFB49;
        mov.b32 %bits, %p;
        shl.b32 %exponent, %exponent, 23;
        add.u32 %bits, %bits, %exponent;
        mov.b32 %x, %bits;
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
        /// Named barriers: the turns of the warpgroups, and one for the epilogue of each.
        const TURN: u32 = 1;
        const EPILOGUE: u32 = 3;
        /// Of four exponentials, those that are computed without the unit for them: with 64 elements it is the bottleneck.
        const SOFT: u32 = 128 / D - 1;

        .reg .pred %p, %none, %all, %first;
        .reg .b32 %t, %w, %group, %base, %barriers, %vbarriers, %qbarrier, %row, %head, %keys, %blocks, %block, %key;
        .reg .b32 %stage, %parity, %vstage, %vparity, %full, %vfull, %at, %x, %y, %turn, %other, %named;
        .reg .b32 %high, %qdesc, %kdesc, %vdesc, %low, %limit<2>, %h<4>, %p<32>;
        .reg .b64 %q, %k, %v, %o, %da, %db;
        .reg .f32 %scale, %f, %max<2>, %new<2>, %shift<2>, %factor<2>, %sum<2>, %s<64>, %o<D / 2>;

        mov.u32 %t, %tid.x;
        shr.u32 %group, %t, 7;
        shfl.sync.idx.b32 %group, %group, 0, 31, 0xffffffff;
        mov.u32 %base, memory;
        add.u32 %barriers, %base, BARRIERS;
        add.u32 %vbarriers, %barriers, 16 * STAGES;
        add.u32 %qbarrier, %barriers, 32 * STAGES;
        mov.b64 %q, q;
        cvta.param.u64 %q, %q;
        mov.b64 %k, k;
        cvta.param.u64 %k, %k;
        mov.b64 %v, v;
        cvta.param.u64 %v, %v;
        mov.b64 %o, o;
        cvta.param.u64 %o, %o;
        mov.u32 %row, %ctaid.x;
        @if CAUSAL == 1 {
            // the longest rows first
            mov.u32 %x, %nctaid.x;
            sub.u32 %row, %x, %row;
            sub.u32 %row, %row, 1;
        }
        mul.lo.u32 %row, %row, ROWS;
        mov.u32 %head, %ctaid.y;
        ld.param.u32 %keys, [keys];
        add.u32 %blocks, %keys, ROWS - 1;
        shr.u32 %blocks, %blocks, 7;
        @if CAUSAL == 1 {
            shr.u32 %x, %row, 7;
            add.u32 %x, %x, 1;
            min.u32 %blocks, %blocks, %x;
        }
        setp.ne.u32 %p, %t, 0;
        @%p bra ready;
        prefetch.tensormap [%q];
        prefetch.tensormap [%k];
        prefetch.tensormap [%v];
        prefetch.tensormap [%o];
        mbarrier.init.shared::cta.b64 [%qbarrier], 1;
        ring::init!(%vbarriers, STAGES, 2);
        ring::init!(%barriers, STAGES, 2);
    ready:
        barrier.cta.sync 0;
        mov.u32 %stage, 0;
        setp.ne.u32 %p, %group, 0;
        @%p bra compute;

        // the thread that loads: keys of a block, then values of the block before it in this order
        setmaxnreg.dec.sync.aligned.u32 24;
        setp.ne.u32 %p, %t, 0;
        @%p bra done;
        fetch!(%q, %base, %row, %head, %qbarrier, D);
        mov.u32 %parity, 1;
        mov.u32 %vstage, 0;
        mov.u32 %vparity, 1;
        sub.u32 %key, %blocks, 1;
        mul.lo.u32 %key, %key, ROWS;
        mov.u32 %block, 0;
    load:
        mad.lo.u32 %full, %stage, 8, %barriers;
        add.u32 %x, %full, 8 * STAGES;
        ring::wait!(%x, %parity);
        mad.lo.u32 %at, %stage, BYTES, %base;
        add.u32 %at, %at, KEYS;
        fetch!(%k, %at, %key, %head, %full, D);
        ring::next!(%stage, %parity, STAGES);
        mad.lo.u32 %full, %vstage, 8, %vbarriers;
        add.u32 %x, %full, 8 * STAGES;
        ring::wait!(%x, %vparity);
        mad.lo.u32 %at, %vstage, BYTES, %base;
        add.u32 %at, %at, VALUES;
        fetch!(%v, %at, %key, %head, %full, D);
        ring::next!(%vstage, %vparity, STAGES);
        sub.u32 %key, %key, ROWS;
        add.u32 %block, %block, 1;
        setp.lt.u32 %p, %block, %blocks;
        @%p bra load;
        bra done;

    compute:
        setmaxnreg.inc.sync.aligned.u32 240;
        sub.u32 %group, %group, 1;
        add.u32 %turn, %group, TURN;
        xor.b32 %other, %group, 1;
        add.u32 %other, %other, TURN;
        add.u32 %named, %group, EPILOGUE;
        and.b32 %w, %t, 127;
        setp.eq.u32 %first, %w, 0;
        // descriptors: 128-byte swizzle, 1024 bytes from eight rows to the next; the columns of V are in boxes
        mov.u32 %high, 0x40000040;
        setp.ne.u32 %all, %high, 0;
        setp.eq.u32 %none, %high, 0;
        shr.u32 %x, %base, 4;
        add.u32 %qdesc, %x, 0x10000;
        mad.lo.u32 %qdesc, %group, 64 * 128 / 16, %qdesc;
        add.u32 %kdesc, %x, 0x10000 + KEYS / 16;
        add.u32 %vdesc, %x, (BOX / 16 << 16) + VALUES / 16;
        ld.param.f32 %scale, [scale];
        mad.lo.u32 %row, %group, 64, %row;
        @for I in 0..D / 2 { mov.f32 %o{I}, 0f00000000; }
        @for R in 0..2 {
            mov.f32 %max{R}, 0fFF800000;
            mov.f32 %sum{R}, 0f00000000;
        }
        mov.u32 %parity, 0;
        mov.u32 %vstage, 0;
        mov.u32 %vparity, 0;
        // the last keys that the thread's rows 16 warp + lane / 4 and 8 more see, from its first column of the last block
        shr.u32 %y, %w, 5;
        mad.lo.u32 %limit0, %y, 16, %row;
        shr.u32 %y, %w, 2;
        and.b32 %y, %y, 7;
        add.u32 %limit0, %limit0, %y;
        add.u32 %limit1, %limit0, 8;
        sub.u32 %x, %keys, 1;
        and.b32 %y, %w, 3;
        sub.u32 %key, %blocks, 1;
        mul.lo.u32 %key, %key, ROWS;
        mad.lo.u32 %key, %y, 2, %key;
        @for R in 0..2 {
            @if CAUSAL == 1 {
                min.u32 %limit{R}, %limit{R}, %x;
            } else {
                mov.u32 %limit{R}, %x;
            }
            sub.u32 %limit{R}, %limit{R}, %key;
        }
        // the first turn is that of warpgroup 0
        setp.eq.u32 %p, %group, 0;
        @%p bra begin;
        barrier.cta.arrive.aligned TURN, 256;
    begin:
        mov.u32 %x, 0;
        ring::wait!(%qbarrier, %x);
        mov.u32 %block, %blocks;
        @for REST in 0..=1 {
          next{REST}:
            mad.lo.u32 %full, %stage, 8, %barriers;
            ring::wait!(%full, %parity);
            barrier.cta.sync.aligned %turn, 256;
            wgmma.fence.sync.aligned;
            mad.lo.u32 %low, %stage, BYTES / 16, %kdesc;
            @for S in 0..D / 16 {
                add.u32 %x, %qdesc, BOX / 16 * (S / 4) + 2 * (S & 3);
                mov.b64 %da, {%x, %high};
                add.u32 %x, %low, BOX / 16 * (S / 4) + 2 * (S & 3);
                mov.b64 %db, {%x, %high};
                @if S == 0 {
                    wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%s0..=%s63}, %da, %db, %none, 1, 1, 0, 0;
                } else {
                    wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%s0..=%s63}, %da, %db, %all, 1, 1, 0, 0;
                }
            }
            wgmma.commit_group.sync.aligned;
            @if REST == 1 {
                // meanwhile what was added up gets the new maximum; then the weights of the block before times its values
                @for I in 0..D / 2 { mul.f32 %o{I}, %o{I}, %factor{I / 2 & 1}; }
                mad.lo.u32 %vfull, %vstage, 8, %vbarriers;
                ring::wait!(%vfull, %vparity);
                mad.lo.u32 %low, %vstage, BYTES / 16, %vdesc;
                wgmma.fence.sync.aligned;
                @for S in 0..ROWS / 16 {
                    add.u32 %x, %low, 128 * S;
                    mov.b64 %db, {%x, %high};
                    wgmma.mma_async.sync.aligned.m64n{D}k16.f32.bf16.bf16
                        {%o0..=%o{D / 2 - 1}}, {%p{4 * S}..=%p{4 * S + 3}}, %db, %all, 1, 1, 1;
                }
                wgmma.commit_group.sync.aligned;
            }
            // the other's turn; the last turn has none after it
            setp.eq.u32 %p, %block, 1;
            setp.eq.and.u32 %p, %group, 1, %p;
            @%p bra over{REST};
            barrier.cta.arrive.aligned %other, 256;
          over{REST}:
            wgmma.wait_group.sync.aligned REST;
            @%first mbarrier.arrive.shared::cta.b64 _, [%full + 8 * STAGES];
            @if REST == 0 {
                mov.u32 %stage, 1;
                @for I in 0..16 {
                    @for J in 0..4 {
                        setp.lt.s32 %p, %limit{J / 2}, 8 * I + (J & 1);
                        @%p mov.f32 %s{4 * I + J}, 0fFF800000;
                    }
                }
            } else {
                ring::next!(%stage, %parity, STAGES);
            }
            // the maxima of the thread's two rows, then those of the four lanes that have them
            @for R in 0..2 {
                mov.f32 %new{R}, %max{R};
                @for I in 0..16 {
                    max.f32 %new{R}, %new{R}, %s{4 * I + 2 * R};
                    max.f32 %new{R}, %new{R}, %s{4 * I + 2 * R + 1};
                }
                @for STEP in [1, 2] {
                    shfl.sync.bfly.b32 %f, %new{R}, STEP, 31, 0xffffffff;
                    max.f32 %new{R}, %new{R}, %f;
                }
                mul.f32 %shift{R}, %new{R}, %scale;
                neg.f32 %shift{R}, %shift{R};
                fma.rn.f32 %factor{R}, %max{R}, %scale, %shift{R};
                ex2.approx.ftz.f32 %factor{R}, %factor{R};
                mul.f32 %sum{R}, %sum{R}, %factor{R};
                mov.f32 %max{R}, %new{R};
            }
            @for I in 0..64 {
                fma.rn.f32 %s{I}, %s{I}, %scale, %shift{I / 2 & 1};
                @if REST == 1 && I % 4 < SOFT {
                    power!(%s{I});
                } else {
                    ex2.approx.ftz.f32 %s{I}, %s{I};
                }
                add.f32 %sum{I / 2 & 1}, %sum{I / 2 & 1}, %s{I};
            }
            @if REST == 1 {
                wgmma.wait_group.sync.aligned 0;
                @%first mbarrier.arrive.shared::cta.b64 _, [%vfull + 8 * STAGES];
                ring::next!(%vstage, %vparity, STAGES);
            }
            @for I in 0..32 { cvt.rn.bf16x2.f32 %p{I}, %s{2 * I + 1}, %s{2 * I}; }
            sub.u32 %block, %block, 1;
            setp.ne.u32 %p, %block, 0;
            @if REST == 0 {
                @!%p bra last;
            } else {
                @%p bra next{REST};
            }
        }
    last:
        @for I in 0..D / 2 { mul.f32 %o{I}, %o{I}, %factor{I / 2 & 1}; }
        mad.lo.u32 %vfull, %vstage, 8, %vbarriers;
        ring::wait!(%vfull, %vparity);
        mad.lo.u32 %low, %vstage, BYTES / 16, %vdesc;
        wgmma.fence.sync.aligned;
        @for S in 0..ROWS / 16 {
            add.u32 %x, %low, 128 * S;
            mov.b64 %db, {%x, %high};
            wgmma.mma_async.sync.aligned.m64n{D}k16.f32.bf16.bf16
                {%o0..=%o{D / 2 - 1}}, {%p{4 * S}..=%p{4 * S + 3}}, %db, %all, 1, 1, 1;
        }
        wgmma.commit_group.sync.aligned;
        @for R in 0..2 {
            @for STEP in [1, 2] {
                shfl.sync.bfly.b32 %f, %sum{R}, STEP, 31, 0xffffffff;
                add.f32 %sum{R}, %sum{R}, %f;
            }
            rcp.approx.f32 %sum{R}, %sum{R};
        }
        wgmma.wait_group.sync.aligned 0;
        @for I in 0..D / 2 { mul.f32 %o{I}, %o{I}, %sum{I / 2 & 1}; }

        // O takes the place of the warpgroup's rows of Q: row lane mod 16, piece lane / 16, permuted by the row
        and.b32 %y, %w, 15;
        shr.u32 %x, %w, 5;
        mad.lo.u32 %x, %x, 16, %y;
        mad.lo.u32 %at, %group, 64 * 128, %base;
        mad.lo.u32 %at, %x, 128, %at;
        shr.u32 %x, %w, 4;
        and.b32 %x, %x, 1;
        and.b32 %y, %y, 7;
        xor.b32 %x, %x, %y;
        mad.lo.u32 %at, %x, 16, %at;
        @for J in 0..D / 64 {
            @for I in 0..4 {
                @for H in 0..4 { cvt.rn.bf16x2.f32 %h{H}, %o{32 * J + 8 * I + 2 * H + 1}, %o{32 * J + 8 * I + 2 * H}; }
                xor.b32 %x, %at, 32 * I;
                stmatrix.sync.aligned.m8n8.x4.shared.b16 [%x + BOX * J], {%h0..=%h3};
            }
        }
        fence.proxy.async.shared::cta;
        barrier.cta.sync %named, 128;
        @!%first bra done;
        @for J in 0..D / 64 {
            mad.lo.u32 %x, %group, 64 * 128, %base;
            add.u32 %x, %x, BOX * J;
            cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%o, {64 * J, %row, %head}], [%x];
        }
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group 0;
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
