use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0, deny(PTX0517)>
    .visible .entry k() .maxntid 2048 {
        ret;
    }
}

fn main() {}
