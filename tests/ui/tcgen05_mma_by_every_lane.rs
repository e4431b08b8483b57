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
        mov.u64 %rd1, 0;
        mov.u32 %r1, 0;
        setp.ne.u32 %p, %r1, 0;
        tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd1, %r1, %p;
        ret;
    }
}

fn main() {}
