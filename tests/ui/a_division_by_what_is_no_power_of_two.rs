use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .u32 n) {
        let %row = %tid.x / n;
        ret;
    }
}

fn main() {}
