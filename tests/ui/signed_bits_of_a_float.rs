use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k() {
        .reg .f32 %f;
        mov.f32 %f, -0f3F800000;
        mov.f32 %f, 1.0 / 0.0;
        mov.f32 %f, 1e999;
        ret;
    }
}

fn main() {}
