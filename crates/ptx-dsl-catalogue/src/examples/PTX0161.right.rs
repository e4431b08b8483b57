#[derive(ptx_dsl::Param)]
#[repr(C)]
pub struct Scale {
    factor: f32,
    count: u32,
}

ptx! {
    <sm_90, ptx 8.0>
    .visible .entry k(.param .align 4 .b8 scale[8]: Scale) {
        .reg .f32 %f;
        ld.param.f32 %f, [scale];
        ret;
    }
}
