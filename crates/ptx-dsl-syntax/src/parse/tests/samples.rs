//! Sources for the tests: the manual's examples, and modules as compilers write them.

/// The examples of the manual's pages on cluster launch control, CTA pairs, `mbarrier.arrive_drop` and `tcgen05.commit`. Lines
/// that a page only indicates (`..`, headings) are left out or comments.
pub(super) const MANUAL: &[(&str, &str)] = &[
    (
        "cluster launch control, newer text",
        r#"
// Assumption: 1D cluster (cluster_ctaid.y/.z == 1) with 1 thread per CTA.

// Current Cluster to be processed: initially the launched cluster:
mov.b32 xctaid, %ctaid.x;

// Establish full synchronization across all CTAs of the cluster for the first iteration.
// Weaker synchronization may suffice depending on initialization sequence.
barrier.cluster.arrive;
barrier.cluster.wait;

// Iteration loop over all cluster CTAs
processCluster:
  mov.u32  %r0, %tid.x;
  setp.u32.eq p0, %r0, 0x0;
  // Elect a leader thread (thread idx 0) for each CTA to arrive and expect_tx at
  // each CTA local shared memory barrier:
  mov.u32  %r0, %tid.x;
  setp.u32.eq p0, %r0, 0x0;
  // All other threads skip to processing the work of the current cluster:
  @!p0 bra processCurrentCluster;

  // All CTAs in the cluster arrive at their local SMEM barrier and set 16B handle tx count:
  mbarrier.arrive.expect_tx.cluster.relaxed.shared::cta.b64 state, [mbar], 16;

  // First CTA in Cluster attempts to cancel a not-yet-started cluster:
  mov.u32  %r0, %cluster_ctaid.x;
  setp.u32.eq p0, %r0, 0x0;
  @p0 clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [addr], [mbar];

  processCurrentCluster:
    // ...process current cluster ("xctaid") while cancellation request for next cluster runs asynchronously...

  // After processing current cluster, wait on cancellation request response for next cluster via specified mbarrier:
  waitLoop:
    // .acquire prevents weak handle read ("ld.shared handle, [addr]") from overtaking this mbarrier.try_wait:
    mbarrier.try_wait.cluster.acquire.shared::cta.b64   complete, [mbar], state;
    @!complete bra waitLoop;
   // Cancellation request has completed.

  // Generic-proxy weak read of cancellation request into 16-byte wide register:
  ld.shared.b128 handle, [addr];

  // Check whether cancellation succeeded:
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, handle;
  // If cancellation request failed, we couldn't cancel any other cluster, so all current cluster CTAs exit.
  @!p ret;

  // Otherwise, cancellation request succeeded.
  // Extract "ctaid" of first cancelled-cluster CTA which we'll process in next "processCluster" loop iteration:
  @p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {xctaid, _, _, _},  handle;

  // Release current iteration generic-proxy weak read of handle ("ld.shared handle, [addr]")
  // before next iteration async-proxy write to handle ("clusterlaunchcontrol.try_cancel [addr]")
  fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;

  // Arrive and wait at the next iteration cluster barrier with relaxed semantics.
  barrier.cluster.arrive.relaxed;
  barrier.cluster.wait;

  // Acquire prior iteration generic-proxy weak read of handle ("ld.shared handle, [addr]")
  // before current iteration async-proxy write to handle ("clusterlaunchcontrol.try_cancel [addr]")
  fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;

  bra processCluster;
"#,
    ),
    (
        "cluster launch control, older text",
        r#"
// Assumption: 1D cluster (cluster_ctaid.y/.z == 1)
// with 1 thread per CTA.

// Current Cluster to be processed, initially the
// currently launched cluster:

mov.b32 xctaid, %ctaid.x;
barrier.cluster.arrive.relaxed;
processCluster:

// Wait on all cluster CTAs completing initialization or processing of previous cluster:

barrier.cluster.wait.acquire;
mov.u32  %r0, %tid.x;
setp.u32.eq p0, %r0, 0x0;
@!p0 bra asyncWork;

// All CTAs in the cluster arrive at their local
// SMEM   barrier and set 16B handle tx count:

mbarrier.arrive.expect_tx.cluster.relaxed.shared::cta.b64 state, [mbar], 16;

// first CTA in Cluster attempts to cancel a
// not-yet-started cluster:

mov.u32  %r0, %cluster_ctaid.x;
setp.u32.eq p0, %r0, 0x0;
@p0 clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [addr], [mbar];

asyncWork:
// ...process xctaid while cancellation request completes
// asynchronously...

// All CTAs in Cluster wait on cancellation responses on their local SMEM:

waitLoop:
// .acquire prevents the load of the handle from overtaking this read:

mbarrier.try_wait.cluster.acquire.shared::cta.b64   complete, [mbar], state;
@!complete bra waitLoop;

// Load response into 16-byte wide register after unblocking
// from mbarrier:

ld.shared.b128 handle, [addr];

// Check whether cancellation succeeded:

clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, handle;
@!p ret; // If failed, we are don end exit:

// Otherwise, read ctaid of first CTA of cancelled Cluster for next iteration...

@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {xctaid, _, _, _},  handle;

// ...and signal CTA0 that we are done reading from handle:
// Fence generic->async

fence.proxy.async.shared::cta;
barrier.cluster.arrive.relaxed;

bra processCluster;
"#,
    ),
    (
        "CTA pairs",
        r#"
barrier.cluster.arrive; barrier.cluster.wait; tcgen05.dealloc.2cta.sync.aligned; exit;
barrier.cluster.arrive; barrier.cluster.wait; tcgen05.dealloc.2cta.sync.aligned; exit;
"#,
    ),
    (
        "mbarrier.arrive_drop",
        r#"
.reg .b32 cnt;
.reg .b64 %r1;
.shared .b64 shMem;

// Example 1
@p mbarrier.arrive_drop.shared.b64 _, [shMem];
@p exit;
@p2 mbarrier.arrive_drop.noComplete.shared.b64 _, [shMem], %a;
@p2 exit;
@!p mbarrier.arrive.shared.b64   %r1, [shMem];
@!p mbarrier.test_wait.shared.b64  q, [shMem], %r1;

// Example 2
mbarrier.arrive_drop.shared::cluster.b64 _, [addr];
mbarrier.arrive_drop.shared::cta.release.cluster.b64     _, [addr], cnt;

// Example 3
mbarrier.arrive_drop.expect_tx.shared::cta.relaxed.cluster.b64 state, [addr], tx_count;
"#,
    ),
    (
        "tcgen05.commit",
        r#"
// Example 1:
tcgen05.cp.cta_group::1.128x256b                      [taddr0], sdesc0;
tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [mbarObj1];

loop:
mbarrier.try_wait.parity.b64 p, [mbarObj1], 0;
@!p bra loop;

// Example 2:
tcgen05.mma.cta_group::2.kind::tf32    [taddr0],  adesc,  bdesc, idesc, p;
tcgen05.commit.cta_group::2.mbarrier::arrive::one.b64 [mbarObj2];

loop:
mbarrier.try_wait.parity.b64 p, [mbarObj2], 0;
@!p bra loop;
"#,
    ),
];

