//! Where in its variable an address is: PTX0632 to PTX0634, and memory that is for reading only: PTX0664, PTX0665.

use super::{Rule, rules};

#[test]
fn past_the_end() {
    rules(&[Rule {
        code: 633,
        wrong: &[
            "mov.u32 %r1, sh;
             ld.shared.u32 %r2, [%r1+1024]; // error: PTX0633",
            "mov.u64 %d1, g;
             add.u64 %d2, %d1, 256;
             st.global.u32 [%d2], 1; // error: PTX0633",
            // In vectors, one element too far.
            "ld.const.v4.u32 {%r1, %r2, %r3, %r4}, [c+256]; // error: PTX0633",
            // Before the start.
            "cvta.shared.u64 %d1, sh;
             sub.u64 %d2, %d1, 4;
             ld.u32 %r1, [%d2]; // error: PTX0633",
            // An mbarrier behind the array of them.
            "mov.u32 %r1, bars;
             mbarrier.init.shared::cta.b64 [%r1+32], 1; // error: PTX0633",
            // A response of 16 bytes in 8.
            "mov.b128 %q1, {%d1, %d1};
             st.shared.b128 [answer+16], %q1; // error: PTX0633",
            // By two additions over a branch that meets again.
            "mov.u32 %r1, sh;
             @%p1 bra N;
             st.shared.u32 [%r1], 0;
             N:
             add.u32 %r2, %r1, 1000;
             add.u32 %r3, %r2, 24;
             atom.shared.add.u32 %r4, [%r3], 1; // error: PTX0633",
            // A bulk copy longer than the variable.
            "mov.u32 %r1, sh;
             ld.param.u64 %d1, [a];
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 2048; // error: PTX0633
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // The destination of one.
            "mov.u32 %r2, %tid.x;
             setp.eq.u32 %p1, %r2, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
             bar.sync 0;
             ld.param.u64 %d1, [a];
             mov.u32 %r1, sh;
             add.u32 %r3, %r1, 512;
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;
             @%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r3], [%d1], 1024, [bar]; // error: PTX0633
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;",
            // The last 16 bytes of `cp.async`.
            "mov.u32 %r1, sh;
             ld.param.u64 %d1, [a];
             cp.async.cg.shared.global [%r1+1016], [%d1], 16; // error: PTX0634
             cp.async.cg.shared.global [%r1+1024], [%d1], 16; // error: PTX0633
             cp.async.wait_all;",
            ".local .align 8 .b8 slot[16];
             st.local.u64 [slot+16], %d1; // error: PTX0633",
            // In the constant bank, by its generic address.
            "cvta.const.u64 %d1, c;
             ld.u32 %r1, [%d1+256]; // error: PTX0633",
            // A parameter of the kernel itself.
            "mov.b64 %d1, map;
             ld.param.u32 %r1, [%d1+128]; // error: PTX0633",
        ],
        right: &[
            "mov.u32 %r1, sh;
             ld.shared.u32 %r2, [%r1+1020];
             ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1+1008];",
            // The end as a limit.
            "mov.u32 %r1, sh;
             add.u32 %r2, %r1, 1024;
             L:
             ld.shared.u32 %r3, [%r1];
             add.u32 %r1, %r1, 4;
             setp.lt.u32 %p1, %r1, %r2;
             @%p1 bra L;",
            // Variables without a size.
            "mov.u32 %r1, dyn;
             ld.shared.u32 %r2, [%r1+65536];
             ld.shared.u32 %r2, [dyn+128];",
            // What a parameter points to is as long as the host says.
            "ld.param.u64 %d1, [a];
             ld.global.u32 %r1, [%d1+1048576];
             ld.global.u32 %r1, [%d1+-4];",
            "mov.u32 %r1, sh;
             ld.param.u64 %d1, [a];
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 1024;
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // An index that is not known brings it back.
            "mov.u32 %r1, sh;
             add.u32 %r2, %r1, 2048;
             mov.u32 %r3, %tid.x;
             sub.u32 %r4, %r2, %r3;
             ld.shared.u8 %h1, [%r4];",
        ],
    }]);
}

