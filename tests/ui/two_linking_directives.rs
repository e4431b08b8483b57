use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .extern .visible .global .b32 g;
}

fn main() {}
