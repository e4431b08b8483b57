//! The memory of peers, and grids that depend on others.

use super::{Case, Kernel, check};

const SHARED: &str = ".shared .align 16 .b8 sm[4096]; .shared .align 8 .b64 mb[4]; .shared .align 4 .b32 x;";

const KERNEL_A: Kernel =
    Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: ".reqnctapercluster 2", shared: SHARED };
const KERNEL_B: Kernel = Kernel { target: "sm_90a", version: "8.6", threads: "128", directives: "", shared: "" };

#[test]
fn memory_of_peers() {
    check(&[
        Case {
            name: "p_noend",
            kernel: &KERNEL_A,
            codes: &[656],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; shl.b32 %r25, %r0, 2; add.u32 %r26, %r22, %r25; \
                   st.shared.u32 [%r26], %r0; barrier.cluster.arrive; barrier.cluster.wait; \
                   ld.shared::cluster.u32 %r24, [%r23]; st.global.u32 [%d4], %r24;",
        },
        Case {
            name: "p_generic",
            kernel: &KERNEL_A,
            codes: &[656],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; shl.b32 %r25, %r0, 2; add.u32 %r26, %r22, %r25; \
                   st.shared.u32 [%r26], %r0; barrier.cluster.arrive; barrier.cluster.wait; mov.u64 %d10, sm; \
                   cvta.shared.u64 %d10, %d10; mapa.u64 %d11, %d10, %r21; ld.u32 %r24, [%d11]; \
                   st.global.u32 [%d4], %r24;",
        },
        Case {
            name: "p_loop",
            kernel: &KERNEL_A,
            codes: &[656],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; shl.b32 %r25, %r0, 2; add.u32 %r26, %r22, %r25; \
                   st.shared.u32 [%r26], %r0; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r30, 0; L: \
                   ld.shared::cluster.u32 %r24, [%r23]; add.u32 %r23, %r23, 4; add.u32 %r30, %r30, 1; \
                   setp.lt.u32 %p3, %r30, 8; @%p3 bra L; st.global.u32 [%d4], %r24;",
        },
        Case {
            name: "p_exit1",
            kernel: &KERNEL_A,
            codes: &[656],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; shl.b32 %r25, %r0, 2; add.u32 %r26, %r22, %r25; \
                   st.shared.u32 [%r26], %r0; barrier.cluster.arrive; barrier.cluster.wait; \
                   ld.shared::cluster.u32 %r24, [%r23]; st.global.u32 [%d4], %r24; setp.eq.u32 %p3, %r59, 0; @%p3 exit; \
                   barrier.cluster.arrive; barrier.cluster.wait;",
        },
        Case {
            name: "p_role",
            kernel: &KERNEL_A,
            codes: &[656],
            body: "setp.ge.u32 %p3, %r0, 64; @%p3 bra X; mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; \
                   mov.u32 %r22, sm; mapa.shared::cluster.u32 %r23, %r22, %r21; barrier.cluster.arrive; \
                   barrier.cluster.wait; ld.shared::cluster.u32 %r24, [%r23]; st.global.u32 [%d4], %r24; bra E; X: \
                   barrier.cluster.arrive; barrier.cluster.wait; E:",
        },
        Case {
            name: "p_arriveonly_before",
            kernel: &KERNEL_A,
            codes: &[656],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; shl.b32 %r25, %r0, 2; add.u32 %r26, %r22, %r25; \
                   st.shared.u32 [%r26], %r0; barrier.cluster.arrive; barrier.cluster.wait; bar.sync 0; \
                   ld.shared::cluster.u32 %r24, [%r23]; st.global.u32 [%d4], %r24; bar.sync 0;",
        },
        Case {
            name: "p_atom",
            kernel: &KERNEL_A,
            codes: &[656],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; barrier.cluster.arrive; barrier.cluster.wait; \
                   atom.shared::cluster.add.u32 %r24, [%r23], 1;",
        },
        Case {
            name: "p_red",
            kernel: &KERNEL_A,
            codes: &[656],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; barrier.cluster.arrive; barrier.cluster.wait; \
                   red.shared::cluster.add.u32 [%r23], 1;",
        },
        Case {
            name: "p_start",
            kernel: &KERNEL_A,
            codes: &[655],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; st.shared::cluster.u32 [%r23], 7; barrier.cluster.arrive; \
                   barrier.cluster.wait; ld.shared.u32 %r24, [sm]; st.global.u32 [%d4], %r24;",
        },
        Case {
            name: "p_start_bar",
            kernel: &KERNEL_A,
            codes: &[655],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; bar.sync 0; st.shared::cluster.u32 [%r23], 7; \
                   barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r24, [sm]; st.global.u32 [%d4], %r24;",
        },
        Case {
            name: "p_full",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; shl.b32 %r25, %r0, 2; add.u32 %r26, %r22, %r25; \
                   st.shared.u32 [%r26], %r0; barrier.cluster.arrive; barrier.cluster.wait; \
                   ld.shared::cluster.u32 %r24, [%r23]; barrier.cluster.arrive; barrier.cluster.wait; \
                   st.global.u32 [%d4], %r24;",
        },
        Case {
            name: "p_split",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; shl.b32 %r25, %r0, 2; add.u32 %r26, %r22, %r25; \
                   st.shared.u32 [%r26], %r0; barrier.cluster.arrive; barrier.cluster.wait; \
                   ld.shared::cluster.u32 %r24, [%r23]; barrier.cluster.arrive; st.global.u32 [%d4], %r24; \
                   barrier.cluster.wait;",
        },
        Case {
            name: "p_loop",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; mov.u32 %r30, 0; L: shl.b32 %r25, %r0, 2; \
                   add.u32 %r26, %r22, %r25; st.shared.u32 [%r26], %r0; barrier.cluster.arrive; barrier.cluster.wait; \
                   ld.shared::cluster.u32 %r24, [%r23]; barrier.cluster.arrive; barrier.cluster.wait; \
                   st.global.u32 [%d4], %r24; add.u32 %r30, %r30, 1; setp.lt.u32 %p3, %r30, 8; @%p3 bra L;",
        },
        Case {
            name: "p_role",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ge.u32 %p3, %r0, 64; mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; barrier.cluster.arrive; barrier.cluster.wait; @%p3 bra X; \
                   ld.shared::cluster.u32 %r24, [%r23]; st.global.u32 [%d4], %r24; X: barrier.cluster.arrive; \
                   barrier.cluster.wait;",
        },
        Case {
            name: "p_exit",
            kernel: &KERNEL_A,
            codes: &[],
            body: "mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; shl.b32 %r25, %r0, 2; add.u32 %r26, %r22, %r25; \
                   st.shared.u32 [%r26], %r0; barrier.cluster.arrive; barrier.cluster.wait; \
                   ld.shared::cluster.u32 %r24, [%r23]; barrier.cluster.arrive; barrier.cluster.wait; \
                   setp.eq.u32 %p3, %r59, 0; @%p3 exit; st.global.u32 [%d4], %r24;",
        },
        Case {
            name: "p_mbar",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared::cta.b64 [mb], 128; \
                   @%p1 fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait; \
                   mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; st.shared::cluster.u32 [%r23], 1; mov.u32 %r27, mb; \
                   mapa.shared::cluster.u32 %r28, %r27, %r21; \
                   mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r28]; W: \
                   mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p5, [mb], 0; @!%p5 bra W; \
                   ld.shared.u32 %r24, [sm]; st.global.u32 [%d4], %r24; barrier.cluster.arrive; barrier.cluster.wait;",
        },
        Case {
            name: "p_earlyret",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.eq.u32 %p3, %r59, 0; @%p3 ret; mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; \
                   mov.u32 %r22, sm; mapa.shared::cluster.u32 %r23, %r22, %r21; shl.b32 %r25, %r0, 2; \
                   add.u32 %r26, %r22, %r25; st.shared.u32 [%r26], %r0; barrier.cluster.arrive; barrier.cluster.wait; \
                   ld.shared::cluster.u32 %r24, [%r23]; st.global.u32 [%d4], %r24; barrier.cluster.arrive; \
                   barrier.cluster.wait;",
        },
        Case {
            name: "p_reader_exits",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ge.u32 %p3, %r0, 32; mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; barrier.cluster.arrive; barrier.cluster.wait; @%p3 bra X; \
                   ld.shared::cluster.u32 %r24, [%r23]; st.global.u32 [%d4], %r24; ret; X: barrier.cluster.arrive; \
                   barrier.cluster.wait;",
        },
        Case {
            name: "p_reader_exits2",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ge.u32 %p3, %r0, 32; mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; barrier.cluster.arrive; barrier.cluster.wait; @%p3 bra X; \
                   ld.shared::cluster.u32 %r24, [%r23]; st.global.u32 [%d4], %r24; bra E; X: barrier.cluster.arrive; \
                   barrier.cluster.wait; E:",
        },
        Case {
            name: "p_prod_early",
            kernel: &KERNEL_A,
            codes: &[],
            body: "setp.ge.u32 %p3, %r0, 32; mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mov.u32 %r22, sm; \
                   mapa.shared::cluster.u32 %r23, %r22, %r21; barrier.cluster.arrive; barrier.cluster.wait; \
                   ld.shared::cluster.u32 %r24, [%r23]; st.global.u32 [%d4], %r24; @%p3 exit; barrier.cluster.arrive; \
                   barrier.cluster.wait;",
        },
    ]);
}

