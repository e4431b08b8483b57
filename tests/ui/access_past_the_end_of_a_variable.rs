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
        mov.u32 %r1, tile;
        ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%r1 + 256];
        ret;
    }
}

fn main() {}
