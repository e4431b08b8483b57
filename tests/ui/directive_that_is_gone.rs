use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() .maxntid 32 .maxnctapersm 2 {
        ret;
    }
}

fn main() {}
