use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .common .const .b32 c;
}

fn main() {}
