use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        .shared .align 8 .b64 mb;
        .reg .f64 %d;
        .reg .pred %p;
        mbarrier.try_wait.b64 %p, [mb], %d;
        ret;
    }
}

fn main() {}
