//! Attention on Ampere: O = softmax(Q * K^T / 8) * V per head, with Q as heads x m x 64, K and V as heads x n x 64,
//! all f16, and O as heads x m x 64 in f32.
//!
//! A CTA of four warps computes 64 rows of one head; each warp has 16 of them. The keys and values come in tiles of 64, two stages of
//! `cp.async`: while the warps compute with one, the other is on its way. The scores stay in registers: the sums of the first `mma` have
//! the layout of the first operand of the second. The softmax is the online one: a greater maximum scales what was summed up before.
//!
//! A row of a tile is 128 bytes. Its eight parts of 16 bytes are permuted, part XOR row mod 8, so that the eight rows that `ldmatrix`
//! reads at once are in different banks.

use half::f16;
use ptx_dsl::cuda::{Gpu, GpuError};
use ptx_dsl::launch::Device;
use ptx_dsl::prelude::*;

ptx! {
    <sm_80, ptx 7.8>

    .visible .entry attention(
        .param .u64 .ptr .global .align 16 q: &[f16],
        .param .u64 .ptr .global .align 16 k: &[f16],
        .param .u64 .ptr .global .align 16 v: &[f16],
        .param .u64 .ptr .global .align 16 o: &mut [f32],
        .param .u32 n)
    .reqntid 128
    {
        // Two stages: 64 rows of K, then 64 of V. After them 64 rows of Q.
        .shared .align 128 .b8 tiles[40960];
        .reg .pred %p;
        .reg .b32 %t, %lane, %warp, %row, %part, %at, %to, %stage, %head, %query, %left, %x;
        .reg .b32 %at<4>, %from<4>, %q<16>, %b<4>, %p<16>;
        .reg .b64 %in, %k, %v, %skip, %out, %below;
        .reg .f32 %scale, %zero, %y, %max<2>, %old<2>, %sum<2>, %s<32>, %o<32>;

        mov.u32 %t, %tid.x;
        and.b32 %lane, %t, 31;
        shr.u32 %warp, %t, 5;
        ld.param.u32 %left, [n];
        mov.u32 %head, %ctaid.y;
        mov.u32 %x, tiles;

        // a thread copies part t mod 8 of the rows t / 8 + 16 i
        shr.u32 %row, %t, 3;
        xor.b32 %part, %row, %t;
        and.b32 %part, %part, 7;
        mad.lo.u32 %to, %row, 128, %x;
        mad.lo.u32 %to, %part, 16, %to;
        mul.lo.u32 %row, %head, %left;
        mul.wide.u32 %skip, %row, 128;
        mad.wide.u32 %skip, %t, 16, %skip;
        ld.param.u64 %k, [k];
        add.u64 %k, %k, %skip;
        ld.param.u64 %v, [v];
        add.u64 %v, %v, %skip;
        // the grid has all rows of Q
        mov.u32 %row, %nctaid.x;
        mov.u32 %query, %ctaid.x;
        mad.lo.u32 %query, %head, %row, %query;
        ld.param.u64 %in, [q];
        mad.wide.u32 %in, %query, 8192, %in;
        mad.wide.u32 %in, %t, 16, %in;

        // for ldmatrix: row lane mod 16 and part 2 i + lane / 16
        and.b32 %row, %lane, 15;
        mad.lo.u32 %at, %row, 128, %x;
        shr.u32 %part, %lane, 4;
        xor.b32 %part, %part, %row;
        and.b32 %part, %part, 7;
        shl.b32 %part, %part, 4;
        add.u32 %at0, %at, %part;
        xor.b32 %part, %part, 32;
        add.u32 %at1, %at, %part;
        xor.b32 %part, %part, 96;
        add.u32 %at2, %at, %part;
        xor.b32 %part, %part, 32;
        add.u32 %at3, %at, %part;

        // Q is one group, the first tiles are another
        cp.async.cg.shared.global [%to+32768], [%in], 16;
        cp.async.cg.shared.global [%to+34816], [%in+2048], 16;
        cp.async.cg.shared.global [%to+36864], [%in+4096], 16;
        cp.async.cg.shared.global [%to+38912], [%in+6144], 16;
        cp.async.commit_group;
        cp.async.cg.shared.global [%to], [%k], 16;
        cp.async.cg.shared.global [%to+2048], [%k+2048], 16;
        cp.async.cg.shared.global [%to+4096], [%k+4096], 16;
        cp.async.cg.shared.global [%to+6144], [%k+6144], 16;
        cp.async.cg.shared.global [%to+8192], [%v], 16;
        cp.async.cg.shared.global [%to+10240], [%v+2048], 16;
        cp.async.cg.shared.global [%to+12288], [%v+4096], 16;
        cp.async.cg.shared.global [%to+14336], [%v+6144], 16;
        cp.async.commit_group;
        cp.async.wait_group 1;
        bar.sync 0;
        mad.lo.u32 %from0, %warp, 2048, %at0;
        mad.lo.u32 %from1, %warp, 2048, %at1;
        mad.lo.u32 %from2, %warp, 2048, %at2;
        mad.lo.u32 %from3, %warp, 2048, %at3;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%q0, %q1, %q2, %q3}, [%from0+32768];
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%q4, %q5, %q6, %q7}, [%from1+32768];
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%q8, %q9, %q10, %q11}, [%from2+32768];
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%q12, %q13, %q14, %q15}, [%from3+32768];

        // log2(e) / 8: the exponentials are powers of two
        mov.f32 %scale, 0f3E38AA3B;
        mov.f32 %zero, 0f00000000;
        mov.f32 %max0, 0fFF800000;
        mov.f32 %max1, 0fFF800000;
        mov.f32 %sum0, %zero;
        mov.f32 %sum1, %zero;
        mov.f32 %o0, %zero; mov.f32 %o1, %zero; mov.f32 %o2, %zero; mov.f32 %o3, %zero;
        mov.f32 %o4, %zero; mov.f32 %o5, %zero; mov.f32 %o6, %zero; mov.f32 %o7, %zero;
        mov.f32 %o8, %zero; mov.f32 %o9, %zero; mov.f32 %o10, %zero; mov.f32 %o11, %zero;
        mov.f32 %o12, %zero; mov.f32 %o13, %zero; mov.f32 %o14, %zero; mov.f32 %o15, %zero;
        mov.f32 %o16, %zero; mov.f32 %o17, %zero; mov.f32 %o18, %zero; mov.f32 %o19, %zero;
        mov.f32 %o20, %zero; mov.f32 %o21, %zero; mov.f32 %o22, %zero; mov.f32 %o23, %zero;
        mov.f32 %o24, %zero; mov.f32 %o25, %zero; mov.f32 %o26, %zero; mov.f32 %o27, %zero;
        mov.f32 %o28, %zero; mov.f32 %o29, %zero; mov.f32 %o30, %zero; mov.f32 %o31, %zero;
        mov.u32 %stage, 0;

    tile:
        // the next tiles go to the other stage; after the last one the group is empty
        xor.b32 %x, %stage, 16384;
        add.u32 %x, %x, %to;
        add.u64 %k, %k, 8192;
        add.u64 %v, %v, 8192;
        setp.le.u32 %p, %left, 64;
        @%p bra issued;
        cp.async.cg.shared.global [%x], [%k], 16;
        cp.async.cg.shared.global [%x+2048], [%k+2048], 16;
        cp.async.cg.shared.global [%x+4096], [%k+4096], 16;
        cp.async.cg.shared.global [%x+6144], [%k+6144], 16;
        cp.async.cg.shared.global [%x+8192], [%v], 16;
        cp.async.cg.shared.global [%x+10240], [%v+2048], 16;
        cp.async.cg.shared.global [%x+12288], [%v+4096], 16;
        cp.async.cg.shared.global [%x+14336], [%v+6144], 16;
    issued:
        cp.async.commit_group;
        cp.async.wait_group 1;
        bar.sync 0;
        add.u32 %from0, %at0, %stage;
        add.u32 %from1, %at1, %stage;
        add.u32 %from2, %at2, %stage;
        add.u32 %from3, %at3, %stage;

        // S = Q * K^T: a load of K has the operands of 16 keys and 16 elements
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from0];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s0, %s1, %s2, %s3}, {%q0, %q1, %q2, %q3}, {%b0, %b2}, {%zero, %zero, %zero, %zero};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s4, %s5, %s6, %s7}, {%q0, %q1, %q2, %q3}, {%b1, %b3}, {%zero, %zero, %zero, %zero};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from1];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s0, %s1, %s2, %s3}, {%q4, %q5, %q6, %q7}, {%b0, %b2}, {%s0, %s1, %s2, %s3};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s4, %s5, %s6, %s7}, {%q4, %q5, %q6, %q7}, {%b1, %b3}, {%s4, %s5, %s6, %s7};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from2];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s0, %s1, %s2, %s3}, {%q8, %q9, %q10, %q11}, {%b0, %b2}, {%s0, %s1, %s2, %s3};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s4, %s5, %s6, %s7}, {%q8, %q9, %q10, %q11}, {%b1, %b3}, {%s4, %s5, %s6, %s7};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from3];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s0, %s1, %s2, %s3}, {%q12, %q13, %q14, %q15}, {%b0, %b2}, {%s0, %s1, %s2, %s3};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s4, %s5, %s6, %s7}, {%q12, %q13, %q14, %q15}, {%b1, %b3}, {%s4, %s5, %s6, %s7};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from0+2048];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s8, %s9, %s10, %s11}, {%q0, %q1, %q2, %q3}, {%b0, %b2}, {%zero, %zero, %zero, %zero};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s12, %s13, %s14, %s15}, {%q0, %q1, %q2, %q3}, {%b1, %b3}, {%zero, %zero, %zero, %zero};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from1+2048];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s8, %s9, %s10, %s11}, {%q4, %q5, %q6, %q7}, {%b0, %b2}, {%s8, %s9, %s10, %s11};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s12, %s13, %s14, %s15}, {%q4, %q5, %q6, %q7}, {%b1, %b3}, {%s12, %s13, %s14, %s15};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from2+2048];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s8, %s9, %s10, %s11}, {%q8, %q9, %q10, %q11}, {%b0, %b2}, {%s8, %s9, %s10, %s11};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s12, %s13, %s14, %s15}, {%q8, %q9, %q10, %q11}, {%b1, %b3}, {%s12, %s13, %s14, %s15};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from3+2048];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s8, %s9, %s10, %s11}, {%q12, %q13, %q14, %q15}, {%b0, %b2}, {%s8, %s9, %s10, %s11};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s12, %s13, %s14, %s15}, {%q12, %q13, %q14, %q15}, {%b1, %b3}, {%s12, %s13, %s14, %s15};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from0+4096];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s16, %s17, %s18, %s19}, {%q0, %q1, %q2, %q3}, {%b0, %b2}, {%zero, %zero, %zero, %zero};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s20, %s21, %s22, %s23}, {%q0, %q1, %q2, %q3}, {%b1, %b3}, {%zero, %zero, %zero, %zero};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from1+4096];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s16, %s17, %s18, %s19}, {%q4, %q5, %q6, %q7}, {%b0, %b2}, {%s16, %s17, %s18, %s19};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s20, %s21, %s22, %s23}, {%q4, %q5, %q6, %q7}, {%b1, %b3}, {%s20, %s21, %s22, %s23};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from2+4096];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s16, %s17, %s18, %s19}, {%q8, %q9, %q10, %q11}, {%b0, %b2}, {%s16, %s17, %s18, %s19};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s20, %s21, %s22, %s23}, {%q8, %q9, %q10, %q11}, {%b1, %b3}, {%s20, %s21, %s22, %s23};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from3+4096];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s16, %s17, %s18, %s19}, {%q12, %q13, %q14, %q15}, {%b0, %b2}, {%s16, %s17, %s18, %s19};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s20, %s21, %s22, %s23}, {%q12, %q13, %q14, %q15}, {%b1, %b3}, {%s20, %s21, %s22, %s23};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from0+6144];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s24, %s25, %s26, %s27}, {%q0, %q1, %q2, %q3}, {%b0, %b2}, {%zero, %zero, %zero, %zero};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s28, %s29, %s30, %s31}, {%q0, %q1, %q2, %q3}, {%b1, %b3}, {%zero, %zero, %zero, %zero};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from1+6144];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s24, %s25, %s26, %s27}, {%q4, %q5, %q6, %q7}, {%b0, %b2}, {%s24, %s25, %s26, %s27};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s28, %s29, %s30, %s31}, {%q4, %q5, %q6, %q7}, {%b1, %b3}, {%s28, %s29, %s30, %s31};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from2+6144];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s24, %s25, %s26, %s27}, {%q8, %q9, %q10, %q11}, {%b0, %b2}, {%s24, %s25, %s26, %s27};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s28, %s29, %s30, %s31}, {%q8, %q9, %q10, %q11}, {%b1, %b3}, {%s28, %s29, %s30, %s31};
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%b0, %b1, %b2, %b3}, [%from3+6144];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s24, %s25, %s26, %s27}, {%q12, %q13, %q14, %q15}, {%b0, %b2}, {%s24, %s25, %s26, %s27};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s28, %s29, %s30, %s31}, {%q12, %q13, %q14, %q15}, {%b1, %b3}, {%s28, %s29, %s30, %s31};

        // the maxima of the thread's two rows, then those of the four lanes that have them
        mov.f32 %old0, %max0; mov.f32 %old1, %max1;
        max.f32 %max0, %max0, %s0; max.f32 %max0, %max0, %s1; max.f32 %max1, %max1, %s2; max.f32 %max1, %max1, %s3;
        max.f32 %max0, %max0, %s4; max.f32 %max0, %max0, %s5; max.f32 %max1, %max1, %s6; max.f32 %max1, %max1, %s7;
        max.f32 %max0, %max0, %s8; max.f32 %max0, %max0, %s9; max.f32 %max1, %max1, %s10; max.f32 %max1, %max1, %s11;
        max.f32 %max0, %max0, %s12; max.f32 %max0, %max0, %s13; max.f32 %max1, %max1, %s14; max.f32 %max1, %max1, %s15;
        max.f32 %max0, %max0, %s16; max.f32 %max0, %max0, %s17; max.f32 %max1, %max1, %s18; max.f32 %max1, %max1, %s19;
        max.f32 %max0, %max0, %s20; max.f32 %max0, %max0, %s21; max.f32 %max1, %max1, %s22; max.f32 %max1, %max1, %s23;
        max.f32 %max0, %max0, %s24; max.f32 %max0, %max0, %s25; max.f32 %max1, %max1, %s26; max.f32 %max1, %max1, %s27;
        max.f32 %max0, %max0, %s28; max.f32 %max0, %max0, %s29; max.f32 %max1, %max1, %s30; max.f32 %max1, %max1, %s31;
        shfl.sync.bfly.b32 %y, %max0, 1, 31, -1; max.f32 %max0, %max0, %y;
        shfl.sync.bfly.b32 %y, %max1, 1, 31, -1; max.f32 %max1, %max1, %y;
        shfl.sync.bfly.b32 %y, %max0, 2, 31, -1; max.f32 %max0, %max0, %y;
        shfl.sync.bfly.b32 %y, %max1, 2, 31, -1; max.f32 %max1, %max1, %y;

        // what was summed up belongs to the old maxima
        sub.f32 %old0, %old0, %max0; mul.f32 %old0, %old0, %scale; ex2.approx.f32 %old0, %old0;
        sub.f32 %old1, %old1, %max1; mul.f32 %old1, %old1, %scale; ex2.approx.f32 %old1, %old1;
        mul.f32 %sum0, %sum0, %old0; mul.f32 %sum1, %sum1, %old1;
        mul.f32 %o0, %o0, %old0; mul.f32 %o1, %o1, %old0; mul.f32 %o2, %o2, %old1; mul.f32 %o3, %o3, %old1;
        mul.f32 %o4, %o4, %old0; mul.f32 %o5, %o5, %old0; mul.f32 %o6, %o6, %old1; mul.f32 %o7, %o7, %old1;
        mul.f32 %o8, %o8, %old0; mul.f32 %o9, %o9, %old0; mul.f32 %o10, %o10, %old1; mul.f32 %o11, %o11, %old1;
        mul.f32 %o12, %o12, %old0; mul.f32 %o13, %o13, %old0; mul.f32 %o14, %o14, %old1; mul.f32 %o15, %o15, %old1;
        mul.f32 %o16, %o16, %old0; mul.f32 %o17, %o17, %old0; mul.f32 %o18, %o18, %old1; mul.f32 %o19, %o19, %old1;
        mul.f32 %o20, %o20, %old0; mul.f32 %o21, %o21, %old0; mul.f32 %o22, %o22, %old1; mul.f32 %o23, %o23, %old1;
        mul.f32 %o24, %o24, %old0; mul.f32 %o25, %o25, %old0; mul.f32 %o26, %o26, %old1; mul.f32 %o27, %o27, %old1;
        mul.f32 %o28, %o28, %old0; mul.f32 %o29, %o29, %old0; mul.f32 %o30, %o30, %old1; mul.f32 %o31, %o31, %old1;

        // P = 2^(scale (S - max)), and its sums; a thread sums up its own columns
        mul.f32 %old0, %max0, %scale; neg.f32 %old0, %old0; mul.f32 %old1, %max1, %scale; neg.f32 %old1, %old1;
        fma.rn.f32 %s0, %s0, %scale, %old0; fma.rn.f32 %s1, %s1, %scale, %old0;
        fma.rn.f32 %s2, %s2, %scale, %old1; fma.rn.f32 %s3, %s3, %scale, %old1;
        fma.rn.f32 %s4, %s4, %scale, %old0; fma.rn.f32 %s5, %s5, %scale, %old0;
        fma.rn.f32 %s6, %s6, %scale, %old1; fma.rn.f32 %s7, %s7, %scale, %old1;
        fma.rn.f32 %s8, %s8, %scale, %old0; fma.rn.f32 %s9, %s9, %scale, %old0;
        fma.rn.f32 %s10, %s10, %scale, %old1; fma.rn.f32 %s11, %s11, %scale, %old1;
        fma.rn.f32 %s12, %s12, %scale, %old0; fma.rn.f32 %s13, %s13, %scale, %old0;
        fma.rn.f32 %s14, %s14, %scale, %old1; fma.rn.f32 %s15, %s15, %scale, %old1;
        fma.rn.f32 %s16, %s16, %scale, %old0; fma.rn.f32 %s17, %s17, %scale, %old0;
        fma.rn.f32 %s18, %s18, %scale, %old1; fma.rn.f32 %s19, %s19, %scale, %old1;
        fma.rn.f32 %s20, %s20, %scale, %old0; fma.rn.f32 %s21, %s21, %scale, %old0;
        fma.rn.f32 %s22, %s22, %scale, %old1; fma.rn.f32 %s23, %s23, %scale, %old1;
        fma.rn.f32 %s24, %s24, %scale, %old0; fma.rn.f32 %s25, %s25, %scale, %old0;
        fma.rn.f32 %s26, %s26, %scale, %old1; fma.rn.f32 %s27, %s27, %scale, %old1;
        fma.rn.f32 %s28, %s28, %scale, %old0; fma.rn.f32 %s29, %s29, %scale, %old0;
        fma.rn.f32 %s30, %s30, %scale, %old1; fma.rn.f32 %s31, %s31, %scale, %old1;
        ex2.approx.f32 %s0, %s0; ex2.approx.f32 %s1, %s1; ex2.approx.f32 %s2, %s2; ex2.approx.f32 %s3, %s3;
        ex2.approx.f32 %s4, %s4; ex2.approx.f32 %s5, %s5; ex2.approx.f32 %s6, %s6; ex2.approx.f32 %s7, %s7;
        ex2.approx.f32 %s8, %s8; ex2.approx.f32 %s9, %s9; ex2.approx.f32 %s10, %s10; ex2.approx.f32 %s11, %s11;
        ex2.approx.f32 %s12, %s12; ex2.approx.f32 %s13, %s13; ex2.approx.f32 %s14, %s14; ex2.approx.f32 %s15, %s15;
        ex2.approx.f32 %s16, %s16; ex2.approx.f32 %s17, %s17; ex2.approx.f32 %s18, %s18; ex2.approx.f32 %s19, %s19;
        ex2.approx.f32 %s20, %s20; ex2.approx.f32 %s21, %s21; ex2.approx.f32 %s22, %s22; ex2.approx.f32 %s23, %s23;
        ex2.approx.f32 %s24, %s24; ex2.approx.f32 %s25, %s25; ex2.approx.f32 %s26, %s26; ex2.approx.f32 %s27, %s27;
        ex2.approx.f32 %s28, %s28; ex2.approx.f32 %s29, %s29; ex2.approx.f32 %s30, %s30; ex2.approx.f32 %s31, %s31;
        add.f32 %sum0, %sum0, %s0; add.f32 %sum0, %sum0, %s1; add.f32 %sum1, %sum1, %s2; add.f32 %sum1, %sum1, %s3;
        add.f32 %sum0, %sum0, %s4; add.f32 %sum0, %sum0, %s5; add.f32 %sum1, %sum1, %s6; add.f32 %sum1, %sum1, %s7;
        add.f32 %sum0, %sum0, %s8; add.f32 %sum0, %sum0, %s9; add.f32 %sum1, %sum1, %s10; add.f32 %sum1, %sum1, %s11;
        add.f32 %sum0, %sum0, %s12; add.f32 %sum0, %sum0, %s13; add.f32 %sum1, %sum1, %s14; add.f32 %sum1, %sum1, %s15;
        add.f32 %sum0, %sum0, %s16; add.f32 %sum0, %sum0, %s17; add.f32 %sum1, %sum1, %s18; add.f32 %sum1, %sum1, %s19;
        add.f32 %sum0, %sum0, %s20; add.f32 %sum0, %sum0, %s21; add.f32 %sum1, %sum1, %s22; add.f32 %sum1, %sum1, %s23;
        add.f32 %sum0, %sum0, %s24; add.f32 %sum0, %sum0, %s25; add.f32 %sum1, %sum1, %s26; add.f32 %sum1, %sum1, %s27;
        add.f32 %sum0, %sum0, %s28; add.f32 %sum0, %sum0, %s29; add.f32 %sum1, %sum1, %s30; add.f32 %sum1, %sum1, %s31;
        cvt.rn.f16x2.f32 %p0, %s1, %s0; cvt.rn.f16x2.f32 %p1, %s3, %s2; cvt.rn.f16x2.f32 %p2, %s5, %s4; cvt.rn.f16x2.f32 %p3, %s7, %s6;
        cvt.rn.f16x2.f32 %p4, %s9, %s8; cvt.rn.f16x2.f32 %p5, %s11, %s10; cvt.rn.f16x2.f32 %p6, %s13, %s12; cvt.rn.f16x2.f32 %p7, %s15, %s14;
        cvt.rn.f16x2.f32 %p8, %s17, %s16; cvt.rn.f16x2.f32 %p9, %s19, %s18; cvt.rn.f16x2.f32 %p10, %s21, %s20; cvt.rn.f16x2.f32 %p11, %s23, %s22;
        cvt.rn.f16x2.f32 %p12, %s25, %s24; cvt.rn.f16x2.f32 %p13, %s27, %s26; cvt.rn.f16x2.f32 %p14, %s29, %s28; cvt.rn.f16x2.f32 %p15, %s31, %s30;

        // O += P * V: the sums of S are the first operand as they are; V is transposed while it is loaded
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from0+8192];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o0, %o1, %o2, %o3}, {%p0, %p1, %p2, %p3}, {%b0, %b1}, {%o0, %o1, %o2, %o3};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o4, %o5, %o6, %o7}, {%p0, %p1, %p2, %p3}, {%b2, %b3}, {%o4, %o5, %o6, %o7};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from1+8192];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o8, %o9, %o10, %o11}, {%p0, %p1, %p2, %p3}, {%b0, %b1}, {%o8, %o9, %o10, %o11};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o12, %o13, %o14, %o15}, {%p0, %p1, %p2, %p3}, {%b2, %b3}, {%o12, %o13, %o14, %o15};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from2+8192];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o16, %o17, %o18, %o19}, {%p0, %p1, %p2, %p3}, {%b0, %b1}, {%o16, %o17, %o18, %o19};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o20, %o21, %o22, %o23}, {%p0, %p1, %p2, %p3}, {%b2, %b3}, {%o20, %o21, %o22, %o23};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from3+8192];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o24, %o25, %o26, %o27}, {%p0, %p1, %p2, %p3}, {%b0, %b1}, {%o24, %o25, %o26, %o27};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o28, %o29, %o30, %o31}, {%p0, %p1, %p2, %p3}, {%b2, %b3}, {%o28, %o29, %o30, %o31};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from0+10240];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o0, %o1, %o2, %o3}, {%p4, %p5, %p6, %p7}, {%b0, %b1}, {%o0, %o1, %o2, %o3};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o4, %o5, %o6, %o7}, {%p4, %p5, %p6, %p7}, {%b2, %b3}, {%o4, %o5, %o6, %o7};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from1+10240];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o8, %o9, %o10, %o11}, {%p4, %p5, %p6, %p7}, {%b0, %b1}, {%o8, %o9, %o10, %o11};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o12, %o13, %o14, %o15}, {%p4, %p5, %p6, %p7}, {%b2, %b3}, {%o12, %o13, %o14, %o15};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from2+10240];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o16, %o17, %o18, %o19}, {%p4, %p5, %p6, %p7}, {%b0, %b1}, {%o16, %o17, %o18, %o19};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o20, %o21, %o22, %o23}, {%p4, %p5, %p6, %p7}, {%b2, %b3}, {%o20, %o21, %o22, %o23};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from3+10240];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o24, %o25, %o26, %o27}, {%p4, %p5, %p6, %p7}, {%b0, %b1}, {%o24, %o25, %o26, %o27};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o28, %o29, %o30, %o31}, {%p4, %p5, %p6, %p7}, {%b2, %b3}, {%o28, %o29, %o30, %o31};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from0+12288];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o0, %o1, %o2, %o3}, {%p8, %p9, %p10, %p11}, {%b0, %b1}, {%o0, %o1, %o2, %o3};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o4, %o5, %o6, %o7}, {%p8, %p9, %p10, %p11}, {%b2, %b3}, {%o4, %o5, %o6, %o7};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from1+12288];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o8, %o9, %o10, %o11}, {%p8, %p9, %p10, %p11}, {%b0, %b1}, {%o8, %o9, %o10, %o11};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o12, %o13, %o14, %o15}, {%p8, %p9, %p10, %p11}, {%b2, %b3}, {%o12, %o13, %o14, %o15};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from2+12288];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o16, %o17, %o18, %o19}, {%p8, %p9, %p10, %p11}, {%b0, %b1}, {%o16, %o17, %o18, %o19};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o20, %o21, %o22, %o23}, {%p8, %p9, %p10, %p11}, {%b2, %b3}, {%o20, %o21, %o22, %o23};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from3+12288];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o24, %o25, %o26, %o27}, {%p8, %p9, %p10, %p11}, {%b0, %b1}, {%o24, %o25, %o26, %o27};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o28, %o29, %o30, %o31}, {%p8, %p9, %p10, %p11}, {%b2, %b3}, {%o28, %o29, %o30, %o31};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from0+14336];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o0, %o1, %o2, %o3}, {%p12, %p13, %p14, %p15}, {%b0, %b1}, {%o0, %o1, %o2, %o3};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o4, %o5, %o6, %o7}, {%p12, %p13, %p14, %p15}, {%b2, %b3}, {%o4, %o5, %o6, %o7};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from1+14336];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o8, %o9, %o10, %o11}, {%p12, %p13, %p14, %p15}, {%b0, %b1}, {%o8, %o9, %o10, %o11};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o12, %o13, %o14, %o15}, {%p12, %p13, %p14, %p15}, {%b2, %b3}, {%o12, %o13, %o14, %o15};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from2+14336];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o16, %o17, %o18, %o19}, {%p12, %p13, %p14, %p15}, {%b0, %b1}, {%o16, %o17, %o18, %o19};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o20, %o21, %o22, %o23}, {%p12, %p13, %p14, %p15}, {%b2, %b3}, {%o20, %o21, %o22, %o23};
        ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%b0, %b1, %b2, %b3}, [%from3+14336];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o24, %o25, %o26, %o27}, {%p12, %p13, %p14, %p15}, {%b0, %b1}, {%o24, %o25, %o26, %o27};
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%o28, %o29, %o30, %o31}, {%p12, %p13, %p14, %p15}, {%b2, %b3}, {%o28, %o29, %o30, %o31};

        // nobody writes to the stage before all have read it
        bar.sync 0;
        xor.b32 %stage, %stage, 16384;
        sub.u32 %left, %left, 64;
        setp.ne.u32 %p, %left, 0;
        @%p bra tile;

        shfl.sync.bfly.b32 %y, %sum0, 1, 31, -1; add.f32 %sum0, %sum0, %y;
        shfl.sync.bfly.b32 %y, %sum1, 1, 31, -1; add.f32 %sum1, %sum1, %y;
        shfl.sync.bfly.b32 %y, %sum0, 2, 31, -1; add.f32 %sum0, %sum0, %y;
        shfl.sync.bfly.b32 %y, %sum1, 2, 31, -1; add.f32 %sum1, %sum1, %y;
        rcp.approx.f32 %sum0, %sum0; rcp.approx.f32 %sum1, %sum1;

        // a thread has the rows 16 warp + lane / 4 and 8 more, the columns 2 (lane mod 4) + 8 i and the next ones
        shl.b32 %row, %query, 6;
        mad.lo.u32 %row, %warp, 16, %row;
        shr.u32 %x, %lane, 2;
        add.u32 %row, %row, %x;
        ld.param.u64 %out, [o];
        mad.wide.u32 %out, %row, 256, %out;
        and.b32 %x, %lane, 3;
        mad.wide.u32 %out, %x, 8, %out;
        add.u64 %below, %out, 2048;
        mul.f32 %o0, %o0, %sum0; mul.f32 %o1, %o1, %sum0; mul.f32 %o2, %o2, %sum1; mul.f32 %o3, %o3, %sum1;
        mul.f32 %o4, %o4, %sum0; mul.f32 %o5, %o5, %sum0; mul.f32 %o6, %o6, %sum1; mul.f32 %o7, %o7, %sum1;
        mul.f32 %o8, %o8, %sum0; mul.f32 %o9, %o9, %sum0; mul.f32 %o10, %o10, %sum1; mul.f32 %o11, %o11, %sum1;
        mul.f32 %o12, %o12, %sum0; mul.f32 %o13, %o13, %sum0; mul.f32 %o14, %o14, %sum1; mul.f32 %o15, %o15, %sum1;
        mul.f32 %o16, %o16, %sum0; mul.f32 %o17, %o17, %sum0; mul.f32 %o18, %o18, %sum1; mul.f32 %o19, %o19, %sum1;
        mul.f32 %o20, %o20, %sum0; mul.f32 %o21, %o21, %sum0; mul.f32 %o22, %o22, %sum1; mul.f32 %o23, %o23, %sum1;
        mul.f32 %o24, %o24, %sum0; mul.f32 %o25, %o25, %sum0; mul.f32 %o26, %o26, %sum1; mul.f32 %o27, %o27, %sum1;
        mul.f32 %o28, %o28, %sum0; mul.f32 %o29, %o29, %sum0; mul.f32 %o30, %o30, %sum1; mul.f32 %o31, %o31, %sum1;
        st.global.v2.f32 [%out], {%o0, %o1};
        st.global.v2.f32 [%below], {%o2, %o3};
        st.global.v2.f32 [%out+32], {%o4, %o5};
        st.global.v2.f32 [%below+32], {%o6, %o7};
        st.global.v2.f32 [%out+64], {%o8, %o9};
        st.global.v2.f32 [%below+64], {%o10, %o11};
        st.global.v2.f32 [%out+96], {%o12, %o13};
        st.global.v2.f32 [%below+96], {%o14, %o15};
        st.global.v2.f32 [%out+128], {%o16, %o17};
        st.global.v2.f32 [%below+128], {%o18, %o19};
        st.global.v2.f32 [%out+160], {%o20, %o21};
        st.global.v2.f32 [%below+160], {%o22, %o23};
        st.global.v2.f32 [%out+192], {%o24, %o25};
        st.global.v2.f32 [%below+192], {%o26, %o27};
        st.global.v2.f32 [%out+224], {%o28, %o29};
        st.global.v2.f32 [%below+224], {%o30, %o31};
        ret;
    }
}

