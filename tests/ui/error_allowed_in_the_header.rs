use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0, allow(PTX0207)>
    .visible .entry k() {
        ret;
    }
}

fn main() {}
