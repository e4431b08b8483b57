use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .global .b32 x = {1};
}

fn main() {}
