use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        .reg .bf16 %h;
        ret;
    }
}

fn main() {}
