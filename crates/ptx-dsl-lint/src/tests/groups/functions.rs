//! Kernels that call functions of their module: what goes in and out, and what is done there.

use super::{Rule, rules};

#[test]
fn addresses_as_arguments_and_results() {
    rules(&[Rule {
        code: 630,
        wrong: &[
            // The callee takes what it gets for a global address.
            "#.reqntid 128
             .func put(.param .b64 to, .param .b32 what) {
                .reg .b64 %x; .reg .b32 %y;
                ld.param.b64 %x, [to];
                ld.param.b32 %y, [what];
                st.global.b32 [%x], %y; // error: PTX0630
                ret;
             }
--
             mov.u64 %d1, sh;
             mov.u32 %r1, %tid.x;
             {
                .param .b64 p0; .param .b32 p1;
                st.param.b64 [p0], %d1;
                st.param.b32 [p1], %r1;
                call put, (p0, p1);
             }",
            // The caller takes what it gets for one.
            "#.reqntid 128
             .func (.param .b64 out) where(.param .b32 index) {
                .reg .b64 %x<3>; .reg .b32 %y;
                ld.param.b32 %y, [index];
                mov.u64 %x0, sh;
                mad.wide.u32 %x1, %y, 4, %x0;
                st.param.b64 [out], %x1;
                ret;
             }
--
             mov.u32 %r1, %tid.x;
             {
                .param .b32 p0; .param .b64 r0;
                st.param.b32 [p0], %r1;
                call (r0), where, (p0);
                ld.param.b64 %d1, [r0];
             }
             ld.global.u32 %r2, [%d1]; // error: PTX0630",
            // Registers as parameters, two calls deep.
            "#.reqntid 128
             .func (.reg .b64 o) inner(.reg .b64 i) {
                add.u64 o, i, 16;
                ret;
             }
             .func (.reg .b64 o) outer(.reg .b64 i) {
                .reg .b64 t;
                call (t), inner, (i);
                mov.u64 o, t;
                ret;
             }
--
             mov.u64 %d1, sh;
             call (%d2), outer, (%d1);
             ld.u32 %r1, [%d2]; // error: PTX0630",
        ],
        right: &[
            "#.reqntid 128
             .func put(.param .b64 to, .param .b32 what) {
                .reg .b64 %x; .reg .b32 %y;
                ld.param.b64 %x, [to];
                ld.param.b32 %y, [what];
                st.b32 [%x], %y;
                ret;
             }
--
             cvta.shared.u64 %d1, sh;
             mov.u32 %r1, %tid.x;
             {
                .param .b64 p0; .param .b32 p1;
                st.param.b64 [p0], %d1;
                st.param.b32 [p1], %r1;
                call put, (p0, p1);
             }
             ld.param.u64 %d2, [a];
             {
                .param .b64 p0; .param .b32 p1;
                st.param.b64 [p0], %d2;
                st.param.b32 [p1], %r1;
                call put, (p0, p1);
             }",
            // A callee that is called with both kinds and told which.
            "#.reqntid 128
             .func (.param .b32 o) get(.param .b64 from, .param .b32 shared) {
                .reg .b64 %x; .reg .b32 %y<2>; .reg .pred %p;
                ld.param.b64 %x, [from];
                ld.param.b32 %y0, [shared];
                setp.eq.u32 %p, %y0, 0;
                @%p bra GLOBAL;
                ld.shared.b32 %y1, [%x];
                bra DONE;
                GLOBAL:
                ld.global.b32 %y1, [%x];
                DONE:
                st.param.b32 [o], %y1;
                ret;
             }
--
             mov.u64 %d1, sh;
             ld.param.u64 %d2, [a];
             {
                .param .b64 p0; .param .b32 p1; .param .b32 r0;
                st.param.b64 [p0], %d1;
                st.param.b32 [p1], 1;
                call (r0), get, (p0, p1);
                ld.param.b32 %r1, [r0];
             }
             {
                .param .b64 p0; .param .b32 p1; .param .b32 r0;
                st.param.b64 [p0], %d2;
                st.param.b32 [p1], 0;
                call (r0), get, (p0, p1);
                ld.param.b32 %r2, [r0];
             }",
            // Recursion, and a function that is somewhere else.
            "#.reqntid 128
             .extern .func (.param .b64 o) there(.param .b64 i);
             .func (.param .b64 o) down(.param .b64 i) {
                .reg .b64 %x<3>; .reg .pred %p;
                ld.param.b64 %x0, [i];
                setp.eq.u64 %p, %x0, 0;
                @%p bra END;
                sub.u64 %x0, %x0, 1;
                {
                   .param .b64 p0; .param .b64 r0;
                   st.param.b64 [p0], %x0;
                   call (r0), down, (p0);
                   ld.param.b64 %x1, [r0];
                }
                END:
                st.param.b64 [o], %x1;
                ret;
             }
--
             mov.u64 %d1, sh;
             {
                .param .b64 p0; .param .b64 r0;
                st.param.b64 [p0], %d1;
                call (r0), there, (p0);
                ld.param.b64 %d2, [r0];
             }
             {
                .param .b64 p0; .param .b64 r0;
                st.param.b64 [p0], 3;
                call (r0), down, (p0);
                ld.param.b64 %d3, [r0];
             }
             ld.global.u32 %r1, [%d2];
             ld.u32 %r1, [%d3];",
        ],
    }]);
}

