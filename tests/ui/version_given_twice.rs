use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .version 8.0
    .target sm_90
    .version 8.0
    .visible .entry k() { ret; }
}

fn main() {}
