use ptx_dsl::ptx;

ptx! {
    <sm_100a, ptx 8.6>
    .visible .entry k() .reqntid 128 {
        .reg .pred %p, %q;
        .reg .b32 %r<4>;
        .reg .b64 %rd<4>;
        .reg .b128 %rq;
        .shared .align 16 .b8 tile[256];
        .shared .align 8 .b64 mb;
        mov.u32 %r1, %tid.x;
        setp.ne.u32 %p, %r1, 0;
        @%p bra L;
        mbarrier.init.shared::cta.b64 [mb], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [tile], [mb];
        ld.shared.b128 %rq, [tile];
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %q, %rq;
        L:
        ret;
    }
}

fn main() {}
