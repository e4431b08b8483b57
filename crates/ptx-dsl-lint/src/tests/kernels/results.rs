//! Results of MMAs and bulk loads: what is read before it has come.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 8 .b32 slot; .shared .align 8 .b64 mb[2]; .shared .align 128 .b8 buf[4096];";
const SHARED2: &str = ".shared .align 128 .b8 buf[4096]; .shared .align 8 .b64 full[2];";

const KERNEL_A: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "32", directives: "", shared: SHARED };
const KERNEL_B: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: "" };
const KERNEL_C: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: SHARED2 };

#[test]
fn results_of_mmas() {
    check(&[
        Case {
            name: "mr_nocommit",
            kernel: &KERNEL_A,
            codes: &[683],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0x8100490; setp.ne.u32 %p9, %r59, 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; \
                   @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %d1, %d2, %r11, %p9; bar.sync 0; \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; tcgen05.wait::ld.sync.aligned; \
                   st.global.u32 [%d4], %r20; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "mr_nowait",
            kernel: &KERNEL_A,
            codes: &[683],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0x8100490; setp.ne.u32 %p9, %r59, 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; elect.sync _|%p4, -1; @!%p4 bra X; \
                   tcgen05.mma.cta_group::1.kind::f16 [%r10], %d1, %d2, %r11, %p9; \
                   tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [mb]; X: bar.sync 0; \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; tcgen05.wait::ld.sync.aligned; \
                   st.global.u32 [%d4], %r20; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "mr_loop",
            kernel: &KERNEL_A,
            codes: &[683],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0x8100490; setp.ne.u32 %p9, %r59, 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; mov.u32 %r30, 0; L: \
                   @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %d1, %d2, %r11, %p9; \
                   @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [mb]; \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; tcgen05.wait::ld.sync.aligned; \
                   st.global.u32 [%d4], %r20; add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, 4; @%p5 bra L; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "mr_wait",
            kernel: &KERNEL_A,
            codes: &[],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0x8100490; setp.ne.u32 %p9, %r59, 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; \
                   @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %d1, %d2, %r11, %p9; \
                   @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [mb]; \
                   WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra WT; \
                   tcgen05.fence::after_thread_sync; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; \
                   tcgen05.wait::ld.sync.aligned; st.global.u32 [%d4], %r20; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "mr_loop",
            kernel: &KERNEL_A,
            codes: &[],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0x8100490; setp.ne.u32 %p9, %r59, 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; mov.u32 %r30, 0; mov.u32 %r31, 0; L: \
                   @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %d1, %d2, %r11, %p9; \
                   @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [mb]; \
                   WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], %r31; @!%p15 bra WT; xor.b32 %r31, %r31, 1; \
                   tcgen05.fence::after_thread_sync; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; \
                   tcgen05.wait::ld.sync.aligned; st.global.u32 [%d4], %r20; tcgen05.fence::before_thread_sync; \
                   bar.sync 0; add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, 4; @%p5 bra L; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
    ]);
}

#[test]
fn arrivals_while_loading() {
    check(&[
        Case {
            name: "ra_one",
            kernel: &KERNEL_A,
            codes: &[654],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0x8100490; setp.ne.u32 %p9, %r59, 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; \
                   @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %d1, %d2, %r11, %p9; \
                   @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [mb]; \
                   WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra WT; \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; \
                   @%p1 mbarrier.arrive.shared::cta.b64 _, [mb+8]; tcgen05.wait::ld.sync.aligned; \
                   st.global.u32 [%d4], %r20; \
                   W2: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb+8], 0; @!%p15 bra W2; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "ra_loop",
            kernel: &KERNEL_A,
            codes: &[654],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0x8100490; setp.ne.u32 %p9, %r59, 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; mov.u32 %r30, 0; L: \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; \
                   @%p1 mbarrier.arrive.shared::cta.b64 _, [mb+8]; tcgen05.wait::ld.sync.aligned; \
                   st.global.u32 [%d4], %r20; add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, 4; @%p5 bra L; \
                   W2: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb+8], 0; @!%p15 bra W2; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        // Nobody who waits for the arrival writes Tensor Memory.
        Case {
            name: "ra_other",
            kernel: &KERNEL_A,
            codes: &[],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; \
                   @%p1 mbarrier.arrive.shared::cta.b64 _, [mb+8]; tcgen05.wait::ld.sync.aligned; \
                   st.global.u32 [%d4], %r20; W2: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb+8], 0; \
                   @!%p15 bra W2; bar.sync 0; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        // The MMA behind the wait writes the columns behind those that are loaded.
        Case {
            name: "ra_columns",
            kernel: &KERNEL_A,
            codes: &[],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0x8100490; setp.ne.u32 %p9, %r59, 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; \
                   @%p1 mbarrier.arrive.shared::cta.b64 _, [mb+8]; tcgen05.wait::ld.sync.aligned; \
                   st.global.u32 [%d4], %r20; W2: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb+8], 0; \
                   @!%p15 bra W2; add.u32 %r12, %r10, 32; \
                   @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r12], %d1, %d2, %r11, %p9; bar.sync 0; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "ra_after",
            kernel: &KERNEL_A,
            codes: &[],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0x8100490; setp.ne.u32 %p9, %r59, 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; \
                   @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %d1, %d2, %r11, %p9; \
                   @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [mb]; \
                   WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb], 0; @!%p15 bra WT; \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; tcgen05.wait::ld.sync.aligned; \
                   @%p1 mbarrier.arrive.shared::cta.b64 _, [mb+8]; st.global.u32 [%d4], %r20; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "ra_expect",
            kernel: &KERNEL_A,
            codes: &[],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0x8100490; setp.ne.u32 %p9, %r59, 0; \
                   setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [mb+8], 1; bar.sync 0; \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r10]; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb+8], 16; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%d3], 16, [mb+8]; \
                   tcgen05.wait::ld.sync.aligned; st.global.u32 [%d4], %r20; \
                   WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [mb+8], 0; @!%p15 bra WT; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
    ]);
}

