//! Kernels that use parts of another module.

ptx_dsl::ptx! {
    <sm_90, ptx 8.0>
    use crate::hopper::parts::ring;
    .visible .entry waits() {
        .reg .b32 %r;
        .shared .align 8 .b64 bar;
        mov.u32 %r, 0;
        mbarrier.init.shared::cta.b64 [bar], 1;
        ring::wait!(bar, %r);
        ring::wait!(bar);
        ring::wrong!(%r);
        ld.sahred.b32 %r, [bar];
        ret;
    }
}
