use ptx_dsl::ptx;

ptx! {
    <sm_101a, ptx 9.0>
    .visible .entry k() {
        ret;
    }
}

fn main() {}
