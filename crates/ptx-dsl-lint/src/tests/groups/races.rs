//! Shared memory that warps touch with no barrier between: PTX0690. Reductions, scans, transpositions, histograms.

use super::super::case;
use super::module;

/// A kernel of 256 threads with `%r0` the thread, `%r1` the lane, `%r2` the warp, `%r10` the address of `part`.
fn kernel(body: &str) -> String {
    module(&format!(
        "# .reqntid 256
         .shared .align 16 .b8 part[1024]; .shared .align 16 .b8 tile[4224];\n--
         ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u32 %r9, [n];
         mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; shr.u32 %r2, %r0, 5;
         mov.u32 %r10, part; mov.u32 %r11, tile;
         mul.wide.u32 %d3, %r0, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
         ld.global.u32 %r3, [%d4];
         setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0; setp.eq.u32 %p3, %r0, 0;
         {body}"
    ))
}

/// The body with the barriers at `BAR`, without any finding; and without one of them after the other, where the mark stands that
/// names it. `MARK1` belongs to the first barrier.
#[track_caller]
fn with_and_without(body: &str, barriers: usize) {
    let text = |missing: usize| {
        let mut text = body.to_string();
        for k in 1..=barriers {
            text = text.replacen(&format!("BAR{k};"), if k == missing { "" } else { "bar.sync 0;" }, 1);
            text = text.replace(&format!("MARK{k}\n"), if k == missing { "// warning: PTX0690\n" } else { "\n" });
        }
        kernel(&text)
    };
    for missing in 0..=barriers {
        case(&text(missing));
    }
}

#[test]
fn reductions_of_a_block() {
    // The first lane of each warp stores, the first warp reads.
    with_and_without(
        "shl.b32 %r4, %r2, 2; add.u32 %r5, %r10, %r4;
         @%p1 st.shared.u32 [%r5], %r3;
         BAR1;
         @!%p2 bra DONE;
         setp.lt.u32 %p4, %r1, 8;
         shl.b32 %r6, %r1, 2; add.u32 %r7, %r10, %r6;
         mov.u32 %r8, 0;
         @%p4 ld.shared.u32 %r8, [%r7]; MARK1
         shfl.sync.bfly.b32 %r8|%p5, %r8, 4, 31, -1;
         @%p3 st.global.u32 [%d5], %r8;
         DONE:",
        1,
    );
    // Thread 0 reads them one by one.
    with_and_without(
        "shl.b32 %r4, %r2, 2; add.u32 %r5, %r10, %r4;
         @!%p1 bra S;
         st.shared.u32 [%r5], %r3;
         S:
         BAR1;
         @!%p3 bra DONE;
         ld.shared.u32 %r6, [part];
         ld.shared.u32 %r7, [part+4]; MARK1
         add.u32 %r6, %r6, %r7;
         st.global.u32 [%d5], %r6;
         DONE:",
        1,
    );
    // A loop over the partial sums, in a loop over tiles: the next round must not store before they are read.
    with_and_without(
        "mov.u32 %r20, 0; shl.b32 %r4, %r2, 2; add.u32 %r5, %r10, %r4;
         L:
         @%p1 st.shared.u32 [%r5], %r3; MARK2
         BAR1;
         ld.shared.v4.u32 {%r21, %r22, %r23, %r24}, [part]; MARK1
         add.u32 %r3, %r21, %r24;
         BAR2;
         add.u32 %r20, %r20, 1; setp.lt.u32 %p6, %r20, %r9; @%p6 bra L;
         st.global.u32 [%d5], %r3;",
        2,
    );
}