/// Elements of a row.
const D: usize = 64;

/// Pseudo-random numbers from -4 to 4 (xorshift).
fn numbers(n: usize, mut seed: u64) -> Vec<f16> {
    let next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        f16::from_f64((seed >> 11) as f64 / (1u64 << 50) as f64 - 4.0)
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// Queries, keys, values, and for each element of the result its value in f64 and the weighted mean of the magnitudes of the values.
struct Problem {
    heads: usize,
    m: usize,
    n: usize,
    qkv: [Vec<f16>; 3],
    result: Vec<(f64, f64)>,
}

impl Problem {
    fn new([heads, m, n]: [usize; 3]) -> Problem {
        let qkv = [(m, 1), (n, 2), (n, 3)].map(|(rows, seed)| numbers(heads * rows * D, seed));
        let [q, k, v] = qkv.each_ref().map(|x| x.iter().map(|x| x.to_f64()).collect::<Vec<_>>());
        let mut result = Vec::new();
        for (row, q) in q.chunks(D).enumerate() {
            let head = row / m * n * D..(row / m + 1) * n * D;
            let score = |k: &[f64]| q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() / 8.0;
            let scores = k[head.clone()].chunks(D).map(score).collect::<Vec<_>>();
            let max = scores.iter().fold(f64::NEG_INFINITY, |max, s| max.max(*s));
            let (mut sum, mut row) = (0.0, [(0.0, 0.0); D]);
            for (score, v) in scores.iter().zip(v[head].chunks(D)) {
                let weight = (score - max).exp();
                sum += weight;
                row.iter_mut().zip(v).for_each(|(o, v)| *o = (o.0 + weight * v, o.1 + weight * v.abs()));
            }
            result.extend(row.map(|(o, size)| (o / sum, size / sum)));
        }
        Problem { heads, m, n, qkv, result }
    }

    /// Launches the kernel and compares: the error is at most 2^-10 of the weighted magnitudes. The weights in f16 have half of that.
    fn run<D: Device>(&self, device: &D) -> Result<Report, Error> {
        let [q, k, v] = &self.qkv;
        let mut o = vec![f32::NAN; self.result.len()];
        let grid = (self.m as u32 / 64, self.heads as u32);
        let report = attention.launch(device, Launch::grid(grid), (q, k, v, &mut o, self.n as u32))?;
        for (at, (o, (exact, size))) in o.iter().zip(&self.result).enumerate() {
            let error = (f64::from(*o) - exact).abs();
            assert!(error <= size / 1024.0, "row {}, column {}: {o} instead of {exact}", at / D, at % D);
        }
        Ok(report)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let small = Problem::new([2, 64, 192]);
    small.run(&Host::checked())?;
    Host::new().explore(32).run(|host| small.run(host))?;
    let large = Problem::new([2, 384, 512]);
    let start = std::time::Instant::now();
    large.run(&Host::new())?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    println!("2 heads of 384 x 512 scores in {took:.0} ms, within 2^-10 of the magnitudes");
    if let Some(gpu) = gpu()? {
        let report = large.run(&gpu.timed())?;
        println!("the same on the GPU in {:.1} us", report.device_time.unwrap_or_default().as_secs_f64() * 1e6);
    }
    Ok(())
}

/// The first GPU, if the program is called with `--gpu`.
fn gpu() -> Result<Option<Gpu>, GpuError> {
    if !std::env::args().any(|arg| arg == "--gpu") {
        return Ok(None);
    }
    // SAFETY: the kernel accesses its arguments alone: `small` has run on the checked host.
    #[allow(unsafe_code)]
    let gpu = unsafe { Gpu::new(0) }?;
    println!("{gpu}");
    Ok(Some(gpu))
}