#[test]
fn what_callees_do() {
    rules(&[
        Rule {
            code: 613,
            wrong: &[
                // Used by the callee before the init of the caller.
                "#.reqntid 1
                 .func arrive() { mbarrier.arrive.shared::cta.b64 _, [bar]; // error: PTX0613
                    ret; }
--
                 call arrive;
                 mbarrier.init.shared::cta.b64 [bar], 1;",
                // Handed over as an address.
                "#.reqntid 1
                 .func arrive(.reg .b32 m) { mbarrier.arrive.shared::cta.b64 _, [m]; // error: PTX0613
                    ret; }
                 .func begin(.reg .b32 m) { mbarrier.init.shared::cta.b64 [m], 1; ret; }
--
                 mov.u32 %r1, bar;
                 call arrive, (%r1);
                 call begin, (%r1);",
            ],
            right: &[
                "#.reqntid 1
                 .func arrive() { mbarrier.arrive.shared::cta.b64 _, [bar]; ret; }
                 .func begin() { mbarrier.init.shared::cta.b64 [bar], 1; ret; }
--
                 call begin;
                 call arrive;",
                "#.reqntid 128
                 .func begin(.param .b64 m) {
                    .reg .b64 %x; .reg .b32 %t; .reg .pred %p;
                    ld.param.b64 %x, [m];
                    mov.u32 %t, %tid.x;
                    setp.ne.u32 %p, %t, 0;
                    @%p bra DONE;
                    mbarrier.init.shared::cta.b64 [%x], 128;
                    DONE:
                    bar.sync 0;
                    ret;
                 }
--
                 mov.u64 %d1, bar;
                 {
                    .param .b64 p0;
                    st.param.b64 [p0], %d1;
                    call begin, (p0);
                 }
                 mbarrier.arrive.shared::cta.b64 _, [%d1];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p1, [%d1], 0;
                 @!%p1 bra W;",
            ],
        },
        Rule {
            code: 616,
            wrong: &[
                "#.reqntid 128
                 .func begin() {
                    .reg .b32 %t; .reg .pred %p;
                    mov.u32 %t, %tid.x;
                    setp.eq.u32 %p, %t, 0;
                    @%p mbarrier.init.shared::cta.b64 [bar], 128;
                    ret;
                 }
--
                 call begin;
                 mbarrier.arrive.shared::cta.b64 _, [bar]; // error: PTX0616
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
                 @!%p1 bra W;",
                "#.reqntid 64
                 .func begin(.param .b32 me) {
                    .reg .b32 %t; .reg .pred %p;
                    ld.param.b32 %t, [me];
                    setp.ne.u32 %p, %t, 0;
                    @%p ret;
                    mbarrier.init.shared::cta.b64 [bar], 64;
                    ret;
                 }
--
                 mov.u32 %r1, %tid.x;
                 {
                    .param .b32 p0;
                    st.param.b32 [p0], %r1;
                    call begin, (p0);
                 }
                 mbarrier.arrive.shared::cta.b64 _, [bar]; // error: PTX0616
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
                 @!%p1 bra W;",
            ],
            right: &[
                "#.reqntid 64
                 .func begin(.param .b32 me) {
                    .reg .b32 %t; .reg .pred %p;
                    ld.param.b32 %t, [me];
                    setp.ne.u32 %p, %t, 0;
                    @%p ret;
                    mbarrier.init.shared::cta.b64 [bar], 64;
                    ret;
                 }
                 .func meet() { bar.sync 0; ret; }
--
                 mov.u32 %r1, %tid.x;
                 {
                    .param .b32 p0;
                    st.param.b32 [p0], %r1;
                    call begin, (p0);
                 }
                 call meet;
                 mbarrier.arrive.shared::cta.b64 _, [bar];
                 W:
                 mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
                 @!%p1 bra W;",
                "#.reqntid 64
                 .extern .func begin();
--
                 call begin;
                 mbarrier.arrive.shared::cta.b64 _, [bar];",
            ],
        },
        Rule {
            code: 640,
            wrong: &[
                "#.reqntid 32
                 .func fill(.reg .b32 to, .reg .b32 what) { st.shared.u32 [to], what; ret; }
--
                 mov.u32 %r1, sh;
                 mov.u32 %r2, %tid.x;
                 ld.param.u64 %d1, [a];
                 setp.eq.u32 %p1, %r2, 0;
                 @!%p1 bra N;
                 call fill, (%r1, %r2);
                 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16; // error: PTX0640
                 cp.async.bulk.commit_group;
                 cp.async.bulk.wait_group 0;
                 N:",
                "#.reqntid 32
                 .func send(.param .b64 to) {
                    .reg .b64 %x;
                    ld.param.b64 %x, [to];
                    cp.async.bulk.global.shared::cta.bulk_group [%x], [sh], 16; // error: PTX0640
                    cp.async.bulk.commit_group;
                    cp.async.bulk.wait_group 0;
                    ret;
                 }
--
                 mov.u32 %r2, %tid.x;
                 ld.param.u64 %d1, [a];
                 setp.ne.u32 %p1, %r2, 0;
                 @%p1 bra N;
                 st.shared.v4.u32 [sh], {%r2, %r2, %r2, %r2};
                 {
                    .param .b64 p0;
                    st.param.b64 [p0], %d1;
                    call send, (p0);
                 }
                 N:",
            ],
            right: &[
                "#.reqntid 32
                 .func fill(.reg .b32 to, .reg .b32 what) { st.shared.u32 [to], what; ret; }
                 .func fence() { fence.proxy.async.shared::cta; ret; }
--
                 mov.u32 %r1, sh;
                 mov.u32 %r2, %tid.x;
                 ld.param.u64 %d1, [a];
                 setp.eq.u32 %p1, %r2, 0;
                 @!%p1 bra N;
                 call fill, (%r1, %r2);
                 call fence;
                 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16;
                 cp.async.bulk.commit_group;
                 cp.async.bulk.wait_group 0;
                 N:",
                "#.reqntid 32
                 .extern .func fence();
--
                 mov.u32 %r2, %tid.x;
                 ld.param.u64 %d1, [a];
                 setp.ne.u32 %p1, %r2, 0;
                 @%p1 bra N;
                 st.shared.v4.u32 [sh], {%r2, %r2, %r2, %r2};
                 call fence;
                 cp.async.bulk.global.shared::cta.bulk_group [%d1], [sh], 16;
                 cp.async.bulk.commit_group;
                 cp.async.bulk.wait_group 0;
                 N:",
            ],
        },
        Rule {
            code: 603,
            wrong: &[
                // The barrier is in the callee, the branch in the caller.
                "#.reqntid 128
                 .func meet() { bar.sync 0; // error: PTX0603
                    ret; }
--
                 mov.u32 %r1, %tid.x;
                 setp.lt.u32 %p1, %r1, 16;
                 @!%p1 bra N;
                 call meet;
                 N:
                 st.shared.u32 [word], %r1;",
                "#.reqntid 128
                 .func meet() { bar.sync 0; // error: PTX0603
                    ret; }
--
                 mov.u32 %r1, %tid.x;
                 setp.lt.u32 %p1, %r1, 16;
                 @%p1 call meet;
                 st.shared.u32 [word], %r1;",
            ],
            right: &[
                "#.reqntid 128
                 .func meet() { bar.sync 0; ret; }
--
                 ld.param.u32 %r1, [n];
                 setp.lt.u32 %p1, %r1, 16;
                 @%p1 call meet;
                 st.shared.u32 [word], %r1;",
                "#.reqntid 128
                 .func meet() { bar.sync 0; ret; }
--
                 mov.u32 %r1, 0;
                 L:
                 call meet;
                 add.u32 %r1, %r1, 1;
                 setp.lt.u32 %p1, %r1, 16;
                 @%p1 bra L;",
            ],
        },
    ]);
}

