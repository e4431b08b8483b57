//! Asynchronous results: what is read, written or left while it is on its way.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 8 .b32 slot; .shared .align 8 .b64 mb;";

const KERNEL_A: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "32", directives: "", shared: SHARED };
const KERNEL_B: Kernel = Kernel { target: "sm_100a", version: "8.6", threads: "128", directives: "", shared: SHARED };
const KERNEL_C: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: "" };
const KERNEL_D: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "256", directives: "", shared: "" };

#[test]
fn registers_of_tensor_memory_loads() {
    check(&[
        Case {
            name: "t5_loop",
            kernel: &KERNEL_A,
            codes: &[605],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; mov.u32 %r11, 0; mov.u32 %r12, 0; L: \
                   tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+0]; add.u32 %r11, %r11, %r20; \
                   tcgen05.wait::ld.sync.aligned; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, %r59; @%p2 bra L; \
                   st.global.u32 [%d4], %r11; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "t5_dbl",
            kernel: &KERNEL_A,
            codes: &[605],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+0]; \
                   tcgen05.wait::ld.sync.aligned; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r22, %r23}, [%r10+2]; \
                   add.u32 %r30, %r20, %r22; tcgen05.wait::ld.sync.aligned; st.global.u32 [%d4], %r30; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "t5_pred",
            kernel: &KERNEL_A,
            codes: &[605],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+0]; \
                   setp.ne.u32 %p3, %r21, 0; tcgen05.wait::ld.sync.aligned; @%p3 st.global.u32 [%d4], %r20; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "t5_st",
            kernel: &KERNEL_A,
            codes: &[605],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+0]; \
                   st.global.v2.u32 [%d4], {%r20, %r21}; tcgen05.wait::ld.sync.aligned; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "t5_addr",
            kernel: &KERNEL_A,
            codes: &[605],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+0]; \
                   cvt.u64.u32 %d10, %r20; tcgen05.wait::ld.sync.aligned; add.u64 %d11, %d4, %d10; \
                   st.global.u32 [%d11], 1; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "t5_waitst",
            kernel: &KERNEL_A,
            codes: &[605],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+0]; \
                   tcgen05.wait::st.sync.aligned; st.global.u32 [%d4], %r20; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "t5_dbl",
            kernel: &KERNEL_A,
            codes: &[],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+0]; \
                   mov.u32 %r12, 0; L: tcgen05.wait::ld.sync.aligned; mov.u32 %r30, %r20; mov.u32 %r31, %r21; \
                   tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+2]; add.u32 %r33, %r30, %r31; \
                   st.global.u32 [%d4], %r33; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 8; @%p2 bra L; \
                   tcgen05.wait::ld.sync.aligned; st.global.u32 [%d4], %r20; \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "t5_pingpong",
            kernel: &KERNEL_A,
            codes: &[],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+0]; \
                   mov.u32 %r12, 0; L: tcgen05.wait::ld.sync.aligned; \
                   tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r22, %r23}, [%r10+2]; add.u32 %r33, %r20, %r21; \
                   st.global.u32 [%d4], %r33; tcgen05.wait::ld.sync.aligned; \
                   tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+4]; add.u32 %r33, %r22, %r23; \
                   st.global.u32 [%d4], %r33; add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 8; @%p2 bra L; \
                   tcgen05.wait::ld.sync.aligned; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "t5_role",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shr.u32 %r40, %r0, 5; setp.eq.u32 %p2, %r40, 0; \
                   @%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; shl.b32 %r41, %r40, 21; add.u32 %r42, %r10, %r41; \
                   tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r20}, [%r42]; tcgen05.wait::ld.sync.aligned; \
                   mul.wide.u32 %d10, %r0, 4; add.u64 %d11, %d4, %d10; st.global.u32 [%d11], %r20; bar.sync 0; \
                   @%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
        Case {
            name: "t5_late",
            kernel: &KERNEL_A,
            codes: &[],
            body: "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64; bar.sync 0; \
                   ld.shared.u32 %r10, [slot]; tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10+0]; \
                   setp.eq.u32 %p4, %r59, 0; @%p4 bra SKIP; tcgen05.wait::ld.sync.aligned; st.global.u32 [%d4], %r20; \
                   bra OUT; SKIP: tcgen05.wait::ld.sync.aligned; st.global.u32 [%d4], %r21; OUT: \
                   tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;",
        },
    ]);
}

