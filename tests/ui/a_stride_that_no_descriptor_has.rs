use ptx_dsl::ptx;

ptx! {
    <sm_90a, ptx 8.0>
    .visible .entry k() {
        .reg .b64 %d;
        mov.b64 %d, descriptor::wgmma(stride: 1000, swizzle: 128);
        ret;
    }
}

fn main() {}
