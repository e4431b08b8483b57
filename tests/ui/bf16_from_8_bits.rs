use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        .reg .b16 %h;
        .reg .b32 %r;
        cvt.rn.bf16.u8 %h, %r;
        ret;
    }
}

fn main() {}
