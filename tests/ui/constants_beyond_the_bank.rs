use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .const .b32 a[10000];
    .const .b32 b[10000];
    .visible .entry k(.param .v4 .f32 v) { ret; }
}

fn main() {}
