use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .global .attribute(.manged) .b32 g;
}

fn main() {}