/// Modules.
pub(super) const MODULES: &[(&str, &str)] = &[
    (
        "nvcc with printf and debug sections",
        r#"
//
// Generated by a compiler
//
.version 8.6
.target sm_90a, debug
.address_size 64

	// .globl	_Z3fooPi
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0,
	.param .b64 vprintf_param_1
)
;
.global .align 1 .b8 $str[7] = {37, 100, 32, 37, 102, 10, 0};
.extern .shared .align 16 .b8 smem[];
.const .align 4 .f32 coef[2][2] = {{0f3F800000, 1.5}, {2., -3.0e-1}};

.func  (.param .b32 func_retval0) helper(
	.param .b32 helper_param_0,
	.param .align 8 .b8 helper_param_1[16]
)
{
	.reg .b32 	%r<4>;

	ld.param.u32 	%r1, [helper_param_0];
	ld.param.u32 	%r2, [helper_param_1+8];
	add.s32 	%r3, %r1, %r2;
	st.param.b32 	[func_retval0+0], %r3;
	ret;

}
.visible .entry _Z3fooPi(
	.param .u64 .ptr .align 1 _Z3fooPi_param_0,
	.param .u32 _Z3fooPi_param_1
)
.maxntid 256, 1, 1
.minnctapersm 2
{
	.local .align 8 .b8 	__local_depot0[16];
	.reg .b64 	%SP;
	.reg .b64 	%SPL;
	.reg .pred 	%p<2>;
	.reg .b32 	%r<10>;
	.reg .b64 	%rd<8>;
	.loc	1 12 0
$L__func_begin0:
	.loc	1 12 0

	mov.u64 	%SPL, __local_depot0;
	cvta.local.u64 	%SP, %SPL;
	ld.param.u64 	%rd1, [_Z3fooPi_param_0];
	setp.lt.s32 	%p1, %r1, 1;
	@%p1 bra 	$L__BB1_2;
	.loc	1 14 5, function_name $L__info_string0, inlined_at 1 20 3
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd5;
	.param .align 8 .b8 param1[16];
	st.param.v2.b32 	[param1+0], {%r1, %r2};
	.param .b32 retval0;
	call.uni (retval0), 
	vprintf, 
	(
	param0, 
	param1
	);
	ld.param.b32 	%r3, [retval0+0];
	} // callseq 0
$L__BB1_2:
	.loc	1 20 1
	ret;
$L__tmp3:
$L__func_end1:

}
	.file	1 "/src/a file.cu", 1700000000, 4096
	.section	.debug_abbrev
	{
.b8 1                                   // Abbreviation Code
.b8 17, 1, 37
.b8 0
	}
	.section	.debug_info
	{
.b32 1234
.b8 2, 0
.b32 .debug_abbrev
.b64 $L__func_begin0
.b64 $L__func_end1-$L__func_begin0
.b32 $L__info_string0+4
.b8 -1, -2
	}
	.section	.debug_str
	{
$L__info_string0:
.b8 95, 90, 51, 0
	}
	.section	.debug_macinfo	{	}
