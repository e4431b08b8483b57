use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .extern .func f() {
        ret;
    }
}

fn main() {}
