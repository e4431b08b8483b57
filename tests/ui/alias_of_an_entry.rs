use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        ret;
    }
    .func a();
    .alias a, k;
}

fn main() {}