"#,
    ),
    (
        "switch tables and indirect calls",
        r#"
<sm_90, ptx 8.0>
.func (.reg .u32 r) f (.reg .u32 a) .noreturn { trap; }
.func g;
.weak .func h () .abi_preserve 4 .abi_preserve_control 2 { ret; }
.alias i, h;
.pragma "nounroll";
.visible .entry k(.param .u32 n, .param .u64 fp) .reqntid 128 .reqnctapercluster 2, 1, 1 .explicitcluster
.pragma "enable_smem_spilling";
{
    .reg .b32 %r<8>; .reg .b64 %rd<2>; .reg .pred p, q;
    ld.param.u32 %r1, [n];
    ts: .branchtargets L0, L1, L2;
    setp.ge.u32 p|q, %r1, 3;
    @p bra done;
    brx.idx %r1, ts;
L0: mov.u32 %r2, (4 + 2) * 3; bra done;
L1: { .reg .b32 %r1; mov.u32 %r1, WARP_SZ << 2 | 1; { .shared .align 8 .b64 bar[2]; mbarrier.init.shared.b64 [bar+8], 1; } }
L2:
    proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 4 .b8 _[12]) .noreturn;
    fns: .calltargets g, h;
    ld.param.u64 %rd1, [fp];
    call (%r3), %rd1, (%r1, 4), proto;
    call.uni %rd1, (), fns;
    call h;
done:
    ret;
}
"#,
    ),
    (
        "kernels of tensors and clusters",
        r#"
.version 8.6
.target sm_100a
.global .align 128 .b8 map[128];
.global .attribute(.managed) .u32 m;
.global .attribute(.unified(0xAB, 0xCD)) .u64 u = generic(m)+4;
.global .u8 bytes[3] = {0xFF(m), 0xFF00(m), 0xFF0000(m)};
.common .global .v4 .f32 v = {1.0, 0f00000000, 3., -4};
.global .texref t0; .global .samplerref s0; .global .surfref u0;
.tex .u32 old;
.entry k(.param .align 64 .b8 p[128], .param .u64 .ptr .global o: &mut [f32])
{
    .reg .v4 .f32 %v; .reg .b32 %r<9>; .reg .b64 d; .reg .b128 h;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint
        [%r1], [map, {%r2, %r3}], [%r4], %r5, d;
    tcgen05.cp.cta_group::1.4x256b.b8x16.b6x16_p32 [%r1], d;
    tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r0, %r1, %r2, %r3}, [%r4];
    tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%r1], d, d, %r2, [%r3], [%r3+4], p;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%v.x, %v.y}, d, d, p, 1, -1, 0, 1;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, h;
    fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
    tex.2d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [t0, s0, {%r5, %r6}];
    ld.global.L1::evict_last.L2::128B.v2.b64 {d, _}, [%r1+-8];
    vadd4.s32.u32.s32.add %r1.b3210, %r2.b7654, %r3, %r4;
    mov.f64 d, 1.25e2; mov.u32 %r1, -(1 + ~4) % 5 == 0 ? 1 : (2 > 1 && !0 ? 3 : 4);
    elect.sync %r1|p, 0xFFFFFFFF;
    setp.eq.xor.s32 p|_, %r1, %r2, !q;
    @!p exit;
}
"#,
    ),
    (
        "legacy",
        r#"
.version 2.0
.target sm_20, texmode_independent
.address_size 64
@@DWARF .section .debug_info
@@DWARF .4byte 0x000006b5, 0x00000001
@@DWARF .byte 0x11
@@DWARF .quad begin
.visible .const .surfref s;
.nv_intermediate_source_section { .code_block { .ir_name "a" .source_begin "x" .source_end } }
.entry k { .param .u32 q; ld.param.u32 %r1, [q]; exit; }
.entry l () .maxnreg 32 .maxnctapersm 2 .language "c", 3 .minperctamemory 1024 { .sreg .u32 %x; }
"#,
    ),
];
