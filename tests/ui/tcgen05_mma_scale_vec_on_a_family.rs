use ptx_dsl::ptx;

ptx! {
    <sm_100f, ptx 8.8>
    .visible .entry k() {
        .reg .pred %p;
        .reg .b16 %mask;
        .reg .b32 %r<4>, %taddr, %idesc;
        .reg .b64 %desc;
        .shared .align 4 .b32 slot;
        .shared .align 8 .b64 mb;
        tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%taddr], %desc, %desc, %idesc, [%r0], [%r1], %p;
        ret;
    }
}

fn main() {}
