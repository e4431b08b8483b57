use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        .reg .b32 %r[4];
        ret;
    }
}

fn main() {}
