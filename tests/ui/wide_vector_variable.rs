use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .global .v4 .b64 x;
}

fn main() {}