#[test]
fn the_grid_before() {
    check(&[
        Case {
            name: "gd_before",
            kernel: &KERNEL_B,
            codes: &[685],
            body: "ld.global.u32 %r5, [%d3]; griddepcontrol.wait; ld.global.u32 %r6, [%d3+4]; add.u32 %r7, %r5, %r6; \
                   st.global.u32 [%d4], %r7;",
        },
        Case {
            name: "gd_late",
            kernel: &KERNEL_B,
            codes: &[685],
            body: "ld.global.u32 %r5, [%d3]; st.global.u32 [%d4], %r5; griddepcontrol.wait;",
        },
        Case {
            name: "gd_store_before",
            kernel: &KERNEL_B,
            codes: &[685],
            body: "st.global.u32 [%d4], %r0; griddepcontrol.wait; ld.global.u32 %r6, [%d3+4]; st.global.u32 [%d4], %r6;",
        },
        Case {
            name: "gd",
            kernel: &KERNEL_B,
            codes: &[],
            body: "griddepcontrol.wait; ld.global.u32 %r5, [%d3]; griddepcontrol.launch_dependents; \
                   st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "gd_early",
            kernel: &KERNEL_B,
            codes: &[],
            body: "griddepcontrol.launch_dependents; griddepcontrol.wait; ld.global.u32 %r5, [%d3]; \
                   st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "gd_weights",
            kernel: &KERNEL_B,
            codes: &[],
            body: "ld.global.nc.u32 %r9, [%d3]; griddepcontrol.wait; ld.global.u32 %r5, [%d4+64]; \
                   add.u32 %r5, %r5, %r9; st.global.u32 [%d4], %r5;",
        },
        Case {
            name: "gd_role",
            kernel: &KERNEL_B,
            codes: &[],
            body: "setp.lt.u32 %p3, %r0, 32; @!%p3 bra X; griddepcontrol.wait; ld.global.u32 %r5, [%d3]; \
                   st.global.u32 [%d4], %r5; X: griddepcontrol.launch_dependents;",
        },
        Case {
            name: "gd_only",
            kernel: &KERNEL_B,
            codes: &[685],
            body: "ld.global.u32 %r1, [%d3]; griddepcontrol.wait; st.global.u32 [%d4], %r1;",
        },
    ]);
}
