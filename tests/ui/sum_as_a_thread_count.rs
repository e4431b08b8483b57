use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() .maxntid 16+16 {
        ret;
    }
}

fn main() {}
