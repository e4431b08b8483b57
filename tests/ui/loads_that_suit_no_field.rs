use ptx_dsl::ptx;

#[derive(ptx_dsl::Param)]
#[repr(C)]
struct Scale {
    factor: f32,
    shift: f64,
    counts: [u16; 4],
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .align 8 .b8 scale[24]: Scale) {
        .reg .f32 %f, %g;
        .reg .f64 %d;
        .reg .b32 %r, %s;
        .reg .b64 %rd;
        ld.param.f32 %f, [scale];
        ld.param.v2.f32 {%f, %g}, [scale + 8];
        ld.param.f64 %d, [scale + 8];
        ld.param.u32 %r, [scale + 4];
        ld.param.b32 %r, [scale + 12];
        ld.param.u32 %r, [scale + 20];
        ld.param.u8 %r, [scale + 17];
        ld.param.u64 %rd, [scale];
        ret;
    }
}

fn main() {}
