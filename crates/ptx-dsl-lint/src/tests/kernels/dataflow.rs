//! Ordinary dataflow, and shared memory without a barrier.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 16 .b8 sm[4096]; .shared .align 8 .b64 mb[4]; .shared .align 4 .b32 x;";

const KERNEL_A: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: "" };
const KERNEL_B: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "", directives: "", shared: "" };
const KERNEL_C: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "", directives: ".maxntid 256", shared: "" };
const KERNEL_D: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: SHARED };

#[test]
fn registers_unwritten_on_a_path() {
    check(&[
        Case {
            name: "un_all",
            kernel: &KERNEL_A,
            codes: &[620],
            body: "add.u32 %r5, %r6, 1; st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_branch",
            kernel: &KERNEL_A,
            codes: &[620],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; mov.u32 %r5, 1; A: st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_pred",
            kernel: &KERNEL_A,
            codes: &[620],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 mov.u32 %r5, 1; st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_otherpred",
            kernel: &KERNEL_A,
            codes: &[620],
            body: "setp.eq.u32 %p3, %r59, 0; setp.eq.u32 %p4, %r0, 0; @%p3 mov.u32 %r5, 1; \
                   @%p4 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_neg",
            kernel: &KERNEL_A,
            codes: &[620],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 mov.u32 %r5, 1; @!%p3 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_loop",
            kernel: &KERNEL_A,
            codes: &[620],
            body: "mov.u32 %r8, 0; L: add.u32 %r5, %r5, %r8; add.u32 %r8, %r8, 1; setp.lt.u32 %p4, %r8, %r59; \
                   @%p4 bra L; st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_loop0",
            kernel: &KERNEL_A,
            codes: &[620],
            body: "mov.u32 %r8, 0; setp.ge.u32 %p4, %r8, %r59; @%p4 bra E; L: mov.u32 %r5, %r8; add.u32 %r8, %r8, 1; \
                   setp.lt.u32 %p4, %r8, %r59; @%p4 bra L; E: st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_predicate",
            kernel: &KERNEL_A,
            codes: &[620],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; setp.eq.u32 %p5, %r0, 3; A: @%p5 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "un_addr",
            kernel: &KERNEL_A,
            codes: &[620],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; add.u64 %d10, %d4, 8; A: st.global.u32 [%d10], %r0;",
        },
        Case {
            name: "un_both",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; mov.u32 %r5, 1; bra B; A: mov.u32 %r5, 2; B: \
                   st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_corr",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; mov.u32 %r5, 1; A: @%p3 bra B; st.global.u32 [%d4], %r5; B:",
        },
        Case {
            name: "un_pred",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 mov.u32 %r5, 1; @!%p3 mov.u32 %r5, 2; st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_pred2",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 mov.u32 %r5, 1; @%p3 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_setpagain",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 mov.u32 %r5, 1; setp.ne.u32 %p4, %r59, 0; \
                   @!%p4 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_xor",
            kernel: &KERNEL_A,
            codes: &[],
            body: "xor.b32 %r5, %r5, %r5; st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_loopinit",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r8, 0; mov.u32 %r5, 0; L: add.u32 %r5, %r5, %r8; add.u32 %r8, %r8, 1; \
                   setp.lt.u32 %p4, %r8, %r59; @%p4 bra L; st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_firstiter",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r8, 0; L: setp.eq.u32 %p5, %r8, 0; @%p5 bra F; st.global.u32 [%d4], %r5; F: \
                   mov.u32 %r5, %r8; add.u32 %r8, %r8, 1; setp.lt.u32 %p4, %r8, %r59; @%p4 bra L;",
        },
        Case {
            name: "un_do",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r8, 0; L: mov.u32 %r5, %r8; add.u32 %r8, %r8, 1; setp.lt.u32 %p4, %r8, %r59; @%p4 bra L; \
                   st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "un_sel",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; mov.u32 %r5, 1; A: selp.u32 %r6, 7, %r5, %p3; \
                   st.global.u32 [%d4], %r6;",
        },
        Case {
            name: "un_vec",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; mov.u32 %r5, 0; @%p3 ld.global.v2.u32 {%r5, %r6}, [%d3]; \
                   @!%p3 mov.u32 %r6, 0; st.global.v2.u32 [%d4], {%r5,%r6};",
        },
        Case {
            name: "un_trap",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; mov.u32 %r5, 1; bra B; A: trap; B: st.global.u32 [%d4], %r5;",
        },
    ]);
}

#[test]
fn code_that_nothing_reaches() {
    check(&[
        Case {
            name: "unreach",
            kernel: &KERNEL_A,
            codes: &[621],
            body: "bra A; add.u32 %r5, %r0, 1; st.global.u32 [%d4], %r5; A: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "unreach2",
            kernel: &KERNEL_A,
            codes: &[621],
            body: "L: add.u32 %r0, %r0, 1; st.global.u32 [%d4], %r0; bra L; st.global.u32 [%d4], 3;",
        },
        Case {
            name: "unreach3",
            kernel: &KERNEL_A,
            codes: &[621],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; ret; st.global.u32 [%d4], 3; A: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "unreach",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; ret; A: st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "unreach_trap",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @!%p3 bra A; trap; exit; A: st.global.u32 [%d4], %r0;",
        },
    ]);
}