#[test]
fn reductions_in_a_tree() {
    with_and_without(
        "shl.b32 %r4, %r0, 2; add.u32 %r5, %r10, %r4;
         st.shared.u32 [%r5], %r3;
         mov.u32 %r12, 128;
         BAR1;
         L:
         setp.ge.u32 %p4, %r0, %r12;
         @%p4 bra S;
         shl.b32 %r6, %r12, 2; add.u32 %r7, %r5, %r6;
         ld.shared.u32 %r13, [%r7]; MARK1
         ld.shared.u32 %r14, [%r5];
         add.u32 %r14, %r14, %r13;
         st.shared.u32 [%r5], %r14;
         S:
         bar.sync 0;
         shr.u32 %r12, %r12, 1; setp.ne.u32 %p5, %r12, 0; @%p5 bra L;
         @%p3 ld.shared.u32 %r15, [part];
         @%p3 st.global.u32 [%d5], %r15;",
        1,
    );
    // The barrier of the loop.
    with_and_without(
        "shl.b32 %r4, %r0, 2; add.u32 %r5, %r10, %r4;
         st.shared.u32 [%r5], %r3;
         bar.sync 0;
         mov.u32 %r12, 128;
         L:
         setp.ge.u32 %p4, %r0, %r12;
         @%p4 bra S;
         shl.b32 %r6, %r12, 2; add.u32 %r7, %r5, %r6;
         ld.shared.u32 %r13, [%r7]; MARK1
         ld.shared.u32 %r14, [%r5];
         add.u32 %r14, %r14, %r13;
         st.shared.u32 [%r5], %r14;
         S:
         BAR1;
         shr.u32 %r12, %r12, 1; setp.ne.u32 %p5, %r12, 0; @%p5 bra L;
         bar.sync 0;
         @%p3 ld.shared.u32 %r15, [part];
         @%p3 st.global.u32 [%d5], %r15;",
        1,
    );
    // Unrolled, as compilers leave it; the last warp needs no barrier of the block.
    with_and_without(
        "shl.b32 %r4, %r0, 2; add.u32 %r5, %r10, %r4;
         st.shared.u32 [%r5], %r3;
         BAR1;
         setp.gt.u32 %p4, %r0, 127;
         @%p4 bra A;
         ld.shared.u32 %r13, [%r5+512]; MARK1
         add.u32 %r3, %r3, %r13;
         st.shared.u32 [%r5], %r3;
         A:
         BAR2;
         setp.gt.u32 %p4, %r0, 63;
         @%p4 bra B;
         ld.shared.u32 %r13, [%r5+256]; MARK2
         add.u32 %r3, %r3, %r13;
         st.shared.u32 [%r5], %r3;
         B:
         BAR3;
         @!%p2 bra DONE;
         ld.shared.u32 %r13, [%r5+128]; MARK3
         add.u32 %r3, %r3, %r13;
         st.shared.u32 [%r5], %r3;
         bar.warp.sync -1;
         ld.shared.u32 %r13, [%r5+64];
         add.u32 %r3, %r3, %r13;
         bar.warp.sync -1;
         st.shared.u32 [%r5], %r3;
         DONE:",
        3,
    );
}

#[test]
fn histograms() {
    with_and_without(
        "shl.b32 %r4, %r0, 2; add.u32 %r5, %r10, %r4;
         st.shared.u32 [%r5], 0;
         BAR1;
         and.b32 %r6, %r3, 255; shl.b32 %r6, %r6, 2; add.u32 %r7, %r10, %r6;
         atom.shared.add.u32 %r8, [%r7], 1; MARK1
         BAR2;
         ld.shared.u32 %r12, [%r5]; MARK2
         st.global.u32 [%d5], %r12;",
        2,
    );
    // Each thread clears several bins and counts several words.
    with_and_without(
        "mov.u32 %r12, %r0;
         C:
         shl.b32 %r4, %r12, 2; add.u32 %r5, %r11, %r4;
         st.shared.u32 [%r5], 0;
         add.u32 %r12, %r12, 256; setp.lt.u32 %p4, %r12, 1024; @%p4 bra C;
         BAR1;
         mov.u32 %r13, 0;
         L:
         ld.global.u32 %r3, [%d4]; add.u64 %d4, %d4, 1024;
         bfe.u32 %r6, %r3, 4, 10; shl.b32 %r6, %r6, 2; add.u32 %r7, %r11, %r6;
         red.shared.add.u32 [%r7], 1; MARK1
         add.u32 %r13, %r13, 1; setp.lt.u32 %p5, %r13, %r9; @%p5 bra L;
         BAR2;
         mov.u32 %r12, %r0;
         O:
         shl.b32 %r4, %r12, 2; add.u32 %r5, %r11, %r4;
         ld.shared.u32 %r14, [%r5]; MARK2
         st.global.u32 [%d5], %r14; add.u64 %d5, %d5, 1024;
         add.u32 %r12, %r12, 256; setp.lt.u32 %p4, %r12, 1024; @%p4 bra O;",
        2,
    );
    // One of its own for each warp needs none.
    case(&kernel(
        "mad.lo.u32 %r5, %r2, 128, %r10; shl.b32 %r4, %r1, 2; add.u32 %r6, %r5, %r4;
         st.shared.u32 [%r6], 0;
         bar.warp.sync -1;
         and.b32 %r7, %r3, 31; shl.b32 %r7, %r7, 2; add.u32 %r7, %r5, %r7;
         red.shared.add.u32 [%r7], 1;
         bar.warp.sync -1;
         ld.shared.u32 %r8, [%r6];
         st.global.u32 [%d5], %r8;",
    ));
}

