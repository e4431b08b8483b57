use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() .reqntid 128 {
        .reg .pred %p, %q;
        .reg .b32 %r<4>;
        .reg .b64 %rd<4>;
        .reg .b64 %rq;
        .shared .align 16 .b8 tile[256];
        .shared .align 8 .b64 mb;
        mov.u64 %rd1, tile;
        cvta.shared.u64 %rd2, %rd1;
        cvta.shared.u64 %rd3, %rd2;
        ld.u32 %r1, [%rd3];
        ret;
    }
}

fn main() {}