#[test]
fn misaligned() {
    rules(&[Rule {
        code: 634,
        wrong: &[
            "mov.u32 %r1, sh;
             ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1+8]; // error: PTX0634",
            "ld.param.u64 %d1, [a];
             add.u64 %d2, %d1, 4;
             ld.global.v2.u64 {%d3, %d4}, [%d2]; // error: PTX0634",
            "mov.u64 %d1, g;
             add.u64 %d2, %d1, 2;
             atom.global.add.u32 %r1, [%d2], 1; // error: PTX0634",
            "mov.u32 %r1, bars;
             add.u32 %r2, %r1, 4;
             mbarrier.arrive.shared::cta.b64 _, [%r2]; // error: PTX0634",
            // After a swizzle by hand, with branches.
            "mov.u32 %r1, sh;
             @%p1 bra N;
             st.shared.u32 [%r1], 0;
             N:
             add.u32 %r2, %r1, 6;
             st.shared.u32 [%r2], 0; // error: PTX0634",
            // Bulk copies want 16 bytes.
            "mov.u32 %r1, sh;
             ld.param.u64 %d1, [a];
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1+8], 64; // error: PTX0634
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            "mov.u32 %r1, sh;
             ld.param.u64 %d1, [a];
             add.u64 %d2, %d1, 4;
             cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r1], 64; // error: PTX0634
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;",
            // So do the rows of `ldmatrix`.
            "mov.u32 %r1, sh;
             ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1+8]; // error: PTX0634",
            // `cp.async` of 16 bytes.
            "mov.u32 %r1, sh;
             ld.param.u64 %d1, [a];
             cp.async.ca.shared.global [%r1], [%d1+4], 16; // error: PTX0634
             cp.async.wait_all;",
            // A local variable, through a generic address.
            ".local .align 8 .b8 slot[32];
             mov.u64 %d1, slot;
             cvta.local.u64 %d2, %d1;
             st.u64 [%d2+12], 1; // error: PTX0634",
        ],
        right: &[
            "mov.u32 %r1, sh;
             ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1+16];
             ld.shared.u16 %h1, [%r1+2];
             ld.shared.u8 %h1, [%r1+3];",
            // Two steps that make an even one.
            "mov.u32 %r1, sh;
             add.u32 %r2, %r1, 2;
             add.u32 %r3, %r2, 2;
             ld.shared.u32 %r4, [%r3];",
            // Beyond what is promised nothing is known.
            "ld.param.u64 %d1, [a];
             ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d1+16];
             ld.global.v4.u64 {%d2, %d3, %d4, %d5}, [%d1+16];
             ld.param.u64 %d6, [any];
             ld.u64 %d7, [%d6+4];",
            "mov.u32 %r1, sh;
             ld.param.u64 %d1, [a];
             cp.async.ca.shared.global [%r1+4], [%d1+4], 4;
             cp.async.ca.shared.global [%r1+8], [%d1+24], 8;
             cp.async.wait_all;",
            "mov.u32 %r1, sh;
             mov.u32 %r2, %tid.x;
             add.u32 %r3, %r1, %r2;
             ld.shared.u32 %r4, [%r3+2];",
        ],
    }]);
}

