//! Shared memory that all threads write and read.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 16 .b8 buf[4096]; .shared .align 16 .b8 other[4096]; .shared .align 8 .b64 mb;";

const KERNEL_A: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: SHARED };
const KERNEL_B: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "32", directives: "", shared: SHARED };

#[test]
fn what_other_threads_wrote() {
    check(&[
        Case {
            name: "nb_const",
            kernel: &KERNEL_A,
            codes: &[690],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   ld.shared.u32 %r5, [buf+8]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_next",
            kernel: &KERNEL_A,
            codes: &[690],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   ld.shared.u32 %r5, [%r3+4]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_loop",
            kernel: &KERNEL_A,
            codes: &[690],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; mov.u32 %r9, 0; L: \
                   st.shared.u32 [%r3], %r0; ld.shared.u32 %r5, [%r3+4]; mul.wide.u32 %d10, %r0, 4; \
                   add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r5; bar.sync 0; add.u32 %r9, %r9, 1; \
                   setp.lt.u32 %p2, %r9, 4; @%p2 bra L;",
        },
        Case {
            name: "nb_copy",
            kernel: &KERNEL_A,
            codes: &[690],
            body: "shl.b32 %r1, %r0, 4; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; \
                   cp.async.ca.shared.global [%r3], [%d3], 16; cp.async.commit_group; cp.async.wait_group 0; \
                   ld.shared.u32 %r5, [buf+64]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_generic",
            kernel: &KERNEL_A,
            codes: &[690],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   cvt.u64.u32 %d12, %r3; cvta.shared.u64 %d12, %d12; ld.u32 %r5, [%d12+4]; mul.wide.u32 %d10, %r0, 4; \
                   add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_bar",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; bar.sync 0; \
                   ld.shared.u32 %r5, [%r3+4]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_own",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   ld.shared.u32 %r5, [%r3]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_own4",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r1, %r0, 4; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; \
                   st.shared.v4.u32 [%r3], {%r0,%r0,%r0,%r0}; ld.shared.u32 %r5, [%r3+8]; mul.wide.u32 %d10, %r0, 4; \
                   add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_own2",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r1, %r0, 3; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   st.shared.u32 [%r3+4], %r0; ld.shared.u32 %r5, [%r3+4]; mul.wide.u32 %d10, %r0, 4; \
                   add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_warp",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   bar.warp.sync -1; xor.b32 %r4, %r1, 4; add.u32 %r4, %r2, %r4; ld.shared.u32 %r5, [%r4]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        // The last lane reads what the next warp writes.
        Case {
            name: "nb_warp_next",
            kernel: &KERNEL_A,
            codes: &[690],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   bar.warp.sync -1; ld.shared.u32 %r5, [%r3+4]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_header",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; setp.eq.u32 %p1, %r0, 0; \
                   @%p1 st.shared.u32 [buf], 7; bar.sync 0; add.u32 %r3, %r3, 16; st.shared.u32 [%r3], %r0; \
                   ld.shared.u32 %r5, [buf]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_two",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; bar.sync 0; \
                   ld.shared.u32 %r5, [%r3+4]; bar.sync 0; st.shared.u32 [%r3], %r5; bar.sync 0; \
                   ld.shared.u32 %r5, [buf]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_copy",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r1, %r0, 4; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; \
                   cp.async.ca.shared.global [%r3], [%d3], 16; cp.async.commit_group; cp.async.wait_group 0; \
                   ld.shared.u32 %r5, [%r3+12]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_32",
            kernel: &KERNEL_B,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0; \
                   ld.shared.u32 %r5, [%r3+4]; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_cond",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p1, %r59, 0; shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; \
                   st.shared.u32 [%r3], %r0; @%p1 bra X; bar.sync 0; X: ld.shared.u32 %r5, [%r3+4]; \
                   mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_loopcarried",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; mov.u32 %r9, 0; L: bar.sync 0; \
                   ld.shared.u32 %r5, [%r3+4]; bar.sync 0; st.shared.u32 [%r3], %r0; add.u32 %r9, %r9, 1; \
                   setp.lt.u32 %p2, %r9, 4; @%p2 bra L; mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; \
                   st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_swizzle",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shl.b32 %r1, %r0, 2; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; xor.b32 %r4, %r3, 64; \
                   st.shared.u32 [%r4], %r0; ld.shared.u32 %r5, [%r4]; mul.wide.u32 %d10, %r0, 4; \
                   add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "nb_private",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mul.lo.u32 %r1, %r0, 16; mov.u32 %r2, buf; add.u32 %r3, %r2, %r1; mov.u32 %r9, 0; L: \
                   shl.b32 %r6, %r9, 2; add.u32 %r7, %r3, %r6; st.shared.u32 [%r7], %r9; add.u32 %r9, %r9, 1; \
                   setp.lt.u32 %p2, %r9, 4; @%p2 bra L; ld.shared.u32 %r5, [%r3+4]; mul.wide.u32 %d10, %r0, 4; \
                   add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r5;",
        },
    ]);
}
