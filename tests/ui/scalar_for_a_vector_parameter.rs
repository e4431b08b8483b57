use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .func f(.reg .v2 .b32 a) {
        ret;
    }
    .visible .entry k() {
        .reg .b64 %d;
        mov.b64 %d, 0;
        call f, (%d);
        ret;
    }
}

fn main() {}
