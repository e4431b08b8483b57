use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .address_size 32
    .visible .entry k() { ret; }
}

fn main() {}
