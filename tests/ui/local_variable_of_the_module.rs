use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .local .b32 x;
}

fn main() {}
