use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        .pragma nounroll;
        ret;
    }
}

fn main() {}
