use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 9.3>
    .visible .entry k() {
        .shared .align 8 .b64 mb;
        .reg .b16 %h;
        .reg .b64 %s;
        .reg .pred %p<2>;
        mbarrier.test_wait.phase_type::primary.b64 %p0|%p1, %h, [mb], %s;
        ret;
    }
}

fn main() {}