#[test]
fn registers_and_groups_of_wgmma() {
    check(&[
        Case {
            name: "wg_loop",
            kernel: &KERNEL_C,
            codes: &[651],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; mov.u32 %r12, 0; L: \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; add.f32 %f8, %f8, %f0; wgmma.wait_group.sync.aligned 0; \
                   add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 8; @%p2 bra L; st.global.f32 [%d4], %f8;",
        },
        Case {
            name: "wg_two",
            kernel: &KERNEL_C,
            codes: &[651],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; st.global.f32 [%d4], %f4; \
                   wgmma.wait_group.sync.aligned 0;",
        },
        Case {
            name: "wg_waitfirst",
            kernel: &KERNEL_C,
            codes: &[651],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.wait_group.sync.aligned 0; wgmma.commit_group.sync.aligned; st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "wg_nowait",
            kernel: &KERNEL_C,
            codes: &[651],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "wg_zero",
            kernel: &KERNEL_C,
            codes: &[651],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; mov.f32 %f0, 0f00000000; wgmma.wait_group.sync.aligned 0; \
                   st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "wg_nocommit",
            kernel: &KERNEL_C,
            codes: &[653],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "wg_nofence",
            kernel: &KERNEL_C,
            codes: &[652],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "wg_fencelate",
            kernel: &KERNEL_C,
            codes: &[652],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; \
                   st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "wg_exit",
            kernel: &KERNEL_C,
            codes: &[650],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned;",
        },
        Case {
            name: "wg_afrag",
            kernel: &KERNEL_C,
            codes: &[651],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; mov.b32 %r20, %r59; mov.b32 %r21, %r59; mov.b32 %r22, %r59; \
                   mov.b32 %r23, %r59; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, {%r20,%r21,%r22,%r23}, %d11, %p9, 1, 1, 0; \
                   wgmma.commit_group.sync.aligned; mov.b32 %r20, 0; wgmma.wait_group.sync.aligned 0; \
                   st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "wg_two",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; st.global.f32 [%d4], %f0; \
                   wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f4;",
        },
        Case {
            name: "wg_loop",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; mov.u32 %r12, 0; L: \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; add.u64 %d10, %d10, 2; \
                   add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 8; @%p2 bra L; wgmma.wait_group.sync.aligned 0; \
                   st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "wg_pipe2",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; mov.u32 %r12, 0; L: wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f4, %f5, %f6, %f7}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; st.global.f32 [%d4], %f0; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1; st.global.f32 [%d4], %f4; \
                   add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 8; @%p2 bra L; wgmma.wait_group.sync.aligned 0; \
                   st.global.f32 [%d4], %f0;",
        },
        Case {
            name: "wg_chain",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f0; \
                   wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f1;",
        },
        Case {
            name: "wg_role",
            kernel: &KERNEL_D,
            codes: &[],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   setp.ge.u32 %p2, %r0, 128; @%p2 bra P; wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d11, %p9, 1, 1, 0, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; st.global.f32 [%d4], %f0; bra E; \
                   P: st.global.u32 [%d3], 1; E:",
        },
        Case {
            name: "wg_afrag2",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ne.u32 %p9, %r59, 0; ld.param.u64 %d10, [a]; ld.param.u64 %d11, [b]; mov.f32 %f0, 0f00000000; \
                   mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000; \
                   mov.f32 %f5, 0f00000000; mov.f32 %f6, 0f00000000; mov.f32 %f7, 0f00000000; mov.f32 %f8, 0f00000000; \
                   mov.f32 %f9, 0f00000000; mov.f32 %f10, 0f00000000; mov.f32 %f11, 0f00000000; \
                   wgmma.fence.sync.aligned; mov.b32 %r20, %r59; mov.b32 %r21, %r59; mov.b32 %r22, %r59; \
                   mov.b32 %r23, %r59; wgmma.fence.sync.aligned; \
                   wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, {%r20,%r21,%r22,%r23}, %d11, %p9, 1, 1, 0; \
                   wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; mov.b32 %r20, 0; \
                   st.global.f32 [%d4], %f0;",
        },
    ]);
}