#[test]
fn other_patterns() {
    // A transposition of 16 by 16 words.
    with_and_without(
        "shl.b32 %r4, %r0, 2; add.u32 %r5, %r10, %r4;
         st.shared.u32 [%r5], %r3;
         BAR1;
         and.b32 %r6, %r0, 15; shr.u32 %r7, %r0, 4; mad.lo.u32 %r6, %r6, 16, %r7; shl.b32 %r6, %r6, 2; add.u32 %r6, %r10, %r6;
         ld.shared.u32 %r8, [%r6]; MARK1
         st.global.u32 [%d5], %r8;",
        1,
    );
    // A scan with distances that double, in two buffers: one barrier for each round.
    with_and_without(
        "shl.b32 %r4, %r0, 2; add.u32 %r5, %r11, %r4;
         mov.u32 %r12, 1; mov.u32 %r13, 0;
         L:
         add.u32 %r14, %r5, %r13;
         st.shared.u32 [%r14], %r3;
         BAR1;
         setp.lt.u32 %p4, %r0, %r12;
         @%p4 bra S;
         shl.b32 %r6, %r12, 2; sub.u32 %r7, %r14, %r6;
         ld.shared.u32 %r8, [%r7]; MARK1
         add.u32 %r3, %r3, %r8;
         S:
         xor.b32 %r13, %r13, 2048;
         shl.b32 %r12, %r12, 1; setp.lt.u32 %p5, %r12, 256; @%p5 bra L;
         st.global.u32 [%d5], %r3;",
        1,
    );
    // What is private to a thread or to a warp, and what one thread says to nobody else.
    case(&kernel(
        "shl.b32 %r4, %r0, 4; add.u32 %r5, %r11, %r4;
         st.shared.u32 [%r5], %r3; ld.shared.u32 %r6, [%r5]; st.shared.u32 [%r5+4], %r6; ld.shared.u32 %r7, [%r5+4];
         mad.lo.u32 %r8, %r2, 128, %r10; xor.b32 %r12, %r1, 1; shl.b32 %r12, %r12, 2; add.u32 %r12, %r8, %r12;
         shl.b32 %r13, %r1, 2; add.u32 %r13, %r8, %r13;
         st.shared.u32 [%r13], %r7; bar.warp.sync -1; ld.shared.u32 %r14, [%r12];
         st.global.u32 [%d5], %r14;",
    ));
    // Threads are told apart by what is not known.
    case(&kernel(
        "setp.lt.u32 %p4, %r3, 8; mov.u32 %r6, 0;
         shl.b32 %r4, %r0, 2; add.u32 %r5, %r10, %r4;
         @%p4 st.shared.u32 [%r5], %r3;
         setp.lt.u32 %p5, %r3, 4;
         @%p5 ld.shared.u32 %r6, [%r5+4];
         st.global.u32 [%d5], %r6;",
    ));
    // A flag that all set to the same.
    case(&kernel(
        "setp.lt.u32 %p4, %r3, 8;
         @%p3 st.shared.u32 [part], 0;
         bar.sync 0;
         @%p4 st.shared.u32 [part], 1;
         bar.sync 0;
         ld.shared.u32 %r6, [part];
         st.global.u32 [%d5], %r6;",
    ));
}
