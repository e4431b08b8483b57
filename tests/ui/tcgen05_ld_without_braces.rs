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
        tcgen05.ld.sync.aligned.32x32b.x1.b32 %r0, [%taddr];
        ret;
    }
}

fn main() {}
