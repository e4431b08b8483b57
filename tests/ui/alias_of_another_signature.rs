use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .func f(.param .b32 x) {
        ret;
    }
    .func a();
    .alias a, f;
}

fn main() {}
