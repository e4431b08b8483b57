//! Matrices, bulk copies, multimem and fabric, line by line with the verdicts of ptxas 13.5.37.

use crate::diag::Severity;
use crate::lex::lex;

const REGISTERS: &str = ".reg .b8 %c<9>; .reg .b16 %h<40>; .reg .b32 %r<300>; .reg .b64 %d<40>; .reg .f32 %f<300>;
.reg .f64 %e<40>; .reg .pred %p<9>; .reg .f16 %hf<20>; .reg .f16x2 %x<80>; .reg .u32 %u<8>; .reg .s32 %s<8>;
.reg .u16 %us<8>; .reg .u64 %ud<8>; .reg .s64 %sd<8>;";

#[rustfmt::skip]
const VERDICTS: &[(bool, &str, &str, &str)] = &[
    // tensor
    (true, "sm_107a", "9.5", "tensormap.replace.tile.global_dim.global.b1024.b32 [%d2], 1, %r4;"),
    (true, "sm_90a", "8.4", "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%d2, {%r4,%r5}], [%d6], %d7;"),
    (true, "sm_100a", "8.6", "cp.async.bulk.tensor.4d.shared::cta.global.mbarrier::complete_tx::bytes [%d2], [%d3, {%r5,%r6,%r7,%r8}], [%d9];"),
    (true, "sm_107a", "9.5", "cp.async.bulk.prefetch.tensor.2d.L2.global.tile.L2::evict_last [%d2, {%r4,%r5}];"),
    (true, "sm_107a", "9.5", "applypriority.async.bulk.tensor.1d.bulk_group.L2::evict_normal [%d2, {%r4}];"),
    (true, "sm_107a", "9.5", "cp.async.bulk.prefetch.tensor.1d.L2.global.tile.L2::evict_last.override::global_address [%d2, %d3, {%r5}];"),
    (true, "sm_107a", "9.5", "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col.L2::evict_last [%d2, {%r4,%r5,%r6,%r7}], {%h9,%h10};"),
    (true, "sm_107a", "9.5", "cp.async.bulk.prefetch.tensor.2d.L2.global.tile.override::global_address [%d2, %d3, {%r5,%r6}];"),
    (true, "sm_107a", "9.5", "applypriority.async.bulk.tensor.4d.global.bulk_group.tile.L2::evict_normal [%d2, {%r4,%r5,%r6,%r7}];"),
    (false, "sm_90a", "8.4", "applypriority.async.bulk.tensor.1d.1d.bulk_group.tile.L2::evict_normal [%d2, {%r4}];"),
    (false, "sm_90a", "8.4", "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%d2], [%d2], 1;"),
    (false, "sm_107a", "9.5", "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.im2col_no_offs.bulk_group.override::global_address [%d6];"),
    (false, "sm_89", "8.4", "cp.async.bulk.prefetch.tensor.1d.L2.global.im2col::w.override::global_address [%d2, %d3, {%r5}], {%h7,%h8};"),
    (false, "sm_107a", "9.5", "cp.async.bulk.prefetch.tensor.4d.global.L2.tile [%d2, {%r4,%r5,%r6,%r7}], %d8;"),
    (false, "sm_80", "7.1", "applypriority.async.bulk.tensor.4d.global.bulk_group.tile.L2::evict_normal [%d2, {%r4,%r5,%r6,%r7}];"),
    (false, "sm_90a", "8.4", "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col::w::128.L2::cache_hint {%h9,%h10};"),
    // multimem
    (true, "sm_107a", "9.5", "multimem.st.async.release.sys.f32 [%d2], %f3;"),
    (true, "sm_120a", "8.7", "multimem.ld_reduce.relaxed.cluster.global.add.v2.f32 {%f3,%f4}, [%d5];"),
    (true, "sm_100f", "9.3", "multimem.ld_reduce.acquire.cta.add.acc::f16.e4m3x4 %r2, [%d3];"),
    (true, "sm_120a", "8.7", "multimem.red.release.gpu.global.add.v4.bf16 [%d2], {%h4,%h5,%h6,%h7};"),
    (true, "sm_107a", "9.5", "multimem.red.relaxed.cluster.or.b64 [%d2], %d3;"),
    (true, "sm_107a", "9.5", "multimem.st.async.release.sys.s32 [%d2], %r3;"),
    (true, "sm_100f", "9.3", "multimem.ld_reduce.relaxed.gpu.max.v8.e5m2x2 {%h3,%h4,%h5,%h6,%h7,%h8,%h9,%h10}, [%d11];"),
    (true, "sm_107a", "9.5", "multimem.red.relaxed.gpu.min.s64 [%d2], %d3;"),
    (true, "sm_120a", "8.7", "multimem.ld_reduce.or.b32 %r2, [%d3];"),
    (false, "sm_89", "8.4", "multimem.ld_reduce.or.b32 %r2, [%d3];"),
    (false, "sm_107a", "9.5", "multimem.st.cluster.global.u32 [%d2], [%d2], %r3;"),
    (false, "sm_90a", "8.4", "multimem.st.async.gpu.release.b8 [%d2], %c3;"),
    (false, "sm_100f", "9.3", "multimem.ld_reduce.weak.cluster.add.v4.f16 {%h3,%h4,%h5,%h6}, [%d7];"),
    (false, "sm_90", "8.1", "multimem.ld_reduce.weak.cta.max.v2.bf16 {%h3,%h4}, [%d5];"),
    (false, "sm_107a", "9.5", "multimem.ld_reduce.weak.relaxed.gpu.add.bf16x2.u32 %r2, [%d3];"),
    (false, "sm_90a", "8.4", "multimem.ld_reduce.relaxed.sys.global.add.acc::f16.v8.e5m2 {%r3,%r4,%r5,%r6,%r7,%r8,%r9,%r10}, [%us1];"),
    // wgmma
    (true, "sm_90a", "8.4", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f3,%f4,%f5,%f6}, {%x8,%x9,%x10,%x11}, %d12, %p1, 1, 1, 0;"),
    (true, "sm_90a", "8.4", "wgmma.mma_async.sp.sync.aligned.m64n8k64.satfinite.s32.s8.s8 {%r3,%r4,%r5,%r6}, %d7, %d8, %r9, 0, %p2;"),
    (true, "sm_90a", "8.4", "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r3,%r4,%r5,%r6}, %d7, %d8, %p3;"),
    (true, "sm_90a", "8.4", "wgmma.mma_async.sp.sync.aligned.m64n16k32.f16.f16.f16 {%x3,%x4,%x5,%x6}, %d7, %d8, %r9, 0, %p2, 1, 1, 0, 0;"),
    (true, "sm_90a", "8.4", "wgmma.mma_async.sp.sync.aligned.m64n8k64.satfinite.s32.u8.s8 {%r3,%r4,%r5,%r6}, %d7, %d8, %r9, 0, %p2;"),
    (true, "sm_90a", "8.4", "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 {%f3,%f4,%f5,%f6}, %d7, %d8, %r9, 0, %p2, 1, 1;"),
    (true, "sm_90a", "8.4", "wgmma.mma_async.sp.sync.aligned.m64n8k32.f16.f16.f16 {%x3,%x4}, {%x6,%x7,%x8,%x9}, %d10, %r11, 0, %p1, 1, 1, 0;"),
    (true, "sm_90a", "8.4", "wgmma.wait_group.sync.aligned 1;"),
    (true, "sm_90a", "8.4", "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%x3,%x4}, %d5, %d6, %p1, 1, 1, 0, 0;"),
    (false, "sm_90a", "8.4", "wgmma.mma_async.sp.sync.aligned.m64n152k32.f32.f16.f16 {%x10,%x11,%x12,%x13}, %d24, %r85, 0, %p3, 1, 1, 0;"),
    (false, "sm_89", "8.4", "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f3,%f4,%f5,%f6}, {%x8,%x9,%x10,%x11}, %d12, %p1, 1, 1, 0;"),
    (false, "sm_107a", "9.5", "wgmma.commit_group.sync.aligned;"),
    (false, "sm_120a", "8.7", "wgmma.mma_async.sync.aligned.m64n16k32.f16.e5m2.e5m2 {%x3,%x4,%x5,%x6}, {%r8,%r9,%r10,%r11}, %d12, %p1, 1, 1;"),
    (false, "sm_89", "8.4", "wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 {%f3,%f4,%f5,%f6,%f7,%f8,%f9,%f10}, %d11, %d12, %p1, 1, 1;"),
    (false, "sm_107a", "9.5", "wgmma.mma_async.sync.aligned.satfinite.m64n8k32.s32.s8.s8 {%r3,%r4,%r5,%r6}, %d7, %d8, %p3;"),
    (false, "sm_90a", "8.4", "wgmma.mma_async.sp.sync.aligned.m64n240k64.s32.s8.u8 {%r124,%r125,%r126,%r127}, %d8, %r129, 0, %p2;"),
    // compress
    (true, "sm_107a", "9.5", "spcompress.b8.b4.sp::2:4.x1 {%r3}, {%r5}, {%r7,%r8}, %r9;"),
    (true, "sm_107a", "9.5", "spdecompress.b16.b4.sp::1:16.x1 {%r3,%r4,%r5,%r6,%r7,%r8,%r9,%r10}, {%r12}, {%r14};"),
    (true, "sm_107a", "9.5", "spcompress.b8.b4.sp::2:4.x2 {%r3}, {%r5,%r6}, {%r8,%r9,%r10,%r11}, %r12;"),
    (true, "sm_107a", "9.5", "spdecompress.b8.b4.sp::1:8.x1 {%r3,%r4}, {%r6}, {%r8};"),
    (false, "sm_107a", "9.5", "spdecompress.b16.b2.sp::4:16.x1 {%r3,%r4,%r5,%r6,%r7,%r8,%r9,%r10}, {%r12}, {_,_};"),
    (false, "sm_100a", "8.6", "spcompress.b8.b4.sp::2:4.x2 {%r3}, {%r5,%r6}, {%r8,%r9,%r10,%r11}, %r12;"),
    (false, "sm_107a", "9.5", "spcompress.b8.b2.sp::2:4.x1.b2 {%r3}, {%r5}, {%r7,%r8}, %r9;"),
    (false, "sm_90a", "8.4", "spdecompress.b8.b4.sp::1:8.x1 {%r3,%r4}, {%r6}, {%r8};"),
    (false, "sm_100f", "9.3", "spdecompress.b16.b4.sp::1:16.x1 {%r3,%r4,%r5,%r6,%r7,%r8,%r9,%r10}, {%r12}, {%r14};"),
    (false, "sm_100f", "9.3", "spcompress.b8.b4.sp::2:4.x1 {%r3}, {%r5}, {%r7,%r8}, %r9;"),
    // wmma
    (true, "sm_89", "8.4", "wmma.load.c.sync.aligned.col.m8n8k4.shared::cta.f64 {%e3,%e4}, [%d5], %r6;"),
    (true, "sm_107a", "9.5", "wmma.load.a.sync.aligned.row.m16n16k16.shared::cta.f16 {%x3,%x4,%x5,%x6,%x7,%x8,%x9,%x10}, [%d11];"),
    (true, "sm_100a", "8.6", "wmma.store.d.sync.aligned.col.m8n8k128.global.s32 [%d2], {%r4,%r5}, %r6;"),
    (true, "sm_100a", "8.6", "wmma.load.b.sync.aligned.col.m8n8k32.global.u4 {%r3}, [%d4];"),
    (true, "sm_120a", "8.7", "wmma.load.b.sync.aligned.col.m8n8k4.global.f64 {%e3}, [%d4], %r5;"),
    (true, "sm_80", "7.1", "wmma.load.c.sync.aligned.col.m8n8k128.s32 {%r3,%r4}, [%d5], %r6;"),
    (true, "sm_89", "8.4", "wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%d2], {%e4,%e5};"),
    (true, "sm_100f", "9.3", "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r3,%r4}, {%r6}, {%r8}, {%r10,%r11};"),
    (true, "sm_107a", "9.5", "wmma.load.c.sync.aligned.col.m8n8k4.shared.f64 {%e3,%e4}, [%d5];"),
    (false, "sm_107a", "9.5", "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%x3,%x4,%x5,%x6}, [%q1], %r8;"),
    (false, "sm_90a", "8.4", "wmma.load.b.sync.aligned.col.m8n8k32.global.s4 {%r3}, %r5;"),
    (false, "sm_107a", "9.5", "wmma.load.b.sync.aligned.col.m8n8k4.shared.f64 {%p1}, [%d4];"),
    (false, "sm_90a", "8.4", "wmma.load.a.sync.aligned.row.m8n8k128.shared::cta.b1 %r3, [%d4];"),
    (false, "sm_90a", "8.4", "wmma.store.d.sync.aligned.col.m32n8k16.global.f32 [%d2], {%f5,%f6,%f7,%f8,%f9,%f10,%f11};"),
    (false, "sm_80", "7.1", "wmma.load.c.sync.aligned.row.m8n8k128.shared::cta.s32 {%r3,%r4}, [%d5], %r6;"),
    (false, "sm_90a", "8.4", "wmma.load.a.sync.aligned.row.m8n8k4.global {%e3}, [%d4], %r5;"),
    // bulk
    (true, "sm_107a", "9.5", "cp.async.bulk.weak.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%d2], [%d3], %r4, [%d5];"),
    (true, "sm_90a", "8.4", "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.dec.u32 [%d2], [%d3], %r4, [%d5];"),
    (true, "sm_107a", "9.5", "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%d2], [%d3], %r4, %r5, %r6, [%d7];"),
    (true, "sm_100f", "9.3", "multimem.cp.reduce.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.or.b32 [%d2], [%d3], %r4;"),
    (true, "sm_107a", "9.5", "cp.reduce.async.bulk.relaxed.sys.global.shared::cta.bulk_group.min.s32 [%d2], [%d3], %r4;"),
    (true, "sm_107a", "9.5", "multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d2], [%d3], %r4, %h5;"),
    (true, "sm_100f", "9.3", "multimem.cp.reduce.async.bulk.relaxed.sys.global.shared::cta.bulk_group.add.s32 [%d2], [%d3], %r4;"),
    (true, "sm_90a", "8.4", "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.inc.u32 [%d2], [%d3], %r4, [%d5];"),
    (true, "sm_100f", "9.3", "cp.async.bulk.relaxed.gpu.shared::cta.global.mbarrier::complete_tx::bytes.b128 [%d2], [%d3], %r4, [%d5];"),
    (false, "sm_90", "8.1", "cp.async.bulk.weak.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%d2], [%d3], %r4, [%d5];"),
    (false, "sm_90a", "8.4", "cp.reduce.async.bulk.relaxed.cluster.shared::cta.mbarrier::complete_tx::bytes.max.u32 [%d2], [%d3], %r4, [%d5];"),
    (false, "sm_90a", "8.4", "multimem.cp.reduce.async.bulk.relaxed.sys.global.shared::cta.bulk_group.inc.u32 [%d2], [%d3], %r4;"),
    (false, "sm_90a", "8.4", "cp.async.bulk.relaxed.cluster.global.shared::cta.cp_mask.bulk_group.b128 [%d2], [%d3], %r4, %h5;"),
    (false, "sm_90a", "8.4", "applypriority.async.bulk.global.bulk_group.L2::evict_normal [%d2], %r3;"),
    (false, "sm_90a", "8.4", "cp.reduce.async.bulk.relaxed.sys.global.shared::cta.bulk_group.and.b64 [%d2], [%d3], %r4;"),
    (false, "sm_90a", "8.4", "multimem.cp.reduce.async.bulk.relaxed.cta.global.shared::cta.bulk_group.xor.b64 [%d2], [%d3], %r4;"),
    // fabric
    (true, "sm_107a", "9.5", "fabric.submit.op_restrict::fetching;"),
    (true, "sm_100f", "9.3", "fabric.wait.sync_restrict::reads;"),
    (false, "sm_90a", "8.4", "fabric.wait.sync_restrict::reads.sync_restrict::reads;"),
    (false, "sm_90a", "8.4", "fabric.try_atom.async.shared::cta.mbarrier::report::fabric.relaxed.sys.add.f32 [%r2, %d3], [%d4], [%d5], [%d6];"),
    (false, "sm_90", "8.1", "fabric.wait.sync_restrict::reads;"),
    (false, "sm_90a", "8.4", "fabric.submit;"),
    (false, "sm_90a", "8.4", "fabric.try_red.async.shared::cta.mbarrier::complete_tx::16B.relaxed.sys.add.u64 [%r2, %d3], [%d4], %r5, [%d6];"),
    (false, "sm_107a", "9.5", "fabric.try_atom.async.shared::cta.mbarrier::report::fabric.relaxed.sys.cas.b32 [%r2, %d3], [%d4], [%d5], [%d6];"),
    (false, "sm_80", "7.1", "fabric.submit.op_restrict::fetching;"),
    // async_copy
    (true, "sm_100f", "9.3", "cp.async.commit_group;"),
    (true, "sm_90a", "8.4", "cp.async.wait_all;"),
    (true, "sm_107a", "9.5", "cp.async.ca.shared.global.L2::256B [%d2], [%d3], 16, %p2;"),
    (true, "sm_100a", "8.6", "cp.async.cg.shared::cta.global.L2::64B [%d2], [%d3], 16, %p2;"),
    (true, "sm_100a", "8.6", "cp.async.wait_group 1;"),
    (true, "sm_107a", "9.5", "cp.async.cg.shared::cta.global.L2::128B [%d2], [%d3], 16;"),
    (false, "sm_107a", "9.5", "cp.async.ca.shared.global.L2::cache_hint [%d2], [%d2], [%d3], 16, %p2;"),
    (false, "sm_107a", "9.5", "cp.async.cg.shared::cta.global.L2::cache_hint.L2::256B [%d2], [%x1], 16, %r5, %d6;"),
    (false, "sm_80", "7.1", "cp.async.cg.shared::cta.global.L2::64B [%d2], [%d3], 16, %p2;"),
    (false, "sm_80", "7.1", "cp.async.ca.shared.global.L2::256B [%d2], [%d3], 16, %p2;"),
    (false, "sm_90", "8.1", "cp.async.ca.shared.global.L2::cache_hint.L2::128B [%d2], [%d3], 16;"),
    (false, "sm_80", "7.1", "cp.async.cg.shared::cta.global.L2::128B [%d2], [%d3], 16;"),
    (false, "sm_107a", "9.5", "cp.async.wait_group 1, 1;"),
    // ldmatrix
    (true, "sm_107a", "9.5", "ldmatrix.sync.aligned.m8n16.x4.shared.s8.s4 {%r3,%r4,%r5,%r6}, [%d7];"),
    (true, "sm_107a", "9.5", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%d2], {%r4,%r5};"),
    (true, "sm_100a", "8.6", "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {%r3,%r4}, [%d5];"),
    (true, "sm_120a", "8.7", "ldmatrix.sync.aligned.m16n16.x2.trans.b8 {%r3,%r4,%r5,%r6}, [%d7];"),
    (true, "sm_120a", "8.7", "ldmatrix.sync.aligned.m8n16.x2.shared::cta.b8x16.b6x16_p32 {%r3,%r4}, [%d5];"),
    (true, "sm_100a", "8.6", "stmatrix.sync.aligned.m16n8.x2.trans.b8 [%d2], {%r4,%r5};"),
    (true, "sm_100a", "8.6", "stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [%d2], {%r4};"),
    (true, "sm_107a", "9.5", "ldmatrix.sync.aligned.m8n16.x4.shared::cta.s8.s4 {%r3,%r4,%r5,%r6}, [%d7];"),
    (true, "sm_107a", "9.5", "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r3;"),
    (false, "sm_80", "7.1", "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r3;"),
    (false, "sm_89", "8.4", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%d2], {%r4,%r5};"),
    (false, "sm_80", "7.1", "stmatrix.aligned.sync.m8n8.x4.trans.shared.b16 [%d2], {%r4,%r5,%r6,%r7};"),
    (false, "sm_89", "8.4", "stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [%d2], {%r4};"),
    (false, "sm_80", "7.1", "ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r3,%r4}, [%d5];"),
    (false, "sm_107a", "9.5", "ldmatrix.sync.aligned.m8n16.x1.shared::cta.b8x16.b6x16_p32 [%d4];"),
    (false, "sm_90a", "8.4", "stmatrix.sync.aligned.m16n8.x1.b8.trans [%d2], {%r4};"),
    // async_store
    (true, "sm_107a", "9.5", "st.bulk.weak.shared::cta [%d2], %d3, 0;"),
    (true, "sm_90", "8.1", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%d2], {%f4,%f5}, [%d6];"),
    (true, "sm_100f", "9.3", "st.async.release.gpu.global.b64 [%d2], %d3;"),
    (true, "sm_107a", "9.5", "red.async.mmio.release.sys.add.s32 [%d2], %r3;"),
    (true, "sm_107a", "9.5", "st.async.shared::cluster.mbarrier::complete_tx::bytes.b128 [%d2], %q3, [%d4];"),
    (true, "sm_90a", "8.4", "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.and.b32 [%d2], %r3, [%d4];"),
    (true, "sm_90", "8.1", "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%d2], %r3, [%d4];"),
    (true, "sm_120a", "8.7", "st.bulk.weak [%d2], %d3, 0;"),
    (true, "sm_100f", "9.3", "st.async.weak.mbarrier::complete_tx::bytes.b128 [%d2], %q3, [%d4];"),
    (false, "sm_80", "7.1", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%d2], {%f4,%f5}, [%d6];"),
    (false, "sm_107a", "9.5", "st.async.shared::cluster.mbarrier::complete_tx::bytes.b128 [%d2], [%d2], %q3, [%d4];"),
    (false, "sm_107a", "9.5", "st.async.weak.v2.s64 [%d2], {%d4,%d5}, [%d6];"),
    (false, "sm_90a", "8.4", "st.bulk.weak.shared::cta [%d2], %d3, 0;"),
    (false, "sm_107a", "9.5", "st.bulk.weak.shared::cta.shared::cta [%d2], %d3, 0;"),
    (false, "sm_90a", "8.4", "red.async.release.sys.global.add.u32 [%d2], %u1;"),
    (false, "sm_90", "8.1", "st.bulk.weak [%d2], %d3, 0;"),
    // mma
    (true, "sm_90", "8.1", "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%x3,%x4}, {%x6,%x7}, {%x9}, {%x11,%x12};"),
    (true, "sm_107a", "9.5", "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f3,%f4,%f5,%f6}, {%r8,%r9}, {%r11}, {%f13,%f14,%f15,%f16};"),
    (true, "sm_90", "8.1", "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {%r3,%r4}, {%r6}, {%r8}, {%r10,%r11};"),
    (true, "sm_100a", "8.6", "mma.sync.aligned.m16n8k32.row.col.s32.u4.u4.s32 {%r3,%r4,%r5,%r6}, {%r8,%r9}, {%r11}, {%r13,%r14,%r15,%r16};"),
    (true, "sm_100f", "9.3", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r3,%r4}, {%r6}, {%r8}, {%r10,%r11};"),
    (true, "sm_107a", "9.5", "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r3,%r4}, {%r6}, {%r8}, {%r10,%r11};"),
    (true, "sm_100a", "8.6", "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%r3,%r4}, {%r6}, {%r8}, {%r10,%r11};"),
    (true, "sm_100f", "9.3", "mma.sync.aligned.m8n8k4.row.col.rn.f64.f64.f64.f64 {%d3,%d4}, {%d6}, {%d8}, {%d10,%d11};"),
    (true, "sm_89", "8.4", "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r3,%r4}, {%r6}, {%r8}, {%r10,%r11};"),
    (false, "sm_80", "7.1", "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%d3,%d4,%d5,%d6}, {%d8,%d9}, {%d11}, {%d13,%d14,%d15,%d16};"),
    (false, "sm_100a", "8.6", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {%f3,%f4,%f5,%f6}, {%x8,%x9}, {%x11}, {%x13,%x14};"),
    (false, "sm_107a", "9.5", "mma.sync.aligned.m8n8k128.row.col.s32.b1.s32.b1.and.popc {%r3,%r4}, {%r6}, {%r8}, {%r10,%r11};"),
    (false, "sm_107a", "9.5", "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e4m3.e2m1.f16 {%r6,%r7,%r8,%r9}, {%r11,%r12}, {%x14,%x15};"),
    (false, "sm_107a", "9.5", "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r8,%r9}, {%r11,%r12}, {%f14,%f15,%f16,%f17}, %r18, 0;"),
    (false, "sm_107a", "9.5", "mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%p1,%p1}, {%r6}, {%r8}, {%r10,%r11};"),
    (false, "sm_90a", "8.4", "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16 {%x3,%x4}, {%x3,%x4}, {%r6,%r7}, {%r9}, {%x11,%x12};"),
];

#[test]
fn verdicts_are_those_of_ptxas() {
    let mut wrong = Vec::new();
    for (legal, target, version, line) in VERDICTS {
        let wide = if *version >= "8.3" { ".reg .b128 %q<9>;" } else { "" };
        let head = format!(".version {version}\n.target {target}\n.address_size 64");
        let text = format!("{head}\n.visible .entry k() {{ {REGISTERS}{wide}\n{line}\nret; }}");
        super::helps_hold(&text);
        let (lexed, mut found) = lex(&text);
        found.extend(crate::compile(&lexed.tokens).diagnostics);
        let errors: Vec<_> =
            found.iter().filter(|d| d.severity == Severity::Error && d.code.number < 600).map(|d| &d.message).collect();
        if errors.is_empty() != *legal {
            wrong.push(format!("{target} {version} {line}: {errors:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
