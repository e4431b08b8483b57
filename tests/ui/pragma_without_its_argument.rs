use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 9.0>
    .visible .entry k() {
        .pragma "frequency";
        ret;
    }
}

fn main() {}
