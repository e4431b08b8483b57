use ptx_dsl::ptx;

ptx! {
    <sm_100a, ptx 8.6>
    .visible .entry k() {
        .reg .pred %p;
        .reg .b16 %mask;
        .reg .b32 %r<4>, %taddr, %idesc;
        .reg .b64 %desc;
        .shared .align 4 .b32 slot;
        .shared .align 8 .b64 mb;
        tcgen05.cp.cta_group::1.32x128b.warpx2::02_13 [%taddr], %desc;
        ret;
    }
}

fn main() {}
