use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        .reg .pred %p, %q;
        .reg .b16 %h;
        .reg .b32 %r<4>;
        .reg .b64 %rd<4>;
        .reg .b64 %rq;
        .reg .f32 %f<4>;
        .reg .f64 %d<4>;
        .shared .align 16 .b8 tile[256];
        .shared .align 8 .b64 mb;
        ld.global.u32 %r1, %rd1;
        ret;
    }
}

fn main() {}
