use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .global .b32 g;
    .version 8.0
}

fn main() {}
