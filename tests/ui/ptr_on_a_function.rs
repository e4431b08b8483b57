use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .func f(.param .u64 .ptr .global x) {
        ret;
    }
}

fn main() {}
