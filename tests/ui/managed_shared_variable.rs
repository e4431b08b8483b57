use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .shared .attribute(.managed) .b32 s;
}

fn main() {}