#[test]
fn arguments_by_reference() {
    rules(&[Rule {
        code: 642,
        wrong: &[
            // As nvcc without optimisation: constants by the address of a local variable, results by another one.
            "#.reqntid 128
             .func begin(.param .b64 m, .param .b64 count) {
                .reg .b64 %x<3>; .reg .b32 %n;
                ld.param.b64 %x0, [m];
                ld.param.b64 %x1, [count];
                ld.u32 %n, [%x1];
                mbarrier.init.shared::cta.b64 [%x0], %n;
                ret;
             }
             .func (.param .b32 done) ask(.param .b64 m, .param .b64 state) {
                .reg .b64 %x<3>; .reg .b32 %n; .reg .pred %p;
                ld.param.b64 %x0, [m];
                ld.param.b64 %x1, [state];
                ld.u64 %x2, [%x1];
                mbarrier.test_wait.shared::cta.b64 %p, [%x0], %x2; // error: PTX0642
                selp.b32 %n, 1, 0, %p;
                st.param.b32 [done], %n;
                ret;
             }
--
             .local .align 8 .b8 depot[16];
             mov.u64 %d1, depot;
             cvta.local.u64 %d2, %d1;
             mov.u64 %d3, bar;
             mov.u32 %r1, %tid.x;
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra N;
             mov.u32 %r2, 256;
             st.u32 [%d2], %r2;
             add.u64 %d4, %d2, 0;
             {
                .param .b64 p0; .param .b64 p1;
                st.param.b64 [p0], %d3;
                st.param.b64 [p1], %d4;
                call begin, (p0, p1);
             }
             N:
             bar.sync 0;
             mbarrier.arrive.shared::cta.b64 %d5, [%d3];
             st.u64 [%d2+8], %d5;
             add.u64 %d6, %d2, 8;
             W:
             {
                .param .b64 p0; .param .b64 p1; .param .b32 r0;
                st.param.b64 [p0], %d3;
                st.param.b64 [p1], %d6;
                call (r0), ask, (p0, p1);
                ld.param.b32 %r3, [r0];
             }
             setp.eq.u32 %p2, %r3, 0;
             @%p2 bra W;",
            "#.reqntid 64
             .func begin(.reg .b32 m, .reg .b32 n) { mbarrier.init.shared::cta.b64 [m], n; ret; }
--
             mov.u32 %r4, bar;
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 call begin, (%r4, 65);
             bar.sync 0;
             mbarrier.arrive.shared::cta.b64 _, [%r4];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0; // error: PTX0642
             @!%p2 bra W;",
        ],
        right: &[
            "#.reqntid 128
             .func begin(.param .b64 m, .param .b64 count) {
                .reg .b64 %x<3>; .reg .b32 %n;
                ld.param.b64 %x0, [m];
                ld.param.b64 %x1, [count];
                ld.u32 %n, [%x1];
                mbarrier.init.shared::cta.b64 [%x0], %n;
                ret;
             }
--
             .local .align 8 .b8 depot[16];
             mov.u64 %d1, depot;
             cvta.local.u64 %d2, %d1;
             mov.u64 %d3, bar;
             mov.u32 %r1, %tid.x;
             setp.ne.u32 %p1, %r1, 0;
             @%p1 bra N;
             mov.u32 %r2, 128;
             st.u32 [%d2], %r2;
             {
                .param .b64 p0; .param .b64 p1;
                st.param.b64 [p0], %d3;
                st.param.b64 [p1], %d2;
                call begin, (p0, p1);
             }
             N:
             bar.sync 0;
             mbarrier.arrive.shared::cta.b64 _, [%d3];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [%d3], 0;
             @!%p2 bra W;",
            // The callee stores through a reference: what the variable holds then is not known.
            "#.reqntid 64
             .func change(.param .b64 count) {
                .reg .b64 %x; .reg .b32 %n;
                ld.param.b64 %x, [count];
                ld.u32 %n, [%x];
                sub.u32 %n, %n, 1;
                st.u32 [%x], %n;
                ret;
             }
--
             .local .align 8 .b8 depot[16];
             mov.u64 %d1, depot;
             cvta.local.u64 %d2, %d1;
             mov.u32 %r2, 65;
             st.u32 [%d2], %r2;
             {
                .param .b64 p0;
                st.param.b64 [p0], %d2;
                call change, (p0);
             }
             ld.u32 %r3, [%d2];
             mov.u32 %r1, %tid.x;
             setp.eq.u32 %p1, %r1, 0;
             @%p1 mbarrier.init.shared::cta.b64 [bar], %r3;
             bar.sync 0;
             mbarrier.arrive.shared::cta.b64 _, [bar];
             W:
             mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
             @!%p2 bra W;",
            // A reference that goes to a function that is somewhere else.
            "#.reqntid 64
             .extern .func change(.param .b64 count);
--
             .local .align 8 .b8 depot[16];
             mov.u64 %d1, depot;
             cvta.local.u64 %d2, %d1;
             mov.u64 %d7, sh;
             st.u64 [%d2], %d7;
             {
                .param .b64 p0;
                st.param.b64 [p0], %d2;
                call change, (p0);
             }
             ld.u64 %d8, [%d2];
             ld.global.u32 %r3, [%d8];",
        ],
    }]);
}