#[test]
fn guards_that_never_hold() {
    check(&[
        Case {
            name: "np_const",
            kernel: &KERNEL_A,
            codes: &[622],
            body: "mov.u32 %r5, 4; setp.gt.u32 %p3, %r5, 8; @%p3 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "np_unsigned",
            kernel: &KERNEL_A,
            codes: &[622],
            body: "setp.lt.u32 %p3, %r59, 0; @%p3 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "np_tid",
            kernel: &KERNEL_A,
            codes: &[622],
            body: "setp.ge.u32 %p3, %r0, 128; @%p3 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "np_warp",
            kernel: &KERNEL_A,
            codes: &[622],
            body: "shr.u32 %r5, %r0, 5; setp.eq.u32 %p3, %r5, 4; @!%p3 bra E; st.global.u32 [%d4], %r0; E:",
        },
        Case {
            name: "np_lane",
            kernel: &KERNEL_B,
            codes: &[622],
            body: "mov.u32 %r5, %laneid; setp.eq.u32 %p3, %r5, 32; @%p3 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "np_contra",
            kernel: &KERNEL_A,
            codes: &[622],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 bra A; @%p3 st.global.u32 [%d4], %r0; A:",
        },
        Case {
            name: "np_self",
            kernel: &KERNEL_A,
            codes: &[622],
            body: "setp.ne.u32 %p3, %r59, %r59; @%p3 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "np_and",
            kernel: &KERNEL_A,
            codes: &[622],
            body: "setp.eq.u32 %p3, %r59, 0; not.pred %p4, %p3; and.pred %p5, %p3, %p4; @%p5 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "np_mask",
            kernel: &KERNEL_A,
            codes: &[622],
            body: "and.b32 %r5, %r0, 7; setp.eq.u32 %p3, %r5, 8; @%p3 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "np_mask2",
            kernel: &KERNEL_A,
            codes: &[622],
            body: "and.b32 %r5, %r59, 7; setp.eq.u32 %p3, %r5, 8; @%p3 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "np_guardexit",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ge.u32 %p3, %r0, 128; @%p3 ret; st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "np_guardskip",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ge.u32 %p3, %r0, 128; @%p3 bra E; st.global.u32 [%d4], %r0; E:",
        },
        Case {
            name: "np_true",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r5, 4; setp.lt.u32 %p3, %r5, 8; @%p3 st.global.u32 [%d4], %r0;",
        },
        Case {
            name: "np_warp3",
            kernel: &KERNEL_A,
            codes: &[],
            body: "shr.u32 %r5, %r0, 5; setp.eq.u32 %p3, %r5, 3; @!%p3 bra E; st.global.u32 [%d4], %r0; E:",
        },
        Case {
            name: "np_maxntid",
            kernel: &KERNEL_C,
            codes: &[],
            body: "setp.ge.u32 %p3, %r0, 128; @%p3 st.global.u32 [%d4], %r0;",
        },
    ]);
}

#[test]
fn shared_memory_without_a_barrier() {
    check(&[
        Case {
            name: "rc_waw",
            kernel: &KERNEL_D,
            codes: &[690],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [x], 5; ld.shared.u32 %r5, [x]; \
                   mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "rc_war",
            kernel: &KERNEL_D,
            codes: &[690],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [x], 5; bar.sync 0; ld.shared.u32 %r5, [x]; \
                   @%p1 st.shared.u32 [x], 6; bar.sync 0; ld.shared.u32 %r6, [x]; add.u32 %r5, %r5, %r6; \
                   mul.wide.u32 %d10, %r0, 4; add.u64 %d10, %d4, %d10; st.global.u32 [%d10], %r5;",
        },
        Case {
            name: "rc_loop",
            kernel: &KERNEL_D,
            codes: &[690],
            body: "setp.eq.u32 %p1, %r0, 0; mov.u32 %r8, 0; L: @%p1 st.shared.u32 [x], %r8; bar.sync 0; \
                   ld.shared.u32 %r5, [x]; st.global.u32 [%d4], %r5; add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 9; \
                   @%p3 bra L;",
        },
        Case {
            name: "rc_ok",
            kernel: &KERNEL_D,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [x], 5; bar.sync 0; ld.shared.u32 %r5, [x]; bar.sync 0; \
                   @%p1 st.shared.u32 [x], 6; bar.sync 0; ld.shared.u32 %r6, [x];",
        },
        Case {
            name: "rc_one",
            kernel: &KERNEL_D,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [x], 5; @%p1 ld.shared.u32 %r5, [x]; \
                   @%p1 st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "rc_warp",
            kernel: &KERNEL_D,
            codes: &[],
            body: "setp.ge.u32 %p1, %r0, 32; @%p1 bra E; setp.eq.u32 %p2, %r0, 0; @%p2 st.shared.u32 [x], 5; \
                   bar.warp.sync -1; ld.shared.u32 %r5, [x]; st.global.u32 [%d4], %r5; E:",
        },
        Case {
            name: "rc_volatile",
            kernel: &KERNEL_D,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 st.volatile.shared.u32 [x], 5; L: ld.volatile.shared.u32 %r5, [x]; \
                   setp.eq.u32 %p3, %r5, 5; @!%p3 bra L;",
        },
    ]);
}
