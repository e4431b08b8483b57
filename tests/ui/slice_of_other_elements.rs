use ptx_dsl::ptx;

ptx! {
    <sm_90, ptx 8.0, deny(PTX0158)>
    .visible .entry k(.param .u64 .ptr .global .align 8 x: &mut [f32]) {
        .reg .f64 %d;
        .reg .b64 %x;
        ld.param.u64 %x, [x];
        ld.global.f64 %d, [%x + 8];
        ret;
    }
}

// The bits of other elements are no mistake.
mod right {
    ptx_dsl::ptx! {
        <sm_90, ptx 8.0, deny(PTX0158)>
        .visible .entry k(.param .u64 .ptr .global .align 8 x: &mut [f32], .param .u64 .ptr .global .align 8 y: &mut [u32]) {
            .reg .b32 %r;
            .reg .b64 %x, %y, %w;
            .reg .f64 %d;
            ld.param.u64 %x, [x];
            ld.param.u64 %y, [y];
            ld.global.u32 %r, [%x];
            ld.global.b64 %w, [%x];
            ld.global.f64 %d, [%y];
            ret;
        }
    }
}

fn main() {}
