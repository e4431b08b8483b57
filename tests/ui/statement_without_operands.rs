use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        .reg .b32 %r;
        ld.global.u32
        add.u32 %r, %r, 1;
        ret;
    }
}

fn main() {}
