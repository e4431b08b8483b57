use ptx_dsl::ptx;

ptx! {
    <sm_80, ptx 7.0>
    .visible .entry k() {
        .shared .align 8 .b64 mb;
        mbarrier.arrive.b64 _, [mb];
        ret;
    }
}

fn main() {}
