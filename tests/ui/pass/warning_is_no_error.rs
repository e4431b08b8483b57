use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() .minnctapersm 2 {
        ret;
    }
}

fn main() {
    assert!(k::PTX.contains(".minnctapersm 2"));
}
