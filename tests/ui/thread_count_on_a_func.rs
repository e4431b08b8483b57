use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .func f() .maxntid 32 {
        ret;
    }
}

fn main() {}