#[test]
fn stores_to_what_is_read_only() {
    rules(&[Rule {
        code: 632,
        wrong: &[
            // The constant bank by its generic address.
            "cvta.const.u64 %d1, c;
             st.u32 [%d1], 1; // error: PTX0632",
            "mov.u64 %d1, c;
             cvta.const.u64 %d2, %d1;
             mov.u32 %r1, %tid.x;
             mad.wide.u32 %d3, %r1, 4, %d2;
             setp.lt.u32 %p1, %r1, 16;
             @%p1 atom.add.u32 %r2, [%d3], 1; // error: PTX0632",
            // The parameters of the kernel.
            "mov.b64 %d1, map;
             cvta.param.u64 %d2, %d1;
             st.u32 [%d2], 0; // error: PTX0632",
            // What a shared reference points to: by a bulk copy, by a callee, through a slot in local memory.
            ".visible .entry k(.param .u64 .ptr .global .align 16 x: &[f32], .param .u64 .ptr .global .align 16 y: &mut [f32]) .reqntid 1 {
             .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<9>;
             ld.param.u64 %d1, [x];
             ld.param.u64 %d2, [y];
             mov.u32 %r1, sh;
             cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 64; // error: PTX0632
             cp.async.bulk.commit_group;
             cp.async.bulk.wait_group 0;
             ret;
             }",
            ".func put(.reg .b64 to) { st.global.f32 [to+4], 0f00000000; // error: PTX0632
                ret; }
             .visible .entry k(.param .u64 .ptr .global .align 16 x: &[f32], .param .u64 .ptr .global .align 16 y: &mut [f32]) .reqntid 1 {
             .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<9>;
             ld.param.u64 %d1, [x];
             ld.param.u64 %d2, [y];
             call put, (%d2);
             call put, (%d1);
             ret;
             }",
            ".visible .entry k(.param .u64 .ptr .global .align 16 x: &[f32], .param .u64 .ptr .global .align 16 y: &mut [f32]) .reqntid 1 {
             .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<9>;
             ld.param.u64 %d1, [x];
             ld.param.u64 %d2, [y];
             .local .align 8 .b64 slot[2];
             st.local.v2.u64 [slot], {%d1, %d2};
             ld.local.u64 %d3, [slot];
             atom.global.add.f32 %f1, [%d3], 0f3F800000; // error: PTX0632
             ret;
             }",
            // In a loop.
            "cvta.const.u64 %d1, c;
             mov.u32 %r1, 0;
             L:
             red.add.u32 [%d1], 1; // error: PTX0632
             add.u64 %d1, %d1, 4;
             add.u32 %r1, %r1, 1;
             setp.lt.u32 %p1, %r1, 8;
             @%p1 bra L;",
        ],
        right: &[
            "cvta.const.u64 %d1, c;
             ld.u32 %r1, [%d1];
             ld.param.u64 %d2, [a];
             st.u32 [%d2], %r1;",
            // Who chose between constants and memory knows which is written.
            "cvta.const.u64 %d1, c;
             ld.param.u64 %d2, [any];
             ld.param.u32 %r1, [n];
             setp.eq.u32 %p1, %r1, 0;
             selp.b64 %d3, %d1, %d2, %p1;
             @!%p1 st.u32 [%d3], 1;",
            "mov.b64 %d1, map;
             cvta.param.u64 %d2, %d1;
             ld.u32 %r1, [%d2+4];",
            ".visible .entry k(.param .u64 .ptr .global .align 16 x: &[f32], .param .u64 .ptr .global .align 16 y: &mut [f32]) .reqntid 1 {
             .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<9>;
             ld.param.u64 %d1, [x];
             ld.param.u64 %d2, [y];
             .local .align 8 .b64 slot[2];
             st.local.v2.u64 [slot], {%d1, %d2};
             ld.local.u64 %d3, [slot];
             ld.local.u64 %d4, [slot+8];
             ld.global.f32 %f1, [%d3];
             st.global.f32 [%d4], %f1;
             ret;
             }",
        ],
    }]);
}

#[test]
fn loads_of_what_is_written() {
    rules(&[Rule {
        code: 665,
        wrong: &[
            "ld.param.u64 %d1, [a];
             mov.u32 %r1, %tid.x;
             mad.wide.u32 %d2, %r1, 4, %d1;
             ld.global.nc.f32 %f1, [%d2]; // warning: PTX0665
             add.f32 %f2, %f1, %f1;
             st.global.f32 [%d2], %f2;",
            // By constant places of one parameter, and of a variable, in a loop.
            "ld.param.u64 %d1, [any];
             cvta.to.global.u64 %d2, %d1;
             cvta.to.global.u64 %d3, %d1;
             mov.u32 %r1, 0;
             L:
             ld.global.nc.v2.u32 {%r2, %r3}, [%d2+8]; // warning: PTX0665
             add.u32 %r2, %r2, %r3;
             st.global.u32 [%d3+12], %r2;
             add.u32 %r1, %r1, 1;
             setp.lt.u32 %p1, %r1, 4;
             @%p1 bra L;",
            "ld.global.nc.u32 %r1, [g+4]; // warning: PTX0665
             red.global.add.u32 [g+4], 1;",
        ],
        right: &[
            "ld.param.u64 %d1, [a];
             ld.param.u64 %d2, [b];
             ld.global.nc.f32 %f1, [%d1];
             st.global.f32 [%d2], %f1;",
            "ld.param.u64 %d1, [a];
             ld.global.nc.f32 %f1, [%d1];
             st.global.f32 [%d1+4], %f1;",
            "ld.param.u64 %d1, [a];
             mov.u32 %r1, %tid.x;
             mad.wide.u32 %d2, %r1, 4, %d1;
             mad.wide.u32 %d3, %r1, 8, %d1;
             ld.global.nc.f32 %f1, [%d2];
             st.global.f32 [%d3+4096], %f1;",
        ],
    }]);
}