#[test]
fn mmas_in_no_group() {
    check(&[
        Case {
            name: "nc_loop",
            kernel: &KERNEL_B,
            codes: &[653],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; wgmma.fence.sync.aligned; \
                   mov.u32 %r30, 0; L: \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, 4; @%p5 bra L; wgmma.wait_group.sync.aligned 0; \
                   st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "nc_two",
            kernel: &KERNEL_B,
            codes: &[653],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4,%f5,%f6,%f7}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f4;",
        },
        Case {
            name: "nc_loop",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; wgmma.fence.sync.aligned; \
                   mov.u32 %r30, 0; L: \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, 4; @%p5 bra L; wgmma.commit_group.sync.aligned; \
                   wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f0;",
        },
    ]);
}

#[test]
fn bulk_loads() {
    check(&[
        Case {
            name: "bl_nowait",
            kernel: &KERNEL_C,
            codes: &[646],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   bar.sync 0; ld.shared.u32 %r20, [buf+0]; st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "bl_early",
            kernel: &KERNEL_C,
            codes: &[646],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   @%p1 ld.shared.u32 %r20, [buf+0]; WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full], 0; \
                   @!%p15 bra WT; ld.shared.u32 %r20, [buf+8]; st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "bl_generic",
            kernel: &KERNEL_C,
            codes: &[646],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   mov.u64 %d10, buf; cvta.shared.u64 %d10, %d10; @%p1 ld.u32 %r20, [%d10]; \
                   @%p1 st.global.u32 [%d4], %r20; WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full], 0; \
                   @!%p15 bra WT;",
        },
        Case {
            name: "bl_otherstage",
            kernel: &KERNEL_C,
            codes: &[646],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+1024], [%d3], 1024, [full+8]; \
                   WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full], 0; @!%p15 bra WT; \
                   ld.shared.u32 %r20, [buf+1024]; st.global.u32 [%d4], %r20; \
                   W2: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full+8], 0; @!%p15 bra W2;",
        },
        Case {
            name: "bl_overwrite",
            kernel: &KERNEL_C,
            codes: &[646],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   @%p1 st.shared.u32 [buf], 1; WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full], 0; \
                   @!%p15 bra WT; ld.shared.u32 %r20, [buf+0]; st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "bl_never",
            kernel: &KERNEL_C,
            codes: &[647],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+1024], [%d3], 1024, [full+8]; \
                   WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full], 0; @!%p15 bra WT; \
                   ld.shared.u32 %r20, [buf+0]; st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "bl_never2",
            kernel: &KERNEL_C,
            codes: &[647],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "bl",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full], 0; @!%p15 bra WT; \
                   ld.shared.u32 %r20, [buf+0]; st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "bl_two",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+1024], [%d3], 1024, [full+8]; \
                   WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full], 0; @!%p15 bra WT; \
                   ld.shared.u32 %r20, [buf+0]; st.global.u32 [%d4], %r20; \
                   W2: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full+8], 0; @!%p15 bra W2; \
                   ld.shared.u32 %r20, [buf+1024]; st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "bl_onewaits",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   @!%p1 bra X; WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full], 0; @!%p15 bra WT; X: \
                   bar.sync 0; ld.shared.u32 %r20, [buf+0]; st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "bl_testwait",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   Q: mbarrier.test_wait.parity.shared::cta.b64 %p7, [full], 0; @%p7 bra G; nanosleep.u32 20; bra Q; G: \
                   ld.shared.u32 %r20, [buf+0]; st.global.u32 [%d4], %r20;",
        },
        Case {
            name: "bl_loop",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [full], 1; \
                   @%p1 mbarrier.init.shared::cta.b64 [full+8], 1; bar.sync 0; mov.u32 %r30, 0; mov.u32 %r31, 0; L: \
                   @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+0], 1024; \
                   @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf+0], [%d3], 1024, [full+0]; \
                   WT: mbarrier.try_wait.parity.shared::cta.b64 %p15, [full], %r31; @!%p15 bra WT; \
                   ld.shared.u32 %r20, [buf+0]; st.global.u32 [%d4], %r20; fence.proxy.async.shared::cta; bar.sync 0; \
                   xor.b32 %r31, %r31, 1; add.u32 %r30, %r30, 1; setp.lt.u32 %p5, %r30, %r59; @%p5 bra L;",
        },
    ]);
}
