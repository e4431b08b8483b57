use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        membar.proxy.async.global;
        ret;
    }
}

fn main() {}
