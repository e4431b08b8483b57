use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .func f() {
        ret;
    }
    .func a() {
        ret;
    }
    .alias a, f;
}

fn main() {}
